/* Reads the file of a sweep. YAML comes as libyaml's document, whose nodes carry their places. */
#include "study/sweep.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/diag.h"
#include "base/io.h"
#include "study/command.h"

enum { MAX_BYTES = 4 << 20 };

struct reader {
    struct sweep *s;
    struct diag diag;
    struct diag_source src;
    yaml_document_t doc;
};

/* ---- nodes ---- */

static size_t place_of(const struct reader *r, const yaml_mark_t *mark) {
    size_t at = 0;
    for (size_t line = 0; line < mark->line && at < r->src.len; at++)
        line += r->src.text[at] == '\n';
    for (size_t column = 0; column < mark->column && at < r->src.len; column++) {
        at++;
        while (at < r->src.len && ((unsigned char)r->src.text[at] & 0xC0) == 0x80)
            at++;
    }
    return at;
}

__attribute__((format(printf, 3, 4))) static bool wrong(struct reader *r, const yaml_node_t *n,
                                                        const char *fmt, ...) {
    struct str text = {0};
    va_list ap;
    va_start(ap, fmt);
    str_vprintf(&text, fmt, ap);
    va_end(ap);
    diag_at(&r->diag, DIAG_ERROR, &r->src, place_of(r, &n->start_mark), "%s", str_text(&text));
    str_free(&text);
    return false;
}

/* The text of a scalar; NULL after a message for anything else, and for texts with a NUL inside. */
static const char *text_of(struct reader *r, const yaml_node_t *n, const char *what) {
    const char *text = n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : NULL;
    if (text && strlen(text) == n->data.scalar.length)
        return text;
    wrong(r, n, "%s is one value here", what);
    return NULL;
}

/* Texts and lists in a sweep live as long as it. */
static char *own_text(struct sweep *s, const char *text) {
    char *copy = xstrdup(text);
    vec_push(&s->owned, copy);
    return copy;
}

typedef VEC(const yaml_node_t *) node_list;

/* The members of a list; of anything else itself. */
static void members(struct reader *r, const yaml_node_t *n, node_list *out) {
    if (!n)
        return;
    if (n->type != YAML_SEQUENCE_NODE) {
        vec_push(out, n);
        return;
    }
    for (yaml_node_item_t *i = n->data.sequence.items.start; i < n->data.sequence.items.top; i++)
        vec_push(out, yaml_document_get_node(&r->doc, *i));
}

/* The member of a mapping, or NULL. */
static const yaml_node_t *member(struct reader *r, const yaml_node_t *n, const char *key) {
    if (n->type != YAML_MAPPING_NODE)
        return NULL;
    for (yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++) {
        const yaml_node_t *k = yaml_document_get_node(&r->doc, p->key);
        if (k->type == YAML_SCALAR_NODE && !strcmp((const char *)k->data.scalar.value, key))
            return yaml_document_get_node(&r->doc, p->value);
    }
    return NULL;
}

static const char *next_word(void *ctx, uint32_t i) {
    return ((const char *const *)ctx)[i];
}

/* Sees that a mapping has no keys but those of a NULL-terminated list; false after a message. */
static bool known_keys(struct reader *r, const yaml_node_t *n, const char *const *known) {
    if (n->type != YAML_MAPPING_NODE)
        return wrong(r, n, "keys and values are expected here");
    bool ok = true;
    for (yaml_node_pair_t *p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++) {
        const yaml_node_t *k = yaml_document_get_node(&r->doc, p->key);
        const char *word = k->type == YAML_SCALAR_NODE ? (const char *)k->data.scalar.value : "";
        const char *const *w = known;
        while (*w && strcmp(*w, word))
            w++;
        const char *near = *w ? NULL : diag_nearest(word, strlen(word), next_word, (void *)known);
        struct str all = {0};
        for (uint32_t i = 0; !*w && known[i]; i++)
            str_printf(&all, "%s%s", i ? ", " : "", known[i]);
        if (!*w && near)
            ok = wrong(r, k, "there is no '%s' here; did you mean '%s'?", word, near);
        else if (!*w)
            ok = wrong(r, k, "there is no '%s' here; known are %s", word, str_text(&all));
        str_free(&all);
    }
    return ok;
}

/* ---- settings: every combination of parameters ---- */

/* A list of "path=value" texts, which belong to the sweep. */
typedef VEC(char *) setting_list;

static bool add_setting(struct reader *r, setting_list *l, const char *path, const yaml_node_t *value) {
    const char *v = text_of(r, value, path);
    struct str text = {0};
    if (!v)
        return false;
    str_printf(&text, "%s=%s", path, v);
    vec_push(&r->s->owned, text.at);
    vec_push(l, text.at);
    return true;
}

/* Calls fn with the settings of each combination of the parameters in a mapping from paths to lists of
 * values; of NULL, once with none. */
static bool each_combination(struct reader *r, const yaml_node_t *parameters, uint32_t at, setting_list *l,
                             bool (*fn)(struct reader *r, setting_list *l, void *ctx), void *ctx) {
    if (!parameters)
        return fn(r, l, ctx);
    if (parameters->type != YAML_MAPPING_NODE)
        return wrong(r, parameters, "parameters are paths with their values: sm.warps: [32, 48]");
    yaml_node_pair_t *p = parameters->data.mapping.pairs.start + at;
    if (p >= parameters->data.mapping.pairs.top)
        return fn(r, l, ctx);
    const char *path = text_of(r, yaml_document_get_node(&r->doc, p->key), "a parameter");
    node_list values = {0};
    uint32_t len = l->len;
    bool ok = path;
    members(r, yaml_document_get_node(&r->doc, p->value), &values);
    for (uint32_t i = 0; ok && i < values.len; i++) {
        ok = add_setting(r, l, path, values.at[i]) && each_combination(r, parameters, at + 1, l, fn, ctx);
        l->len = len;
    }
    vec_free(&values);
    return ok;
}

/* ---- machines ---- */

struct machines {
    const char *gpu; /* NULL: the plan's */
    bool name_gpu;   /* labels say which */
    uint32_t base;   /* the base machine of these settings */
    const char *mech;
    const yaml_node_t *at;
};

static void add_label(struct str *label, const struct machines *m, const setting_list *l) {
    if (m->name_gpu)
        str_printf(label, ":gpu=%s", m->gpu);
    for (uint32_t i = 0; i < l->len; i++)
        str_printf(label, ":%s", l->at[i]);
}

/* Adds a machine with mechanisms, or the base machine to which these are compared. */
static bool add_machine(struct reader *r, setting_list *l, void *ctx) {
    struct machines *m = ctx;
    struct str label = {0};
    str_printf(&label, "%s", m->mech);
    add_label(&label, m, l);
    for (char *c = label.at; *c; c++) /* a label is one line */
        if ((unsigned char)*c < ' ')
            *c = ' ';
    uint32_t n = plan_add_machine(&r->s->plan, label.at, m->mech, m->gpu, l->at, l->len, m->base);
    str_free(&label);
    if (n == UINT32_MAX)
        return wrong(r, m->at, "this is no mechanism");
    m->base = m->base == UINT32_MAX ? n : m->base;
    return true;
}

static bool add_mechanism(struct reader *r, const yaml_node_t *n, setting_list *l, struct machines *m) {
    static const char *const keys[] = {"mech", "parameters", NULL};
    const yaml_node_t *name = n, *own = NULL;
    if (n->type == YAML_MAPPING_NODE) {
        name = member(r, n, "mech");
        own = member(r, n, "parameters");
        if (!known_keys(r, n, keys) || !name)
            return wrong(r, n, "a mechanism is a name, or mech: with a name and parameters: with values");
    }
    m->mech = text_of(r, name, "a mechanism");
    m->at = name;
    return m->mech && each_combination(r, own, 0, l, add_machine, m);
}

/* Whether a mechanism is a program of the CPU, see study/cpu.h. */
static bool is_cpu(struct reader *r, const yaml_node_t *n) {
    const yaml_node_t *name = n->type == YAML_MAPPING_NODE ? member(r, n, "mech") : n;
    return name && name->type == YAML_SCALAR_NODE && strstr((const char *)name->data.scalar.value, ":cpu=");
}

/* Every mechanism on a GPU with some settings, and the base machine before them. */
static bool add_mechanisms(struct reader *r, setting_list *l, void *ctx) {
    struct machines m = *(struct machines *)ctx;
    node_list list = {0};
    members(r, member(r, yaml_document_get_root_node(&r->doc), "mechanisms"), &list);
    m.base = UINT32_MAX;
    m.mech = list.len && is_cpu(r, list.at[0]) ? "base:cpu=hpi" : "base";
    bool ok = add_machine(r, l, &m);
    for (uint32_t i = 0; ok && i < list.len; i++) {
        uint32_t len = l->len;
        ok = add_mechanism(r, list.at[i], l, &m);
        l->len = len;
    }
    vec_free(&list);
    return ok;
}

static bool take_machines(struct reader *r, const yaml_node_t *root) {
    node_list gpus = {0};
    setting_list l = {0};
    bool ok = true;
    if (!r->s->plan.gpu)
        members(r, member(r, root, "gpus"), &gpus);
    for (uint32_t i = 0; ok && (i < gpus.len || !i); i++) {
        struct machines m = {.name_gpu = gpus.len > 1, .at = root};
        if (gpus.len) {
            m.gpu = text_of(r, gpus.at[i], "a GPU");
            ok = m.gpu;
        }
        ok = ok && each_combination(r, member(r, root, "parameters"), 0, &l, add_mechanisms, &m);
    }
    vec_free(&gpus);
    vec_free(&l);
    return ok;
}

/* ---- benchmarks ---- */

/* The items that a list of values adds to a workload's text, one after another; those that the text has
 * already are left alone, and so are all when there is no list. */
struct dimension {
    const char *key, *item;
    node_list values;
};

static bool add_benches(struct reader *r, const yaml_node_t *at, struct dimension *d, const char *text) {
    if (!d->key)
        return plan_add_bench(&r->s->plan, text) || wrong(r, at, "this is no benchmark");
    bool ok = true, own = strstr(text, d->item);
    for (uint32_t i = 0; ok && (i < d->values.len || !i); i++) {
        struct str longer = {0};
        const char *value = own || !d->values.len ? NULL : text_of(r, d->values.at[i], d->key);
        ok = value || own || !d->values.len;
        str_printf(&longer, "%s%s%s", text, value ? d->item : "", value ? value : "");
        ok = ok && add_benches(r, at, d + 1, longer.at);
        str_free(&longer);
        if (own)
            break;
    }
    return ok;
}

static bool take_workloads(struct reader *r, const yaml_node_t *root) {
    struct dimension dimensions[] = {{.key = "sizes", .item = ":size="},
                                     {.key = "bits", .item = ":bits="},
                                     {.key = "seeds", .item = ":seed="},
                                     {.key = NULL}};
    const bool given[] = {r->s->plan.size != SIZES, r->s->plan.bits != 0, false};
    node_list list = {0};
    bool ok = true;
    for (int i = 0; i < 3; i++)
        if (!given[i])
            members(r, member(r, root, dimensions[i].key), &dimensions[i].values);
    members(r, member(r, root, "workloads"), &list);
    for (uint32_t i = 0; ok && i < list.len; i++) {
        const char *text = text_of(r, list.at[i], "a workload");
        ok = text && add_benches(r, list.at[i], dimensions, text);
    }
    for (int i = 0; i < 3; i++)
        vec_free(&dimensions[i].values);
    vec_free(&list);
    return ok;
}

/* The words of a command: a list of them, or one text as for a shell; false after a message. */
static bool take_command(struct reader *r, const yaml_node_t *n, struct command *c) {
    node_list words = {0};
    if (n->type == YAML_SCALAR_NODE) {
        const char *text = text_of(r, n, "a command");
        return text &&
               (command_split(c, text) ||
                wrong(r, n, "there is no program, a quote is not closed, or < is not followed by one file"));
    }
    bool ok = true;
    members(r, n, &words);
    for (uint32_t i = 0; ok && i < words.len; i++) {
        const char *word = text_of(r, words.at[i], "a word of the command");
        ok = word;
        if (ok)
            vec_push(&c->words, xstrdup(word));
    }
    vec_push(&c->words, NULL);
    vec_free(&words);
    return ok && (c->words.at[0] || wrong(r, n, "a program is a list of words, or one text"));
}

static bool take_program(struct reader *r, const yaml_node_t *n) {
    static const char *const keys[] = {"name", "command", "input", "results", NULL};
    const yaml_node_t *command = n, *name = NULL, *input = NULL, *results = NULL;
    if (n->type == YAML_MAPPING_NODE) {
        if (!known_keys(r, n, keys))
            return false;
        command = member(r, n, "command");
        name = member(r, n, "name");
        input = member(r, n, "input");
        results = member(r, n, "results");
    }
    node_list texts = {0};
    struct command c = {0};
    bool ok = command ? take_command(r, command, &c) : wrong(r, n, "which program? command: says that");
    char **program = c.words.at;
    for (uint32_t i = 0; i < c.words.len; i++)
        vec_push(&r->s->owned, program[i]);
    vec_push(&r->s->owned, program);
    const char *called = ok && name ? text_of(r, name, "the name of a program") : NULL;
    const char *reads = ok && input ? text_of(r, input, "the file that a program reads") : NULL;
    ok = ok && (called || !name) && (reads || !input);
    if (ok && reads && c.input)
        ok = wrong(r, input, "the command says already what the program reads");
    reads = reads ? own_text(r->s, reads) : c.input ? own_text(r->s, c.input) : NULL;
    free(c.input);
    char *label = ok ? called ? xstrdup(called) : plan_program_label(program, reads) : NULL;
    struct bench *b = ok ? plan_add_program_as(&r->s->plan, program, label) : NULL;
    if (ok && !b)
        ok = wrong(r, n, "there is a program '%s' already; name: tells them apart", label);
    if (ok)
        b->input = reads;
    members(r, results, &texts);
    for (uint32_t i = 0; ok && i < texts.len; i++) {
        const char *text = text_of(r, texts.at[i], "a result");
        ok = text;
        if (ok)
            vec_push(&b->results, own_text(r->s, text));
    }
    free(label);
    vec_free(&texts);
    return ok;
}

static bool take_programs(struct reader *r, const yaml_node_t *root) {
    const yaml_node_t *n = member(r, root, "programs");
    node_list list = {0};
    bool ok = !n || n->type == YAML_SEQUENCE_NODE || wrong(r, n, "programs is a list of command lines");
    if (n && ok)
        members(r, n, &list);
    for (uint32_t i = 0; ok && i < list.len; i++)
        ok = take_program(r, list.at[i]);
    vec_free(&list);
    return ok;
}

/* ---- the rest ---- */

/* Reads a whole number of a mapping, if it is there; false after a message. */
static bool take_number(struct reader *r, const yaml_node_t *from, const char *key, uint64_t *value) {
    const yaml_node_t *n = member(r, from, key);
    if (!n)
        return true;
    const char *text = text_of(r, n, key);
    if (!text)
        return false;
    if (!*text || text[strspn(text, "0123456789")] || strlen(text) > 18)
        return wrong(r, n, "%s is a whole number", key);
    *value = strtoull(text, NULL, 10);
    return true;
}

static bool take_slurm(struct reader *r, const yaml_node_t *root) {
    static const char *const keys[] = {"options", "per_task", "retries", NULL};
    const yaml_node_t *n = member(r, root, "slurm");
    uint64_t per_task = 1, retries = 1;
    node_list list = {0};
    bool ok = !n || (known_keys(r, n, keys) && take_number(r, n, "per_task", &per_task) &&
                     take_number(r, n, "retries", &retries));
    if (n && ok)
        members(r, member(r, n, "options"), &list);
    for (uint32_t i = 0; ok && i < list.len; i++) {
        const char *text = text_of(r, list.at[i], "an option of sbatch");
        ok = text;
        if (ok)
            vec_push(&r->s->slurm, own_text(r->s, text));
    }
    vec_free(&list);
    r->s->per_task = per_task ? (uint32_t)per_task : 1;
    r->s->retries = (uint32_t)retries;
    return ok;
}

static bool take_how(struct reader *r, const yaml_node_t *root) {
    const yaml_node_t *check = member(r, root, "check"), *most = member(r, root, "max_insts"),
                      *name = member(r, root, "name");
    uint64_t insts = 0;
    const char *text = name ? text_of(r, name, "name") : NULL;
    if (name && !text)
        return false;
    if (text)
        r->s->name = xstrdup(text);
    text = check ? text_of(r, check, "check") : "no";
    if (!text)
        return false;
    r->s->plan.check |= !strcmp(text, "true") || !strcmp(text, "yes");
    bool all =
        most && most->type == YAML_SCALAR_NODE && !strcmp((const char *)most->data.scalar.value, "all");
    if (!all && !take_number(r, root, "max_insts", &insts))
        return false;
    if (!r->s->plan.max_insts)
        r->s->plan.max_insts = insts ? insts : UINT64_MAX;
    return true;
}

/* Takes the whole document; false after a message. */
static bool take(struct reader *r) {
    static const char *const keys[] = {"name",  "workloads", "programs",   "sizes",      "bits",
                                       "seeds", "gpus",      "mechanisms", "parameters", "max_insts",
                                       "check", "slurm",     NULL};
    const yaml_node_t *root = yaml_document_get_root_node(&r->doc);
    if (!root) {
        diag_at(&r->diag, DIAG_ERROR, &r->src, 0, "the file is empty");
        return false;
    }
    bool ok = known_keys(r, root, keys) && take_how(r, root) && take_slurm(r, root) &&
              take_machines(r, root) && take_workloads(r, root) && take_programs(r, root);
    if (ok && !r->s->plan.table.benches.len)
        ok = wrong(r, root, "nothing is to run: workloads or programs says what");
    return ok;
}

static void yaml_problem(struct reader *r, const yaml_parser_t *y) {
    diag_at(&r->diag, DIAG_ERROR, &r->src,
            y->error == YAML_READER_ERROR ? y->problem_offset : place_of(r, &y->problem_mark),
            "not valid YAML: %s%s%s", y->problem ? y->problem : "out of memory", y->context ? " " : "",
            y->context ? y->context : "");
}

/* The name of the file without folder and ending. */
static char *name_from(const char *path) {
    const char *slash = strrchr(path, '/');
    char *name = xstrdup(slash ? slash + 1 : path), *dot = strrchr(name, '.');
    if (dot && dot != name)
        *dot = 0;
    return name;
}

bool sweep_read(struct sweep *s, const char *path) {
    struct reader r = {.s = s};
    size_t len;
    char *text = io_read(path, &len);
    yaml_parser_t yaml;
    if (!text)
        return false;
    if (len > MAX_BYTES || !yaml_parser_initialize(&yaml)) {
        fprintf(stderr, "reprise: %s is too long for a sweep\n", path);
        free(text);
        return false;
    }
    r.src = (struct diag_source){.name = path, .text = text, .len = len};
    yaml_parser_set_input_string(&yaml, (const unsigned char *)text, len);
    bool loaded = yaml_parser_load(&yaml, &r.doc), ok = loaded && take(&r);
    if (!loaded)
        yaml_problem(&r, &yaml);
    else
        yaml_document_delete(&r.doc);
    yaml_parser_delete(&yaml);
    fputs(str_text(&r.diag.text), stderr);
    diag_free(&r.diag);
    free(text);
    if (!s->name)
        s->name = name_from(path);
    return ok;
}

void sweep_free(struct sweep *s) {
    plan_free(&s->plan);
    for (uint32_t i = 0; i < s->owned.len; i++)
        free(s->owned.at[i]);
    vec_free(&s->owned);
    vec_free(&s->slurm);
    free(s->name);
}
