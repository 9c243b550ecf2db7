/* reprise cpu memo: finds blocks of a program that can be memoized, and rewrites it. */
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/cli.h"
#include "cpu/dddg.h"
#include "cpu/machine.h"
#include "cpu/rewrite.h"
#include "report/results.h"

static const char help[] =
    "usage: reprise cpu memo [options] -- PROGRAM [ARGUMENT...]\n"
    "\n"
    "Looks for blocks of a program that compute the same again and again: runs it, builds the graph of\n"
    "how its values depend on each other, and says which parts have few inputs for the cycles they\n"
    "take. With --out, writes the program with the best blocks memoized (include/reprise_axmemo.h says\n"
    "what that is), after it has computed the same as before; blocks with which it takes no fewer\n"
    "cycles are left out. Give it small inputs.\n"
    "\n"
    "  --out FILE        write the rewritten program; run it with --cpu memo-8k-512k\n"
    "  --results FILE    the file to which the program writes its results: low bits of inputs are cleared\n"
    "                    as long as the error of the results stays below that of --error\n"
    "  --error E         sum of squared errors over sum of squares (default 0.001)\n"
    "  --region          look at what is between the marks of the program (AX_BEGIN, AX_END)\n"
    "  --skip N          else: begin after N instructions (default 0)\n"
    "  --trace N         instructions to look at (default 400000)\n"
    "  --ratio R         cycles for each input that a block must save, at least (default 6)\n"
    "  --inputs N        inputs of a candidate, at most (default 12); a block, which may be several, has\n"
    "                    up to twice as many\n"
    "  --weight N        cycles of a block, at least (default 20)\n"
    "  --overlap X       blocks that have so much of the smaller one in common are one (default 0.5)\n"
    "  --cpu NAME|FILE   the CPU whose cycles count (default hpi)\n"
    "  --set PATH=VALUE  change one of its parameters (repeatable)\n"
    "  --json FILE       write what was found to FILE\n";

/* Trials of rewritten programs, for those who wait: how many there are, at most, and how many are done. */
struct trials {
    struct waiting_line waiting;
    uint32_t done, all;
};

struct request {
    struct machine_options machine;
    struct trials *trials;
    VEC(const char *) set;
    const char *out, *results, *json;
    double error;
    uint64_t skip, trace;
    struct dddg_limits limits;
};

/* ---- the command line ---- */

enum kind { TEXT, FLAG, NUMBER, REAL, SETTING };

struct option {
    const char *name;
    enum kind kind;
    void *to;
};

static int take(struct request *r, const struct option *o, const char *value) {
    char *end = NULL;
    switch (o->kind) {
    case FLAG:
        *(bool *)o->to = true;
        return 0;
    case TEXT:
        *(const char **)o->to = value;
        return 0;
    case SETTING:
        vec_push(&r->set, value);
        return 0;
    case NUMBER:
        *(uint64_t *)o->to = strtoull(value, &end, 0);
        break;
    case REAL:
        *(double *)o->to = strtod(value, &end);
        break;
    }
    return *value >= '0' && *value <= '9' && !*end ? 0 : cli_usage_error(help, "not a number:", value);
}

static int read_options(struct request *r, int argc, char **argv) {
    uint64_t inputs = 12, weight = 20;
    r->error = 1e-3;
    r->trace = 400000;
    r->limits = (struct dddg_limits){.ratio = 6, .vertices = 600, .overlap = 0.5};
    const struct option options[] = {
        {"--out", TEXT, &r->out},
        {"--results", TEXT, &r->results},
        {"--error", REAL, &r->error},
        {"--region", FLAG, &r->machine.region},
        {"--skip", NUMBER, &r->skip},
        {"--trace", NUMBER, &r->trace},
        {"--ratio", REAL, &r->limits.ratio},
        {"--inputs", NUMBER, &inputs},
        {"--weight", NUMBER, &weight},
        {"--overlap", REAL, &r->limits.overlap},
        {"--cpu", TEXT, &r->machine.cpu},
        {"--set", SETTING, NULL},
        {"--json", TEXT, &r->json},
    };
    enum { N = sizeof options / sizeof options[0] };
    int k = 0, status = 0;
    for (; k < argc && argv[k][0] == '-' && strcmp(argv[k], "--") && !status; k++) {
        int o = 0;
        while (o < N && strcmp(argv[k], options[o].name))
            o++;
        if (o == N)
            return cli_usage_error(help, "there is no option", argv[k]);
        bool flag = options[o].kind == FLAG;
        if (!flag && k + 1 >= argc)
            return cli_usage_error(help, "a value must follow", argv[k]);
        status = take(r, &options[o], flag ? "" : argv[++k]);
    }
    k += k < argc && !strcmp(argv[k], "--");
    if (!status && k >= argc)
        return cli_usage_error(help, "no program is named", "");
    if (!status && (r->trace < 1 || r->trace > 20000000))
        return cli_usage_error(help, "a trace has 1 to 20000000 instructions", "");
    r->limits.inputs = inputs > REGION_INPUTS / 2 ? REGION_INPUTS / 2 : (uint32_t)inputs;
    r->limits.weight = weight > 100000 ? 100000 : (uint32_t)weight;
    vec_push(&r->set, NULL);
    r->machine.set = r->set.at;
    r->machine.programs[0].argv = (const char *const *)&argv[k];
    return status;
}

/* ---- runs, to compare ---- */

/* What a program left: output, status, results; cycles, if it was timed. */
struct outcome {
    int status;
    char *text;
    size_t len;
    struct results results;
    uint64_t insts, cycles, collisions;
    double hit_rate;
};

/* The CPU on which rewritten programs are tried: that with the largest tables. */
#define MEMO_CPU "memo-8k-512k"

static void free_outcome(struct outcome *o) {
    free(o->text);
    results_free(&o->results);
}

/* Runs a program file with the request's arguments, at most so many instructions: on a CPU, timed, or if it
 * is NULL, functionally on the largest tables. False after a message. */
static bool run(const struct request *r, const char *program, const char *cpu, uint64_t limit,
                struct outcome *o) {
    const struct guest_options *g = &r->machine.programs[0];
    VEC(const char *) argv = {0};
    struct machine_options m = {.cpu = cpu ? cpu : MEMO_CPU,
                                .set = cpu ? r->machine.set : NULL,
                                .functional = !cpu,
                                .region = cpu && r->machine.region,
                                .nprograms = 1,
                                .max_insts = limit};
    struct diag d = {0};
    struct str why = {0};
    vec_push(&argv, program);
    for (const char *const *a = g->argv + 1; *a; a++)
        vec_push(&argv, *a);
    vec_push(&argv, NULL);
    m.programs[0] = (struct guest_options){.argv = argv.at};
    *o = (struct outcome){0};
    if (r->results)
        unlink(r->results);
    struct cpu_machine *machine = cpu_machine_create(&m, &d);
    int out = memfd_create("output", MFD_CLOEXEC);
    bool ok = machine && out >= 0;
    if (ok) {
        machine->guest[0].files[1] = out;
        cpu_machine_run(machine);
        o->status = machine->stop[0] == CPU_SYSCALL ? guest_status(&machine->guest[0]) : -1;
        o->insts = cpu_counter(&machine->guest[0].cpu);
        o->cycles = cpu_machine_cycles(machine);
        struct stat s;
        fstat(out, &s);
        o->len = (size_t)s.st_size;
        o->text = xmalloc(o->len + 1);
        ok = pread(out, o->text, o->len, 0) == (ssize_t)o->len;
        const struct memo_counters *n = &machine->memo[0].n;
        o->collisions = n->collisions;
        o->hit_rate = n->lookups ? (double)(n->l1_hits + n->l2_hits) / (double)n->lookups : 0;
        if (r->results && !results_read(&o->results, r->results, &why))
            o->status = -1;
    } else {
        fprintf(stderr, "reprise: %s", machine ? "there is no memory for the output\n" : str_text(&d.text));
    }
    if (machine)
        cpu_machine_free(machine);
    close(out);
    vec_free(&argv);
    diag_free(&d);
    str_free(&why);
    return ok;
}

/* The square error of results; infinite when they are not the same arrays. */
static double error_of(const struct outcome *right, const struct outcome *got) {
    double worst = 0;
    if (right->status != got->status || right->results.all.len != got->results.all.len)
        return INFINITY;
    for (uint32_t k = 0; k < right->results.all.len; k++) {
        const struct result *a = &right->results.all.at[k], *b = &got->results.all.at[k];
        double sum = 0, all = 0;
        if (a->count != b->count || a->type != b->type)
            return INFINITY;
        for (uint64_t i = 0; i < a->count; i++) {
            double x = result_value(a, i), y = result_value(b, i);
            sum += x == y ? 0 : (y - x) * (y - x);
            all += x * x;
        }
        double e = sum == 0 ? 0 : all > 0 ? sum / all : INFINITY;
        worst = isnan(e) ? INFINITY : e > worst ? e : worst;
    }
    return worst;
}

static bool same(const struct outcome *a, const struct outcome *b) {
    return a->status == b->status && a->len == b->len && !memcmp(a->text, b->text, a->len) &&
           error_of(a, b) == 0;
}

/* ---- the rewritten program ---- */

struct blocks {
    struct region at[REGION_MAX];
    uint8_t bits[REGION_MAX];
    uint32_t n;
};

/* The program: its file, and what it leaves as it is. */
struct program {
    const char *file;
    size_t size;
    struct outcome right;
};

/* Says that a trial begins, and how many there are. */
static void tell_trial(struct trials *t, const char *what, uint32_t block, uint32_t blocks) {
    double now = waiting_clock();
    t->done++;
    if (!waiting_is_time(&t->waiting, now))
        return;
    struct str line = {0};
    waiting_add_share(&line, &t->waiting, (double)t->done / t->all, "", now - t->waiting.began);
    str_printf(&line, "  block %u of %u: %s", block + 1, blocks, what);
    waiting_show(&t->waiting, &line, now);
    str_free(&line);
}

/* Writes the program with its blocks and runs it, timed or not; false after a message. One that takes much
 * longer than the right one has lost its way. */
static bool try_blocks(const struct request *r, const struct program *p, const struct blocks *b, bool timed,
                       struct outcome *o) {
    const uint64_t longer = 2, start = 1000000;
    struct diag d = {0};
    size_t len;
    uint8_t *new = rewrite((const uint8_t *)p->file, p->size, b->at, b->bits, b->n, &len, &d);
    bool ok = new &&io_write(r->out, (const char *)new, len) && !chmod(r->out, 0755) &&
              run(r, r->out, timed ? MEMO_CPU : NULL, longer * p->right.insts + start, o);
    if (!new)
        fprintf(stderr, "reprise: %s", str_text(&d.text));
    free(new);
    diag_free(&d);
    return ok;
}

static void drop(struct blocks *b, uint32_t k) {
    memmove(&b->at[k], &b->at[k + 1], (b->n - k - 1) * sizeof b->at[0]);
    memmove(&b->bits[k], &b->bits[k + 1], (b->n - k - 1) * sizeof b->bits[0]);
    b->n--;
}

/* Leaves only blocks with which the program computes the same; false after a message. */
static bool verify(const struct request *r, const struct program *p, struct blocks *b) {
    for (uint32_t k = 0; k < b->n;) {
        struct blocks one = {.at = {b->at[k]}, .n = 1};
        struct outcome o;
        tell_trial(r->trials, "results", k, b->n);
        if (!try_blocks(r, p, &one, false, &o))
            return false;
        if (same(&p->right, &o)) {
            k++;
        } else {
            waiting_end(&r->trials->waiting);
            fprintf(stderr, "reprise: the block at 0x%" PRIx64 " %s and is left out\n", b->at[k].begin,
                    o.collisions ? "has different inputs with the same hash" : "does not compute the same");
            drop(b, k);
        }
        free_outcome(&o);
    }
    return true;
}

enum { MOST_BITS = 24 };

/* Clears as many low bits of each block's inputs as the error allows, and keeps the number that hits most. */
static bool truncate_inputs(const struct request *r, const struct program *p, struct blocks *b) {
    for (uint32_t k = 0; k < b->n; k++) {
        uint8_t best = 0;
        double most = -1;
        for (uint8_t n = 0; n < MOST_BITS; n++) {
            struct outcome o;
            b->bits[k] = n;
            tell_trial(r->trials, "low bits", k, b->n);
            if (!try_blocks(r, p, b, false, &o))
                return false;
            double e = error_of(&p->right, &o);
            if (e <= r->error && o.hit_rate > most) {
                most = o.hit_rate;
                best = n;
            }
            free_outcome(&o);
            if (e > r->error)
                break;
        }
        b->bits[k] = best;
    }
    return true;
}

/* The cycles of the program with all blocks, or all but one (without < n); false after a message. */
static bool time_blocks(const struct request *r, const struct program *p, const struct blocks *b,
                        uint32_t without, uint64_t *cycles) {
    struct blocks rest = *b;
    struct outcome o;
    if (without < b->n)
        drop(&rest, without);
    *cycles = p->right.cycles;
    if (!rest.n)
        return true;
    tell_trial(r->trials, "cycles", without < b->n ? without : 0, b->n);
    if (!try_blocks(r, p, &rest, true, &o))
        return false;
    *cycles = o.cycles;
    free_outcome(&o);
    return true;
}

/* Leaves out block after block as long as the program takes no more cycles without it, and all of them if it
 * takes no fewer than it did before; *dropped: there were such. False after a message. */
static bool leave_out_slow(const struct request *r, const struct program *p, struct blocks *b,
                           bool *dropped) {
    uint64_t least = p->right.cycles;
    *dropped = false;
    if (b->n && !time_blocks(r, p, b, b->n, &least))
        return false;
    for (uint32_t worst = 0; b->n && worst < b->n;) {
        uint64_t before = least;
        worst = b->n;
        for (uint32_t k = 0; k < b->n; k++) {
            uint64_t cycles;
            if (!time_blocks(r, p, b, k, &cycles))
                return false;
            if (cycles <= least) {
                least = cycles;
                worst = k;
            }
        }
        if (worst < b->n) {
            waiting_end(&r->trials->waiting);
            fprintf(stderr,
                    "reprise: the block at 0x%" PRIx64 " does not make it faster and is left out: %" PRIu64
                    " cycles with it, %" PRIu64 " without\n",
                    b->at[worst].begin, before, least);
            drop(b, worst);
            *dropped = true;
            worst = 0;
        }
    }
    if (b->n && least >= p->right.cycles) {
        waiting_end(&r->trials->waiting);
        fprintf(stderr, "reprise: blocks that need each other do not make it faster and are left out\n");
        b->n = 0;
    }
    return true;
}

/* Bits and blocks depend on each other: blocks that are left out allow others a larger error. */
static bool choose(const struct request *r, const struct program *p, struct blocks *b) {
    bool ok = verify(r, p, b), dropped = true;
    while (ok && dropped) {
        memset(b->bits, 0, sizeof b->bits);
        ok = (!r->results || truncate_inputs(r, p, b)) && leave_out_slow(r, p, b, &dropped);
    }
    return ok;
}

/* What became of the program. */
struct made {
    double error, hits;
    uint64_t cycles, before;
};

static bool make_program(const struct request *r, struct blocks *b, struct made *made) {
    const char *name = r->machine.programs[0].argv[0];
    struct program p = {0};
    struct outcome last = {0}, timed = {0};
    char *file = io_read(name, &p.size);
    bool ok = file && run(r, name, r->machine.cpu ? r->machine.cpu : CPU_DEFAULT, UINT64_MAX, &p.right);
    p.file = file;
    if (ok && p.right.status < 0) {
        fprintf(stderr, "reprise: %s does not end well, or writes no results\n", name);
        ok = false;
    }
    r->trials->all = 1 + b->n * (1 + (r->results ? MOST_BITS : 0)) + b->n * (b->n + 1) / 2;
    ok = ok && choose(r, &p, b) && try_blocks(r, &p, b, true, &timed) && try_blocks(r, &p, b, false, &last);
    waiting_end(&r->trials->waiting);
    if (ok)
        *made = (struct made){error_of(&p.right, &last), last.hit_rate, b->n ? timed.cycles : p.right.cycles,
                              p.right.cycles};
    free_outcome(&timed);
    free_outcome(&last);
    free_outcome(&p.right);
    free(file);
    return ok;
}

/* ---- the outcome ---- */

static void print_register(const struct region_value *v) {
    if (v->reg >= A64_V0)
        printf(" %c%u", v->bytes == 8 ? 'd' : 's', v->reg - A64_V0);
    else
        printf(" %c%u", v->bytes == 8 ? 'x' : 'w', v->reg);
}

static void print_pointed(const struct pointed *p) {
    if (p->reg == A64_SP)
        printf(" [sp, #%d]", (int)p->offset);
    else
        printf(" [x%u, #%d]", p->reg, (int)p->offset);
}

static void print_blocks(const struct blocks *b, const struct cputrace *t) {
    for (uint32_t k = 0; k < b->n; k++) {
        const struct region *r = &b->at[k];
        printf("\nblock %u: 0x%" PRIx64 " to 0x%" PRIx64 ", %u times, %u cycles, %.1f%% of all\n", k,
               r->begin, r->end, r->times, r->weight, 100.0 * r->weight * r->times / (double)t->weight);
        printf("  inputs:");
        for (uint32_t i = 0; i < r->inputs; i++)
            print_register(&r->input[i]);
        for (uint32_t i = 0; i < r->pointers; i++)
            print_pointed(&r->pointed[i]);
        printf("  (%.1f cycles for each; %u low bits cleared)\n  outputs:",
               (double)r->weight / region_inputs(r), b->bits[k]);
        for (uint32_t i = 0; i < r->outputs; i++)
            print_register(&r->output[i]);
        printf("; its inputs had been there %.1f%% of the times\n", 100 * r->again);
        if (r->entry)
            printf("  its table is forgotten at 0x%" PRIx64 "%s\n", r->entry,
                   r->assumes_memory ? "; memory that it reads did not change in between" : "");
    }
}

static uint64_t weight_of(const struct blocks *b) {
    uint64_t weight = 0;
    for (uint32_t k = 0; k < b->n; k++)
        weight += (uint64_t)b->at[k].weight * b->at[k].times;
    return weight;
}

static double share(uint64_t part, uint64_t all) {
    return all ? 100.0 * (double)part / (double)all : 0;
}

/* found: the blocks before any was left out. */
static bool write_json(const struct request *r, const struct cpu_config *cfg, const struct dddg_result *d,
                       const struct blocks *found, const struct blocks *b, const struct made *made) {
    json_t *all = json_pack(
        "{s:i, s:s, s:s, s:{}, s:{s:{s:I, s:I, s:f, s:f, s:I, s:I, s:i, s:I, s:i, s:I, s:I}}}", "schema", 1,
        "cpu", cfg->name, "mech", "analysis", "settings", "totals", "counters", "analysis.candidates",
        (json_int_t)d->candidates, "analysis.unique", (json_int_t)d->unique, "analysis.weight", d->weight,
        "analysis.inputs", d->inputs, "analysis.covered", (json_int_t)d->covered, "analysis.total",
        (json_int_t)d->total, "analysis.blocks", (int)found->n, "analysis.memoized",
        (json_int_t)weight_of(found), "analysis.kept", (int)b->n, "analysis.cycles", (json_int_t)made->cycles,
        "analysis.cycles_before", (json_int_t)made->before);
    bool ok = all && !json_dump_file(all, r->json, JSON_INDENT(2));
    if (!ok)
        fprintf(stderr, "reprise: %s: cannot be written\n", r->json);
    json_decref(all);
    return ok;
}

static int analyse(const struct request *r) {
    struct config config = {0};
    struct diag d = {0};
    struct guest guest;
    bool ok = cpu_machine_config(&config, r->machine.cpu, r->machine.set, &d) &&
              guest_init(&guest, &r->machine.programs[0], &d);
    if (!ok) {
        fprintf(stderr, "reprise: %s", str_text(&d.text));
        diag_free(&d);
        config_free(&config);
        return 2;
    }
    const struct cpu_config *cfg = config_values(&config, &cpu_params);
    struct cputrace t;
    struct dddg_result found;
    struct blocks b = {.n = 0};
    cputrace_run(&t, &guest, cfg, (uint32_t)r->trace, r->machine.region, r->skip);
    dddg_find(&t, &r->limits, &found);
    const struct region_limits limits = {r->limits.ratio, r->limits.weight, 2 * r->limits.inputs};
    b.n = region_find(&t, &limits, b.at);
    printf("%u instructions, %" PRIu64 " cycles\n", t.at.len, t.weight);
    printf("%" PRIu64 " candidates, %" PRIu64 " different; %.2f cycles for an input, %.1f%% of all\n",
           found.candidates, found.unique, found.inputs > 0 ? found.weight / found.inputs : 0,
           share(found.covered, found.total));
    const struct blocks all = b;
    printf("%u blocks that can be skipped; coverage %.1f%%\n", all.n, share(weight_of(&all), found.total));
    struct made made = {0};
    if (ok && r->out)
        ok = make_program(r, &b, &made);
    print_blocks(&b, &t);
    if (ok && r->out)
        printf("\n%s: %u blocks of %u, %.1f%% of look-ups hit, error %.4f%%; %" PRIu64
               " cycles instead of %" PRIu64 "\n",
               r->out, b.n, all.n, 100 * made.hits, 100 * made.error, made.cycles, made.before);
    if (ok && r->json)
        ok = write_json(r, cfg, &found, &all, &b, &made);
    dddg_free(&found);
    cputrace_free(&t);
    guest_free(&guest);
    config_free(&config);
    diag_free(&d);
    return ok ? 0 : 1;
}

int cli_cpu_memo(int argc, char **argv) {
    if (argc && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))) {
        fputs(help, stdout);
        return 0;
    }
    struct trials trials = {0};
    struct request r = {.trials = &trials};
    int status = read_options(&r, argc, argv);
    waiting_ask(0);
    waiting_read(&trials.waiting);
    waiting_begin(&trials.waiting);
    if (!status)
        status = analyse(&r);
    vec_free(&r.set);
    return status;
}
