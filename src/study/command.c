/* Command lines and manifests of runs. */
#include "study/command.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cfg/gpu.h"
#include "study/cpu.h"

/* ---- the command line ---- */

__attribute__((format(printf, 2, 3))) static void add_word(struct command *c, const char *fmt, ...) {
    struct str s = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vprintf(&s, fmt, ap);
    va_end(ap);
    vec_push(&c->words, s.at ? s.at : xstrdup(""));
}

static void add_option(struct command *c, const char *option, const char *value) {
    add_word(c, "%s", option);
    add_word(c, "%s", value);
}

static void add_machine(struct command *c, const struct plan *p, const struct model *m) {
    if (m->gpu)
        add_option(c, "--gpu", m->gpu);
    if (strcmp(m->mech, "base")) {
        add_option(c, "--mech", m->mech);
        if (p->check)
            add_word(c, "--check");
    }
    if (m->probes.len)
        add_option(c, "--probe", str_text(&m->probes));
    for (uint32_t i = 0; i < m->set.len; i++)
        add_option(c, "--set", m->set.at[i]);
}

static void add_sampling(struct command *c, const struct plan *p, const struct bench *b) {
    uint64_t all = plan_sampled(p, b);
    if (!all)
        return;
    add_word(c, "--max-insts");
    add_word(c, "%" PRIu64, p->max_insts);
    add_word(c, "--expect-insts");
    add_word(c, "%" PRIu64, all);
    if (plan_whole_blocks(p))
        add_word(c, "--whole-blocks");
}

static void add_bench(struct command *c, const struct bench *b, const char *results) {
    if (results)
        add_option(c, "--results", results);
    for (uint32_t i = 0; results && i < b->results.len; i++)
        add_option(c, "--result", b->results.at[i]);
    if (b->input)
        add_option(c, "--input", b->input);
    if (b->program) {
        add_word(c, "--");
        for (char **w = b->program; *w; w++)
            add_word(c, "%s", *w);
        return;
    }
    add_word(c, "%s", b->workload->name);
    add_option(c, "--size", workload_sizes[b->size]);
    add_option(c, "--bits", b->bits == 32 ? "32" : "64");
    add_word(c, "--check-result");
    if (b->arguments.len)
        add_word(c, "--");
    for (uint32_t i = 0; i < b->arguments.len; i++)
        add_word(c, "%s", b->arguments.at[i]);
}

/* The mechanisms that a process hands to those it starts by their environment. */
static void add_loaded(struct command *c) {
    const char *loaded = getenv("REPRISE_LOAD");
    char *text = xstrdup(loaded ? loaded : ""), *save;
    for (char *path = strtok_r(text, "\n", &save); path; path = strtok_r(NULL, "\n", &save))
        add_option(c, "--load", path);
    free(text);
}

void command_of(struct command *c, const struct plan *p, const struct bench *b, const struct model *m,
                const struct command_files *files) {
    if (m->cpu) {
        char **words;
        cpu_command(b, m, files->report, files->results, &words);
        for (char **w = words; *w; w++)
            vec_push(&c->words, *w);
        free(words);
    } else {
        add_word(c, "reprise");
        add_word(c, "run");
        if (files->report) {
            add_option(c, "--json", files->report);
            add_word(c, "--digest");
            add_word(c, "--units");
        } else {
            add_loaded(c);
        }
        add_machine(c, p, m);
        add_sampling(c, p, b);
        add_bench(c, b, files->results);
    }
    vec_push(&c->words, NULL);
}

void command_free(struct command *c) {
    for (uint32_t i = 0; i < c->words.len; i++)
        free(c->words.at[i]);
    vec_free(&c->words);
    free(c->input);
}

/* Adds the word at the beginning of a text; where it ends, NULL: a quote is not closed. */
static const char *split_word(struct str *word, const char *at) {
    char quote = 0;
    for (; *at && (quote || !isspace((unsigned char)*at)); at++)
        if (*at == quote)
            quote = 0;
        else if (!quote && (*at == '\'' || *at == '"'))
            quote = *at;
        else if (*at == '\\' && quote != '\'' && at[1] && (!quote || strchr("\\\"$`", at[1])))
            str_add(word, ++at, 1);
        else
            str_add(word, at, 1);
    return quote ? NULL : at;
}

bool command_split(struct command *c, const char *text) {
    static const char blanks[] = " \t\n\r";
    bool ok = true;
    while (text && *(text += strspn(text, blanks))) {
        struct str word = {0};
        bool input = *text == '<';
        if (input)
            text += 1 + strspn(text + 1, blanks);
        text = split_word(&word, text);
        if (input && (c->input || !word.len)) {
            ok = false;
            str_free(&word);
        } else if (input) {
            c->input = word.at;
        } else {
            vec_push(&c->words, word.at ? word.at : xstrdup(""));
        }
    }
    ok = ok && text && c->words.len;
    vec_push(&c->words, NULL);
    return ok;
}

void command_quote(struct str *out, char *const *words) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-_./,:=@%^";
    for (char *const *w = words; *w; w++) {
        if (w != words)
            str_add(out, " ", 1);
        if (**w && !(*w)[strspn(*w, plain)]) {
            str_printf(out, "%s", *w);
            continue;
        }
        str_add(out, "'", 1);
        for (const char *c = *w; *c; c++)
            if (*c == '\'')
                str_printf(out, "'\\''");
            else
                str_add(out, c, 1);
        str_add(out, "'", 1);
    }
}

/* ---- the manifest ---- */

json_t *command_text(const char *text) {
    json_t *s = json_string(text);
    if (s)
        return s;
    char *copy = xstrdup(text);
    for (char *c = copy; *c; c++)
        if (!isascii((unsigned char)*c))
            *c = '?';
    s = json_string(copy);
    free(copy);
    return s;
}

static json_t *list_of(char *const *words, uint32_t n) {
    json_t *all = json_array();
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(all, command_text(words[i]));
    return all;
}

/* A seed among the arguments of a workload, as a number; null when there is none. */
static json_t *seed_of(const struct bench *b) {
    for (uint32_t i = 0; i + 1 < b->arguments.len; i += 2)
        if (!strcmp(b->arguments.at[i], "--seed"))
            return json_integer(strtoll(b->arguments.at[i + 1], NULL, 0));
    return json_null();
}

/* What repeats a run, from any folder. */
static json_t *repeat(const struct plan *p, const struct bench *b, const struct model *m) {
    struct command c = {0};
    struct str text = {0};
    char folder[PATH_MAX];
    bool relative = (b->program && (*b->program[0] != '/' || b->program[1])) ||
                    (m->gpu && strchr(m->gpu, '.')) || (b->input && *b->input != '/');
    if (relative && getcwd(folder, sizeof folder)) {
        command_quote(&text, (char *[]){"cd", folder, NULL});
        str_printf(&text, " && ");
    }
    command_of(&c, p, b, m, &(struct command_files){0});
    command_quote(&text, c.words.at);
    json_t *all = command_text(str_text(&text));
    command_free(&c);
    str_free(&text);
    return all;
}

static void set_hash(json_t *m, const char *name, uint64_t hash) {
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    json_object_set_new(m, name, json_string(text));
}

store_manifest *command_manifest(const struct plan *p, const struct bench *b, const struct model *m,
                                 const struct run_key *key) {
    uint32_t words = 0;
    while (b->program && b->program[words])
        words++;
    uint64_t part = plan_sampled(p, b) ? p->max_insts : 0;
    bool gpu_workload = b->workload && !b->workload->cpu;
    json_t *all =
        json_pack("{s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:s, s:o}", "benchmark",
                  command_text(b->workload ? b->workload->name : b->label), "workload", b->workload != NULL,
                  "size", b->workload ? json_string(workload_sizes[b->size]) : json_null(), "bits",
                  gpu_workload ? json_integer(b->bits) : json_null(), "seed", seed_of(b), "arguments",
                  b->program ? list_of(b->program, words) : list_of(b->arguments.at, b->arguments.len), "gpu",
                  command_text(m->cpu   ? m->cpu
                               : m->gpu ? m->gpu
                                        : CONFIG_DEFAULT_GPU),
                  "mech", command_text(m->mech), "probes", command_text(str_text(&m->probes)), "settings",
                  list_of(m->set.at, m->set.len), "checked", p->check && strcmp(m->mech, "base"), "max_insts",
                  part ? json_integer((json_int_t)part) : json_null(), "version", REPRISE_VERSION, "command",
                  repeat(p, b, m));
    set_hash(all, "simulator", key->simulator);
    set_hash(all, "program_hash", key->program);
    set_hash(all, "input_hash", key->input);
    set_hash(all, "machine_hash", key->machine);
    return all;
}

void command_begin(store_manifest *m) {
    char host[256] = "", now[32];
    time_t t = time(NULL);
    struct tm utc;
    gethostname(host, sizeof host - 1);
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
    json_object_set_new(m, "host", command_text(host));
    json_object_set_new(m, "started", json_string(now));
}
