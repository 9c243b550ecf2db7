/* reprise list: what there is to choose from. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "cli/cli.h"
#include "gpu/gpu.h"
#include "gpu/options.h"
#include "gpu/resolve.h"
#include "gpu/timed.h"
#include "profile/profile.h"
#include "study/paper.h"
#include "study/suites.h"
#include "study/workload.h"

static const char help[] =
    "usage: reprise list gpus|cpus|mechs|probes|params|counters|rules|workloads|suites|papers\n"
    "       reprise list gpus|mechs|params|counters|rules --load FILE.so...\n"
    "       reprise list workloads --mix [--size tiny|small|medium|large] [--bits 32|64]\n"
    "\n"
    "  gpus       the GPUs --gpu knows\n"
    "  cpus       the CPUs --cpu knows, of 'reprise cpu'\n"
    "  mechs      the mechanisms --mech knows\n"
    "  probes     the probes --probe knows\n"
    "  params     every parameter of a GPU: type, range, default, unit, meaning\n"
    "  counters   what --json counts and derives: unit, meaning, formula\n"
    "  rules      what must hold of the counters of mechanisms, in every launch\n"
    "  workloads  the bundled workloads: suite, block shapes, papers that use them, sizes\n"
    "             --mix runs each and prints what it executes beside what the papers say of it\n"
    "             (default small, and 32 bits as in the papers)\n"
    "  suites     several workloads by one name, for 'reprise compare'\n"
    "  papers     the papers whose figures 'reprise repro' draws\n"
    "\n"
    "  --load     also what the mechanism of a shared object brings\n";

/* What there is to list, with the mechanisms of shared objects that the user names. */
struct known {
    struct mech_registry mechs;
    struct config params;
};

static void forget(struct known *k) {
    mech_registry_free(&k->mechs);
    config_free(&k->params);
}

/* Takes [--load FILE.so]...; 0, or the exit status after a message. */
static int know(struct known *k, int argc, char **argv) {
    struct diag d = {0};
    char *text;
    for (int i = 0; i < argc; i += 2) {
        if (strcmp(argv[i], "--load"))
            return cli_usage_error(help, "unknown argument", argv[i]);
        if (i + 1 == argc)
            return cli_usage_error(help, "a value is needed after", argv[i]);
        cli_load(argv[i + 1]);
    }
    const char **load = options_load(&text);
    *k = (struct known){0};
    bool ok = resolve_mechs(&(struct rp_options){.load = load}, &k->mechs, &d) &&
              resolve_params(&k->mechs, &k->params, &d);
    fputs(str_text(&d.text), stderr);
    diag_free(&d);
    free(load);
    free(text);
    if (!ok)
        forget(k);
    return ok ? 0 : 2;
}

static void show(struct str *out, struct known *k) {
    fputs(str_text(out), stdout);
    str_free(out);
    forget(k);
}

static int list_gpus(int argc, char **argv) {
    struct str out = {0};
    struct known k;
    int rc = know(&k, argc, argv);
    if (rc)
        return rc;
    config_list_gpus(&k.params, &out, NULL);
    show(&out, &k);
    return 0;
}

static int list_cpus(int argc, char **argv) {
    return argc ? cli_usage_error(help, "unknown argument", argv[0]) : cli_list_cpus();
}

static int list_params(int argc, char **argv) {
    struct str out = {0};
    struct known k;
    int rc = know(&k, argc, argv);
    if (rc)
        return rc;
    config_list(&k.params, &out);
    show(&out, &k);
    return 0;
}

static void print_counter(const char *name, const char *unit, const char *meaning) {
    printf("  %-26s %s\n      %s\n", name, unit, meaning);
}

static void print_counters(const struct counter_table *t) {
    for (uint32_t i = 0; i < t->count; i++)
        print_counter(t->rows[i].name, t->rows[i].unit, t->rows[i].meaning);
}

static int list_counters(int argc, char **argv) {
    struct known all;
    int rc = know(&all, argc, argv);
    if (rc)
        return rc;
    puts("of every run:");
    print_counters(&mix_table);
    puts("\nof what is timed:");
    struct counter_registry machine = {0};
    struct counter_info c;
    char name[COUNTER_NAME_SIZE];
    machine_counters(&machine, NULL);
    for (uint32_t i = 0; counters_info(&machine, i, name, &c); i++)
        print_counter(c.name, c.unit, c.meaning);
    counters_free(&machine);
    for (uint32_t i = 0; i < all.mechs.mechs.len; i++) {
        printf("\nof what is timed with --mech %s:\n", all.mechs.mechs.at[i]->name);
        print_counters(&all.mechs.mechs.at[i]->counters);
    }
    forget(&all);
    const struct profile_row *row;
    for (uint32_t i = 0; (row = profile_at(i)); i++) {
        printf("\nof what is timed with --probe %s:\n", row->name);
        print_counters(&row->kind->counters);
    }
    puts("\nderived from them and from parameters:");
    for (uint32_t i = 0; i < gpu_formulas.count; i++) {
        const struct formula_info *f = &gpu_formulas.rows[i];
        print_counter(f->name, f->unit, f->meaning);
        printf("      = %s\n", f->text);
    }
    return 0;
}

/* One line each: mechanism, left side, relation, right side, and when it holds, apart by tabs. */
static int list_rules(int argc, char **argv) {
    struct known all;
    int rc = know(&all, argc, argv);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < all.mechs.mechs.len; i++) {
        const struct mechanism *m = all.mechs.mechs.at[i];
        for (uint32_t k = 0; k < m->counters.nrules; k++) {
            const struct counter_rule *r = &m->counters.rules[k];
            printf("%s\t%s\t%s\t%s\t%s\n", m->name, r->left, r->relation, r->right, r->when);
        }
    }
    forget(&all);
    return 0;
}

static int list_mechs(int argc, char **argv) {
    struct str out = {0};
    struct known k;
    int rc = know(&k, argc, argv);
    if (rc)
        return rc;
    mech_list(&k.mechs, &out);
    show(&out, &k);
    return 0;
}

static int list_probes(int argc, char **argv) {
    struct str out = {0};
    if (argc)
        return cli_usage_error(help, "unknown argument", argv[0]);
    profile_list(&out);
    fputs(str_text(&out), stdout);
    str_free(&out);
    return 0;
}

static int list_workloads(int argc, char **argv) {
    struct workload_run r = {.size = SIZE_SMALL, .bits = 32};
    bool mix = false;
    for (int i = 0; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--mix")) {
            mix = true;
        } else if (!strcmp(argv[i], "--size") && (r.size = workload_size(value)) != SIZES) {
            i++;
        } else if (!strcmp(argv[i], "--bits") && (!strcmp(value, "32") || !strcmp(value, "64"))) {
            r.bits = value[0] == '3' ? 32 : 64;
            i++;
        } else {
            return cli_usage_error(help, "cannot use argument", argv[i]);
        }
    }
    if (mix)
        return cli_list_mix(&r);
    cli_list_workloads();
    return 0;
}

static int list_suites(int argc, char **argv) {
    if (argc)
        return cli_usage_error(help, "unknown argument", argv[0]);
    suite_list(stdout);
    return 0;
}

static int list_papers(int argc, char **argv) {
    struct paper p;
    if (argc)
        return cli_usage_error(help, "unknown argument", argv[0]);
    for (uint32_t i = 0; paper_at(i, &p); i++)
        printf("%-10s %s\n", p.head->name, p.head->text);
    return 0;
}

static const struct {
    const char *name;
    int (*list)(int argc, char **argv);
} topics[] = {
    {"gpus", list_gpus},     {"cpus", list_cpus},           {"mechs", list_mechs},
    {"probes", list_probes}, {"params", list_params},       {"counters", list_counters},
    {"rules", list_rules},   {"workloads", list_workloads}, {"suites", list_suites},
    {"papers", list_papers},
};
enum { NTOPICS = sizeof topics / sizeof topics[0] };

static const char *next_topic(void *ctx, uint32_t i) {
    (void)ctx;
    return i < NTOPICS ? topics[i].name : NULL;
}

int cli_list(int argc, char **argv) {
    if (argc && !strcmp(argv[0], "--help")) {
        fputs(help, stdout);
        return 0;
    }
    if (!argc)
        return cli_usage_error(help, "what should be listed?", "");
    for (int i = 0; i < NTOPICS; i++)
        if (!strcmp(argv[0], topics[i].name))
            return topics[i].list(argc - 1, argv + 1);
    const char *near = diag_nearest(argv[0], strlen(argv[0]), next_topic, NULL);
    struct str what = {0};
    str_printf(&what, "there is no list of '%s'%s%s%s", argv[0], near ? "; did you mean '" : "",
               near ? near : "", near ? "'?" : "");
    int rc = cli_usage_error(help, str_text(&what), "");
    str_free(&what);
    return rc;
}
