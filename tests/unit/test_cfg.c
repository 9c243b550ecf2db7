/* Configurations: values of every type, files, inheritance, --set, the messages of what is wrong, and
 * occupancy. */
#include <limits.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cfg/gpu.h"
#include "cfg/read.h"
#include "gpu/resolve.h"
#include "reprise.h"

static const char *const no_set[] = {NULL};

/* ---- helpers ---------------------------------------------------------------------------------------- */

static void expect_words(const struct diag *d, const char *words) {
    if (!strstr(str_text(&d->text), words))
        fail_msg("'%s' not in:\n%s", words, str_text(&d->text));
}

static struct config all; /* what was read last: every parameter there is */

static void make_empty(void) {
    config_free(&all);
    all = (struct config){0};
    struct mech_registry r;
    struct diag d = {0};
    mech_registry_init(&r);
    assert_true(resolve_params(&r, &all, &d));
    mech_registry_free(&r);
}

static struct gpu_config gpu(void) {
    return *(const struct gpu_config *)config_values(&all, &gpu_params);
}

static const struct config_origin *origin_of(const char *path) {
    return &all.origins.at[param_find(&all.params, path, strlen(path))];
}

static void setting_of(const char *path, struct config_setting *s) {
    assert_true(config_setting_at(&all, param_find(&all.params, path, strlen(path)), s));
}

/* Parses what must be valid. */
static struct gpu_config good(const char *text, const char *const *set) {
    struct diag d = {0};
    make_empty();
    if (!config_parse(&all, text, strlen(text), "t.yaml", set, CONFIG_DIR, &d))
        fail_msg("%s", str_text(&d.text));
    diag_free(&d);
    return gpu();
}

/* Every parameter has its default. */
static void expect_defaults(void) {
    struct config_setting s;
    for (uint32_t i = 0; config_setting_at(&all, i, &s); i++) {
        struct str text = {0};
        param_print(all.params.at[i], config_block_of(&all, i)->values, false, &text);
        struct str initial = {0};
        param_print_initial(all.params.at[i], &initial);
        assert_string_equal(text.at, initial.at);
        assert_string_equal(s.origin, "default");
        str_free(&text);
        str_free(&initial);
    }
}

/* Parses what must fail with so many errors and a text that contains the given words. */
static void bad_set(const char *text, const char *const *set, uint32_t errors, const char *words) {
    struct diag d = {0};
    make_empty();
    assert_false(config_parse(&all, text, strlen(text), "t.yaml", set, CONFIG_DIR, &d));
    expect_words(&d, words);
    if (d.errors != errors)
        fail_msg("%u errors, not %u:\n%s", d.errors, errors, str_text(&d.text));
    expect_defaults();
    diag_free(&d);
}

static void bad(const char *text, const char *words) {
    bad_set(text, no_set, 1, words);
}

/* A new empty folder, and files in it. */
static char folder[64];

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_cfg.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static const char *file_path(const char *name) {
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put_file(const char *name, const char *text) {
    FILE *f = fopen(file_path(name), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static int remove_folder(void **state) {
    (void)state;
    static const char *const names[] = {"a.yaml",   "b.yaml",      "c.yaml", "h200.yaml",
                                        "big.yaml", "base/d.yaml", "base"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        remove(file_path(names[i]));
    return rmdir(folder);
}

static void bad_load(const char *name, const char *dir, const char *words) {
    struct diag d = {0};
    make_empty();
    assert_false(config_load(&all, name, NULL, dir, &d));
    expect_words(&d, words);
    diag_free(&d);
}

static struct gpu_config load(const char *name) {
    struct diag d = {0};
    make_empty();
    if (!config_load(&all, name, NULL, CONFIG_DIR, &d))
        fail_msg("%s", str_text(&d.text));
    diag_free(&d);
    return gpu();
}

/* ---- the tables ------------------------------------------------------------------------------------- */

static const char *const field_names[] = {
#define PARAM(field, ...) #field,
#include "cfg/params.def"
};

/* The GPU's members are called like its parameters. */
static void test_fields(void **state) {
    (void)state;
    for (uint32_t i = 0; i < gpu_params.count; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s", gpu_params.rows[i].path);
        for (char *c = name; *c; c++)
            *c = *c == '.' ? '_' : *c;
        assert_string_equal(name, field_names[i]);
    }
}

/* Each row of every owner keeps the rules of cfg/param.h, and its default is in its range. */
static void test_table(void **state) {
    (void)state;
    make_empty();
    assert_true(all.params.len > gpu_params.count);
    for (uint32_t i = 0; i < all.params.len; i++) {
        const struct param *p = all.params.at[i];
        const struct param_table *t = config_block_of(&all, i)->table;
        assert_true(p >= t->rows && p < t->rows + t->count && p->offset < t->size);
        assert_non_null(strchr(p->path, '.'));
        assert_true(strlen(p->path) <= 22); /* the column of config_list */
        assert_true(p->min <= p->max && *p->help);
        assert_true(p->type != PARAM_INT || (p->min >= INT32_MIN && p->max <= INT32_MAX));
        assert_int_equal(p->type == PARAM_ENUM, p->choices != NULL);
        assert_int_equal(param_find(&all.params, p->path, strlen(p->path)), i);
        assert_false(param_is_group(&all.params, p->path, strlen(p->path)));
        struct str text = {0};
        union param_value v;
        param_print_initial(p, &text);
        assert_int_equal(param_read(p, text.at, text.len, false, &v), PARAM_OK);
        str_free(&text);
    }
}

/* No relation between parameters is broken by the defaults, and the default GPU is the defaults. */
static void test_defaults(void **state) {
    (void)state;
    good("", NULL);
    expect_defaults();
    load(CONFIG_DEFAULT_GPU);
    for (uint32_t i = 0; i < all.params.len; i++) {
        struct str a = {0}, b = {0};
        param_print_initial(all.params.at[i], &a);
        param_print(all.params.at[i], config_block_of(&all, i)->values, false, &b);
        assert_string_equal(a.at, b.at);
        if (i < gpu_params.count) /* h200.yaml spells all of the GPU's out */
            assert_int_equal(all.origins.at[i].kind, CONFIG_FROM_FILE);
        str_free(&a);
        str_free(&b);
    }
}

struct own {
    int32_t size, half;
    double pj;
};

static void check_own(const void *values, param_fault *fault, void *ctx) {
    const struct own *o = values;
    if (2 * o->half > o->size)
        fault(ctx, offsetof(struct own, half), offsetof(struct own, size), "must not exceed half of");
}

/* Each owner has a block of its own, and gets what files and --set say about its parameters. */
static void test_owners(void **state) {
    (void)state;
    static const struct param rows[] = {
        {"own.size", PARAM_AT(struct own, size), 1, 100, 8, "cows", "Size."},
        {"own.half", PARAM_AT(struct own, half), 0, 100, 0, "cows", "Half of it."},
        {"own.pj.cow", PARAM_AT(struct own, pj), 0, 10, 2.5, "pJ", "Cost."},
    };
    static const struct param_table table = PARAM_TABLE(struct own, rows, check_own);
    make_empty();
    assert_null(config_values(&all, &table));
    config_add(&all, &table);
    const struct own *o = config_values(&all, &table);
    const struct gpu_config before = gpu();
    assert_true(o->size == 8 && o->pj == 2.5);
    const char *const set[] = {"own.size=9", "sm.blocks=7", NULL};
    const char text[] = "own: {size: 3, pj.cow: 1.5}\nwir.queue: 5\n";
    struct diag d = {0};
    assert_true(config_parse(&all, text, strlen(text), "t.yaml", set, CONFIG_DIR, &d));
    assert_true(o->size == 9 && o->pj == 1.5 && o->half == 0);
    struct gpu_config c = gpu();
    assert_int_equal(c.sm_blocks, 7);
    c.sm_blocks = before.sm_blocks;
    assert_memory_equal(&c, &before, sizeof c);
    struct config_setting s;
    setting_of("own.size", &s);
    assert_string_equal(s.origin, "--set");
    setting_of("wir.queue", &s);
    assert_string_equal(s.value, "5");
    double pj;
    assert_true(config_float(&all, "own.pj.cow", &pj) && pj == 1.5);
    assert_true(config_float(&all, "energy.scale", &pj) && pj == before.energy_scale);
    assert_false(config_float(&all, "own.size", &pj));
    assert_false(config_float(&all, "own.pj", &pj));
    const char *const wrong[] = {"own.sise=9", NULL};
    assert_false(config_parse(&all, "", 0, "t.yaml", wrong, CONFIG_DIR, &d));
    expect_words(&d, "did you mean 'own.size'?");
    assert_true(o->size == 8);
    const char *const broken[] = {"own.half=5", NULL};
    assert_false(config_parse(&all, "", 0, "t.yaml", broken, CONFIG_DIR, &d));
    expect_words(&d, "--set:1:10: error: own.half (5) must not exceed half of own.size (8)");
    diag_free(&d);
}

static bool begins(const char *path, const char *name) {
    size_t len = strlen(name);
    return !strncmp(path, name, len) && path[len] == '.';
}

/* Parameters of a mechanism or probe stand under its name, so that no two can want the same one. */
static void test_groups(void **state) {
    (void)state;
    struct mech_registry r;
    const struct profile_row *p;
    mech_registry_init(&r);
    assert_true(r.mechs.len > 2);
    for (uint32_t i = 0; i < r.mechs.len; i++)
        for (uint32_t k = 0; k < r.mechs.at[i]->params.count; k++)
            assert_true(begins(r.mechs.at[i]->params.rows[k].path, r.mechs.at[i]->name));
    mech_registry_free(&r);
    for (uint32_t i = 0; (p = profile_at(i)); i++)
        for (uint32_t k = 0; k < p->kind->params.count; k++)
            assert_true(begins(p->kind->params.rows[k].path, p->name));
}

/* ---- values ----------------------------------------------------------------------------------------- */

enum color { RED, GREEN, BLUE };

struct sample {
    int32_t i, version;
    enum color color;
    uint64_t bytes;
    double f;
    bool b;
    param_string s;
};

static const char *const colors[] = {"red", "green", "blue", NULL};

static const struct param sample_rows[] = {
    {"t.int", PARAM_AT(struct sample, i), -5, 100, -3, "cows", ""},
    {"t.version", .type = PARAM_VERSION, .offset = offsetof(struct sample, version), 20, 129, 20, "", ""},
    {"t.color", PARAM_AT(struct sample, color), GREEN, BLUE, BLUE, "", "", colors},
    {"t.bytes", PARAM_AT(struct sample, bytes), 1, 1099511627776.0, 1099511627776.0, "bytes", ""},
    {"t.float", PARAM_AT(struct sample, f), -1.5, 1e6, 0.1, "MHz", ""},
    {"t.bool", PARAM_AT(struct sample, b), 0, 1, true, "", ""},
    {"t.string", PARAM_AT(struct sample, s), 1, 5, 0, "bytes", "", .text = "four"},
};
static const struct param_table sample_table = PARAM_TABLE(struct sample, sample_rows, NULL);

/* Types follow from members, and defaults of all types reach them. */
static void test_samples(void **state) {
    (void)state;
    static const enum param_type types[] = {PARAM_INT,   PARAM_VERSION, PARAM_ENUM,  PARAM_BYTES,
                                            PARAM_FLOAT, PARAM_BOOL,    PARAM_STRING};
    struct sample s;
    memset(&s, 0xff, sizeof s);
    param_defaults(&sample_table, &s);
    assert_true(s.i == -3 && s.version == 20 && s.color == BLUE && s.bytes == UINT64_C(1) << 40 &&
                s.f == 0.1 && s.b);
    assert_string_equal(s.s, "four");
    for (uint32_t i = 0; i < sample_table.count; i++)
        assert_int_equal(sample_rows[i].type, types[i]);
}

/* The row of a path. */
static const struct param *sample_row(const char *path) {
    uint32_t i = 0;
    while (strcmp(sample_rows[i].path, path))
        i++;
    return &sample_rows[i];
}

/* Reads a value; "OUT" out of range, "TYPE" wrong type, else what it prints as, plainly and as a file says
 * it. */
static void expect_reads(const char *path, const char *text, const char *plain, const char *pretty) {
    const struct param *p = sample_row(path);
    union param_value v;
    enum param_status status = param_read(p, text, strlen(text), false, &v);
    if (status != PARAM_OK) {
        assert_string_equal(plain, status == PARAM_OUT_OF_RANGE ? "OUT" : "TYPE");
        return;
    }
    struct sample s = {0};
    struct str a = {0}, b = {0};
    param_store(p, &s, &v);
    param_print(p, &s, true, &a);
    param_print(p, &s, false, &b);
    assert_string_equal(str_text(&a), plain);
    assert_string_equal(str_text(&b), pretty ? pretty : plain);
    str_free(&a);
    str_free(&b);
}

static void test_values(void **state) {
    (void)state;
    static const struct {
        const char *path, *text, *plain, *pretty;
    } cases[] = {
        {"t.int", "100", "100", NULL},
        {"t.int", "101", "OUT", NULL},
        {"t.int", "-5", "-5", NULL},
        {"t.int", "-6", "OUT", NULL},
        {"t.int", "0x1F", "31", NULL},
        {"t.int", "4294967297", "OUT", NULL},
        {"t.int", "99999999999999999999999", "OUT", NULL},
        {"t.int", "-99999999999999999999999", "OUT", NULL},
        {"t.int", "1.0", "TYPE", NULL},
        {"t.int", "1K", "TYPE", NULL},
        {"t.int", "+1", "TYPE", NULL},
        {"t.int", "--1", "TYPE", NULL},
        {"t.int", " 1", "TYPE", NULL},
        {"t.int", "0x", "TYPE", NULL},
        {"t.int", "", "TYPE", NULL},
        {"t.bytes", "1", "1", "1"},
        {"t.bytes", "0", "OUT", NULL},
        {"t.bytes", "48K", "49152", "48K"},
        {"t.bytes", "48 KB", "49152", "48K"},
        {"t.bytes", "48KiB", "49152", "48K"},
        {"t.bytes", "1024K", "1048576", "1M"},
        {"t.bytes", "1025K", "1049600", "1025K"},
        {"t.bytes", "3G", "3221225472", "3G"},
        {"t.bytes", "1T", "1099511627776", "1T"},
        {"t.bytes", "1099511627777", "OUT", NULL},
        {"t.bytes", "2T", "OUT", NULL},
        {"t.bytes", "18446744073709551616T", "OUT", NULL},
        {"t.bytes", "-1K", "OUT", NULL},
        {"t.bytes", "-", "TYPE", NULL},
        {"t.bytes", "1k", "TYPE", NULL},
        {"t.bytes", "1KK", "TYPE", NULL},
        {"t.bytes", "1Ki", "TYPE", NULL},
        {"t.bytes", "1B", "TYPE", NULL},
        {"t.bytes", "1.5K", "TYPE", NULL},
        {"t.float", "-1.5", "-1.5", NULL},
        {"t.float", "-1.51", "OUT", NULL},
        {"t.float", "1e6", "1e+06", NULL},
        {"t.float", "1000000.1", "OUT", NULL},
        {"t.float", "0.1", "0.1", NULL},
        {"t.float", "0.30000000000000004", "0.30000000000000004", NULL},
        {"t.float", "1e999", "OUT", NULL},
        {"t.float", "nan", "TYPE", NULL},
        {"t.float", "inf", "TYPE", NULL},
        {"t.float", "0x10", "TYPE", NULL},
        {"t.float", "1,5", "TYPE", NULL},
        {"t.float", "e", "TYPE", NULL},
        {"t.bool", "true", "true", NULL},
        {"t.bool", "false", "false", NULL},
        {"t.bool", "yes", "TYPE", NULL},
        {"t.bool", "1", "TYPE", NULL},
        {"t.color", "green", "green", NULL},
        {"t.color", "red", "OUT", NULL},
        {"t.color", "pink", "TYPE", NULL},
        {"t.version", "9.0", "9.0", NULL},
        {"t.version", "12.9", "12.9", NULL},
        {"t.version", "13.0", "OUT", NULL},
        {"t.version", "1.9", "OUT", NULL},
        {"t.version", "9", "TYPE", NULL},
        {"t.version", "9.", "TYPE", NULL},
        {"t.version", "9.10", "TYPE", NULL},
        {"t.version", ".9", "TYPE", NULL},
        {"t.string", "five5", "five5", NULL},
        {"t.string", "six666", "OUT", NULL},
        {"t.string", "", "OUT", NULL},
        {"t.string", "a\tb", "TYPE", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_reads(cases[i].path, cases[i].text, cases[i].plain, cases[i].pretty);
}

static void test_value_edges(void **state) {
    (void)state;
    union param_value v;
    char text[300];
    memset(text, '1', sizeof text);
    for (uint32_t i = 0; i < sample_table.count; i++) { /* longer than any buffer */
        const struct param *p = &sample_rows[i];
        assert_int_equal(param_read(p, text, sizeof text, false, &v),
                         p->type == PARAM_STRING ? PARAM_OUT_OF_RANGE : PARAM_WRONG_TYPE);
        assert_int_equal(param_read(p, "1\0", 2, false, &v), PARAM_WRONG_TYPE);
    }
    assert_int_equal(param_read(&sample_rows[0], "1", 1, true, &v), PARAM_WRONG_TYPE); /* quoted number */
    assert_int_equal(param_read(&sample_rows[2], "blue", 4, true, &v), PARAM_OK);
}

static void test_describe(void **state) {
    (void)state;
    static const char *const expected[] = {
        "an integer, -5 to 100 cows",   "major.minor, 2.0 to 12.9",    "one of green, blue",
        "a size, 1 to 1T bytes",        "a number, -1.5 to 1e+06 MHz", "true or false",
        "printable text, 1 to 5 bytes",
    };
    for (uint32_t i = 0; i < sample_table.count; i++) {
        struct str s = {0};
        param_describe(&sample_rows[i], &s);
        assert_string_equal(s.at, expected[i]);
        str_free(&s);
    }
}

/* A program that set a locale with a decimal comma reads and prints the same numbers. */
static void test_locale(void **state) {
    (void)state;
    static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    for (size_t i = 0; i < sizeof commas / sizeof *commas && !setlocale(LC_NUMERIC, commas[i]); i++)
        ;
    expect_reads("t.float", "0.5", "0.5", NULL);
    setlocale(LC_NUMERIC, "C");
}

/* ---- files ------------------------------------------------------------------------------------------ */

static void test_read(void **state) {
    (void)state;
    struct gpu_config c = good("# comment\n"
                               "sm:\n"
                               "  warps: 32   # fewer\n"
                               "  threads: 1024\n"
                               "l2.size: 1 MB\n"
                               "device: {name: \"GPU \\u00e9\", architecture: 'ampere', cc: 8.6}\n"
                               "clock:\n"
                               "grid:\n",
                               NULL);
    assert_int_equal(c.sm_warps, 32);
    assert_int_equal(c.sm_threads, 1024);
    assert_int_equal(c.l2_size, 1 << 20);
    assert_string_equal(c.device_name, "GPU \xc3\xa9");
    assert_int_equal(c.device_architecture, ARCH_AMPERE);
    assert_int_equal(c.device_cc, 86);
    assert_int_equal(c.sm_blocks, 32);
    assert_int_equal(origin_of("sm.threads")->kind, CONFIG_FROM_FILE);
    assert_int_equal(origin_of("sm.threads")->line, 4);
    assert_int_equal(origin_of("sm.blocks")->kind, CONFIG_FROM_DEFAULT);
    assert_string_equal(all.files[0], "t.yaml");
}

static void test_messages(void **state) {
    (void)state;
    bad("sm:\n  warsp: 4\n",
        "t.yaml:2:3: error: no parameter is called 'sm.warsp'; did you mean 'sm.warps'?");
    bad("smm:\n  warps: 4\n", "t.yaml:1:1: error: no parameter is called 'smm'; did you mean 'sm'?");
    bad("warps: 4", "did you mean 'sm.warps'?");
    bad("qqqqqqqq: 4", "no parameter is called 'qqqqqqqq'; 'reprise list params' shows all of them");
    bad("sm:\n  warps: 4096\n",
        "t.yaml:2:10: error: sm.warps is out of range at '4096'; it takes an integer, 1 to 64 warps");
    bad("sm:\n  warps: \"48\"\n", "sm.warps cannot be the text '48'; it takes an integer");
    bad("sm:\n  warps: many\n", "sm.warps cannot be 'many'");
    bad("sm:\n  warps:\n", "sm.warps has no value; it takes an integer, 1 to 64 warps");
    bad("sm: {shared: 5P}", "sm.shared cannot be '5P'; it takes a size, 1K to 4M bytes");
    bad("device.architecture: ferni", "; did you mean 'fermi'?");
    bad("device.name: \"a\\x00b\"", "device.name cannot be the text 'a'");
    bad("device.name: ''", "device.name is out of range at ''; it takes printable text, 1 to 127 bytes");
    bad("sm.warps: 64\nsm:\n  warps: 64\n",
        "t.yaml:3:3: error: sm.warps is given twice; the first is on line 1");
    bad("sm:\n  blocks: 4\nsm:\n  warps: 64\n", "t.yaml:3:1: error: group sm is opened twice");
    bad("sm: 4", "t.yaml:1:5: error: parameters are needed, since this is a group: sm");
    bad("sm: [1, {a: [b]}, 2]\nl2.size: 1M\n", "parameters are needed");
    bad("sm.warps: [64]", "t.yaml:1:11: error: one value is needed, not a list or group: sm.warps");
    bad("sm.warps: {a: 1}", "one value is needed, not a list or group: sm.warps");
    bad("sm.warps: &w 64\nsm.blocks: *w\n", "aliases are not supported: give the value of sm.blocks");
    bad("sm.warps: !!int 64", "a tag has no meaning here: sm.warps");
    bad("sm: !x {warps: 64}", "a tag has no meaning here");
    bad("? [a]\n: {b: c}\nsm.warps: 64\n", "t.yaml:1:3: error: the name of a parameter or group is needed");
    bad("just words", "a configuration is a list of");
    bad("- sm.warps\n", "a configuration is a list of");
    bad("sm.warps: 64\n---\nsm.blocks: 1\n", "t.yaml:2:1: error: a configuration is one document");
    bad("sm: {warps: 64\n", "not valid YAML: did not find expected ',' or '}'");
    bad("sm:\n\twarps: 64\n", "t.yaml:2:1: error: not valid YAML");
    bad("l2.size: \xff", "t.yaml:1:10: error: not valid YAML: invalid leading UTF-8 octet");
    bad("inherit: [h200]", "inherit takes the name of a configuration");
    bad("inherit:", "inherit takes the name of a configuration");
    bad("inherit: \"h200\\0\"", "inherit takes the name of a configuration");
    bad("inherit: h200\ninherit: gtx480\n", "t.yaml:2:10: error: inherit is given twice");
    bad("inherit: gtx408\n", "t.yaml:1:10: error: no GPU is called 'gtx408'; did you mean 'gtx480'?");
}

/* Columns count bytes as an editor shows them, also behind letters of several bytes and a byte-order mark. */
static void test_places(void **state) {
    (void)state;
    bad("\xc3\xa9\xc3\xa9: 1\n", "t.yaml:1:1: error");
    bad("# \xe2\x82\xac \xc3\xa9\nsm: {warps: 0}\n", "t.yaml:2:13: error: sm.warps is out of range");
    bad("\xef\xbb\xbfsm: {warps: 0}\n", "    ???sm: {warps: 0}\n                   ^");
    bad("device.name: \"\xe2\x82\xac\"\nsm.warps: 0\n", "t.yaml:2:11: error");
}

/* A text can be nested as deeply as it is long: that must cost neither stack nor time. */
static void test_nesting(void **state) {
    (void)state;
    enum { BYTES = 1 << 20 };
    static const char *const parts[] = {"[", "{a: ", "- ", "? ", "a: ["};
    char *text = malloc(BYTES + 8);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t n = 0;
        while (n < BYTES)
            n += (size_t)sprintf(text + n, "%s", parts[i]);
        struct diag d = {0};
        make_empty();
        assert_false(config_parse(&all, text, n, "t.yaml", no_set, CONFIG_DIR, &d));
        assert_true(d.errors > 0);
        diag_free(&d);
    }
    free(text);
    bad("a: {b: [[[c]], {d: [e]}]}\nsm.warps: 64\n", "no parameter is called 'a'");
}

/* All errors of a text are told at once, those of --set too. */
static void test_all_errors(void **state) {
    (void)state;
    const char *const set[] = {"sm.warps=0", "nothing", "l2.szie=1M", "=", NULL};
    bad_set("sm: {warps: 0, blocks: x, wraps: 1}\nl3.size: {a: {b: c}}\nclock.sm: fast\n", set, 9,
            "--set:1:1: error: no parameter is called 'l2.szie'; did you mean");
}

static void test_set(void **state) {
    (void)state;
    const char *const set[] = {"sm.warps=16", "sm.warps=32", "sm.threads=1024", "device.name=My GPU = 1",
                               NULL};
    struct gpu_config c = good("sm: {warps: 48, threads: 1536}", set);
    assert_int_equal(c.sm_warps, 32);
    assert_int_equal(c.sm_threads, 1024);
    assert_string_equal(c.device_name, "My GPU = 1");
    assert_int_equal(origin_of("sm.warps")->kind, CONFIG_FROM_SET);

    const char *const one[][2] = {{"sm.warps"}, {"sm.warps="}, {"sm.warp=3"}, {"sm=3"}, {""}};
    const char *const words[] = {"--set:1:1: error: 'parameter=value' is needed",
                                 "--set:1:10: error: sm.warps has no value", "did you mean 'sm.warps'?",
                                 "no parameter is called 'sm'", "'parameter=value' is needed"};
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        bad_set("", one[i], 1, words[i]);
}

/* ---- relations between parameters ------------------------------------------------------------------- */

static void test_checks(void **state) {
    (void)state;
    bad("sm: {threads: 1024}", "t.yaml:1:15: error: sm.threads (1024) must be 32 times sm.warps (64)");
    bad("sm: {warps: 32}", "t.yaml:1:13: error: sm.threads (2048) must be 32 times sm.warps (32)");
    bad("sm: {threads: 512, warps: 16, blocks: 16}", "block.threads (1024) must not exceed sm.threads (512)");
    bad("sm: {threads: 1024, warps: 32, blocks: 33}", "sm.blocks (33) must not exceed sm.warps (32)");
    bad("block: {threads: 512, x: 512}", "block.y (1024) must not exceed block.threads (512)");
    bad("block: {threads: 512, y: 512}", "block.x (1024) must not exceed block.threads (512)");
    bad("block: {z: 65, x: 64, y: 64, threads: 64}", "block.z (65) must not exceed block.threads (64)");
    bad("sm.registers: 32768", "block.registers (65536) must not exceed sm.registers (32768)");
    bad("sm.registers: 65600", "sm.registers (65600) must be a multiple of sm.register_unit (256)");
    bad("block.registers: 65000", "block.registers (65000) must be a multiple of sm.register_unit (256)");
    bad("sm.warp_unit: 5", "sm.warps (64) must be a multiple of sm.warp_unit (5)");
    bad("block.shared: 228K", "block.shared (228K) must not exceed block.shared_optin (227K)");
    bad("block.shared_optin: 228K",
        "block.shared_optin (228K) and what block.shared_reserved adds must not exceed");
    bad("sm.shared: 233473", "sm.shared (233473) must be a multiple of sm.shared_unit (128)");
    bad_set("dram.size: 16M\n", no_set, 1, "l2.size (60M) must not exceed dram.size (16M)");
    bad("const.size: 1M\ndram.size: 16M\nl2.size: 32M\n", "l2.size (32M) must not exceed dram.size (16M)");
    bad("limit.heap: 1G\ndram.size: 512M\n", "limit.heap (1G) must not exceed dram.size (512M)");
    bad("limit.printf: 1G\ndram.size: 512M\n", "limit.printf (1G) must not exceed dram.size (512M)");
    bad("sm: {warps: 1, threads: 32, blocks: 1, warp_unit: 1}\nissue.schedulers: 1\nblock: {threads: 32, x: "
        "32, y: "
        "32, z: 32}\n",
        "fetch.groups (4) must not exceed sm.warps (1)");
    bad("sm: {warps: 1, threads: 32, blocks: 1, warp_unit: 1}\nfetch.groups: 1\nblock: {threads: 32, x: 32, "
        "y: 32, "
        "z: 32}\n",
        "issue.schedulers (4) must not exceed sm.warps (1)");
    bad("l1.size: 10000", "l1.size (10000) must be a multiple of cache.line times l1.ways (64)");
    bad("texcache.ways: 3", "texcache.size (32K) must be a multiple of cache.line times texcache.ways (3)");
    bad("constcache.ways: 3",
        "constcache.size (64K) must be a multiple of cache.line times constcache.ways (3)");
    bad("icache.ways: 3", "icache.size (128K) must be a multiple of cache.line times icache.ways (3)");
    bad("l2.size: 128K",
        "l2.size (128K) must hold at least one set of l2.ways lines for each of l2.partitions (94)");
    bad("l2.interleave: 200", "cache.line (128) must be a power of two and divide l2.interleave (200)");
    bad_set("cache.line: 96", no_set, 6,
            "cache.line (96) must be a power of two and divide l2.interleave (256)");
    bad("dram.chunk: 320\ndram.row: 320", "dram.chunk (320) must be a multiple of cache.line (128)");
    bad("dram: {bus: 6032}",
        "dram.bus (6032) must give a whole number of bytes to each of l2.partitions (94)");
    bad("dram.burst: 6", "dram.burst (6) must be a multiple of dram.rate (4)");
    bad("dram.groups: 3", "dram.banks (16) must be a multiple of dram.groups (3)");
    bad("dram.row: 640", "dram.row (640) must be a multiple of dram.chunk (256)");
    bad("dram.write_low: 48", "dram.write_low (48) must be less than dram.write_high (48)");
    bad("dram.write_high: 65", "dram.write_high (65) must not exceed dram.write_queue (64)");
    bad("dram.timing.tras: 65", "dram.timing.tras (65) must not exceed dram.timing.trc (64)");
    bad("dram.timing.tccd: 5", "dram.timing.tccd (5) must not exceed dram.timing.tccdl (4)");
    const char *const set[] = {"sm.warps=32", NULL};
    bad_set("sm.threads: 2048", set, 1,
            "--set:1:10: error: sm.threads (2048) must be 32 times sm.warps (32)");
}

/* ---- inheritance and folders ------------------------------------------------------------------------ */

static void test_inherit(void **state) {
    (void)state;
    struct gpu_config c = good("l2.size: 1M\ninherit: gtx480\n", NULL);
    assert_int_equal(c.l2_size, 1 << 20);
    assert_int_equal(c.sm_warps, 48);
    assert_string_equal(all.files[origin_of("sm.warps")->file], "gtx480.yaml");
    assert_string_equal(all.files[origin_of("l2.size")->file], "t.yaml");
    struct config_setting s;
    load("gtx480");
    setting_of("sm.warps", &s);
    assert_string_equal(s.name, "sm.warps");
    assert_string_equal(s.value, "48");
    assert_memory_equal(s.origin, "gtx480.yaml:", 12);

    put_file("a.yaml", "inherit: base/d.yaml\nsm.blocks: 3\n");
    assert_int_equal(mkdir(file_path("base"), 0700), 0);
    put_file("base/d.yaml", "inherit: ../b.yaml\nsm.blocks: 4\nl2.size: 2M\n");
    put_file("b.yaml", "inherit: gtx480\nl2.size: 3M\ndram.bus: 192\n");
    c = load(file_path("a.yaml"));
    assert_int_equal(c.sm_blocks, 3);
    assert_int_equal(c.l2_size, 2 << 20);
    assert_int_equal(c.dram_bus, 192);
    assert_int_equal(c.device_sms, 15);
    assert_string_equal(all.files[1], "d.yaml");
}

static void test_inherit_errors(void **state) {
    (void)state;
    put_file("a.yaml", "inherit: ./b.yaml\n");
    put_file("b.yaml", "sm.blocks: 2\ninherit: c.yaml\n");
    put_file("c.yaml", "inherit: a.yaml\n");
    bad_load(file_path("a.yaml"), CONFIG_DIR, "c.yaml:1:10: error: inherit goes in a circle: ");
    put_file("a.yaml", "inherit: a\n");
    bad_load("a", folder, "a.yaml:1:10: error: inherit goes in a circle");
    put_file("a.yaml", "inherit: missing.yaml\nsm.warps: x\n");
    bad_load(file_path("a.yaml"), CONFIG_DIR, "missing.yaml': No such file");
    bad_load(file_path("a.yaml"), CONFIG_DIR, "sm.warps cannot be 'x'");
    put_file("a.yaml", "sm:\n  threads: 1536\n");
    put_file("b.yaml", "sm.warps: 32\ninherit: a.yaml\n");
    bad_load(file_path("b.yaml"), CONFIG_DIR,
             "b.yaml:1:11: error: sm.threads (1536) must be 32 times sm.warps (32)");
}

static void test_inherit_depth(void **state) {
    (void)state;
    char name[32], text[64];
    for (int i = 0; i <= CONFIG_MAX_DEPTH; i++) {
        snprintf(name, sizeof name, "n%d.yaml", i);
        snprintf(text, sizeof text, "inherit: n%d.yaml\nl2.size: %dM\n", i + 1, i + 1);
        put_file(name, i < CONFIG_MAX_DEPTH ? text : "l2.size: 100M\n");
    }
    struct gpu_config c = load(file_path("n1.yaml")); /* as many files as may be */
    assert_int_equal(c.l2_size, 2 << 20);
    bad_load(file_path("n0.yaml"), CONFIG_DIR,
             "n7.yaml:1:10: error: inherit is nested too deeply: at most 8 files");
    for (int i = 0; i <= CONFIG_MAX_DEPTH; i++) {
        snprintf(name, sizeof name, "n%d.yaml", i);
        assert_int_equal(remove(file_path(name)), 0);
    }
}

static void test_files(void **state) {
    (void)state;
    bad_load("gtx48", CONFIG_DIR, "no GPU is called 'gtx48'; did you mean 'gtx480'?");
    bad_load("unheard-of", CONFIG_DIR, CONFIG_DIR " has: ");
    bad_load("", CONFIG_DIR, "empty");
    bad_load("h200", "/nonexistent", "no GPU is called 'h200'");
    bad_load("./nothing.yaml", CONFIG_DIR, "cannot read './nothing.yaml'");
    bad_load("/dev/zero", CONFIG_DIR, "cannot read '/dev/zero': not a file");
    bad_load("/", CONFIG_DIR, "not a file");
    put_file("big.yaml", "");
    assert_int_equal(truncate(file_path("big.yaml"), 64 << 20), 0);
    bad_load(file_path("big.yaml"), CONFIG_DIR, "too large");
}

static void test_find_dir(void **state) {
    (void)state;
    struct str dir = {0};
    struct diag d = {0};
    make_empty();
    setenv("REPRISE_CONFIGS", folder, 1);
    put_file("h200.yaml", "sm.blocks: 7\n");
    assert_true(config_find_dir(&dir, &d));
    assert_string_equal(dir.at, folder);
    assert_true(config_load(&all, CONFIG_DEFAULT_GPU, NULL, NULL, &d));
    assert_int_equal(gpu().sm_blocks, 7);
    setenv("REPRISE_CONFIGS", "/nonexistent", 1);
    assert_false(config_load(&all, CONFIG_DEFAULT_GPU, NULL, NULL, &d));
    expect_words(&d, "REPRISE_CONFIGS: '/nonexistent' is not a folder");
    assert_int_equal(d.errors, 1);
    unsetenv("REPRISE_CONFIGS");
    str_free(&dir);
    diag_free(&d);
    assert_true(config_find_dir(&dir, &d)); /* beside this program, or what it was built with */
    assert_true(config_load(&all, "gtx480", NULL, NULL, &d));
    assert_int_equal(gpu().sm_blocks, 8);
    str_free(&dir);
    diag_free(&d);
}

/* ---- lists ------------------------------------------------------------------------------------------ */

static void expect_narrow(const char *text) {
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        if (n > 100)
            fail_msg("%zu columns: %.*s", n, (int)n, line);
        assert_true(n == 0 || line[n - 1] != ' ');
        line += n + (line[n] == '\n');
    }
}

static void test_lists(void **state) {
    (void)state;
    struct str s = {0};
    make_empty();
    config_list(&all, &s);
    expect_narrow(s.at);
    for (uint32_t i = 0; i < all.params.len; i++)
        assert_non_null(strstr(s.at, all.params.at[i]->path));
    assert_non_null(strstr(s.at, "\n  sm.shared              228K           a size, 1K to 4M bytes\n"));
    str_free(&s);
    config_list_gpus(&all, &s, CONFIG_DIR);
    expect_narrow(s.at);
    const char *fermi = strstr(s.at, "gtx480 "), *pascal = strstr(s.at, "gtx1080ti "),
               *hopper = strstr(s.at, "h200 ");
    assert_true(pascal && fermi && hopper && pascal < fermi && fermi < hopper);
    assert_non_null(strstr(hopper, "(default)"));
    str_free(&s);
    put_file("a.yaml", "sm.warps: x\n");
    config_list_gpus(&all, &s, folder);
    assert_non_null(strstr(s.at, "cannot be read:\n"));
    str_free(&s);
}

static void test_settings(void **state) {
    (void)state;
    const char *const set[] = {"l2.size=1M", NULL};
    good("clock.sm: 1000.5\n", set);
    struct config_setting s;
    uint32_t n = 0;
    while (config_setting_at(&all, n, &s))
        n++;
    assert_int_equal(n, all.params.len);
    setting_of("l2.size", &s);
    assert_string_equal(s.value, "1048576");
    assert_string_equal(s.origin, "--set");
    assert_int_equal(s.kind, CONFIG_NUMBER);
    setting_of("clock.sm", &s);
    assert_string_equal(s.value, "1000.5");
    assert_string_equal(s.origin, "t.yaml:1");
    setting_of("device.cc", &s);
    assert_string_equal(s.value, "9.0");
    assert_string_equal(s.origin, "default");
    assert_int_equal(s.kind, CONFIG_TEXT);
}

static void test_info(void **state) {
    (void)state;
    struct gpu_config c = load("gtx480");
    struct rp_gpu_info i;
    config_info(&c, &i);
    assert_string_equal(i.name, "NVIDIA GeForce GTX 480");
    assert_int_equal(i.cc_major * 10 + i.cc_minor, 90);
    assert_int_equal(i.warp_size, 32);
    assert_int_equal(i.max_threads_per_sm, 1536);
    assert_int_equal(i.max_regs_per_thread, 63);
    assert_int_equal(i.max_block[2], 64);
    assert_int_equal(i.clock_khz, 1401000);
    assert_int_equal(i.mem_bus_bits, 384);
    assert_int_equal(i.l2_bytes, 768 << 10);
}

/* ---- occupancy -------------------------------------------------------------------------------------- */

struct occupancy_case {
    uint32_t threads, regs, shared;
    int blocks;
};

static void expect_occupancy(const char *gpu, const struct occupancy_case *cases, size_t n) {
    struct gpu_config c = load(gpu);
    for (size_t i = 0; i < n; i++) {
        const struct occupancy_case *x = &cases[i];
        int blocks = config_occupancy(&c, x->threads, x->regs, x->shared);
        if (blocks != x->blocks)
            fail_msg("%s: %u threads, %u registers, %u shared: %d blocks, not %d", gpu, x->threads, x->regs,
                     x->shared, blocks, x->blocks);
    }
}

/* Compute capability 2.0, column of NVIDIA's occupancy calculator. */
static void test_occupancy_fermi(void **state) {
    (void)state;
    static const struct occupancy_case cases[] = {
        {256, 20, 0, 6},     /* 48 warps: all */
        {256, 21, 0, 5},     /* 704 registers a warp: 46 warps */
        {256, 32, 0, 4},     /* 32 warps */
        {256, 63, 0, 2},     /* 2016 registers round up to 2048: 16 warps */
        {192, 20, 0, 8},     /* blocks limit, exactly all warps */
        {64, 16, 0, 8},      /* blocks limit */
        {1024, 20, 0, 1},    /* 32 of 48 warps */
        {1024, 32, 0, 1},    /* the whole register file */
        {1024, 33, 0, 0},    /* one block does not fit */
        {512, 20, 0, 3},     /* */
        {768, 20, 0, 2},     /* */
        {96, 34, 0, 8},      /* 1088 registers a warp: 30 warps, 10 blocks, but 8 at most */
        {224, 36, 0, 4},     /* 1152: 28 warps, 4 blocks of 7 */
        {128, 16, 12288, 4}, /* shared: 48 KB / 12 KB */
        {128, 16, 12289, 3}, /* rounded up to 128 bytes: 12416 */
        {128, 16, 49152, 1}, /* */
        {128, 16, 49153, 0}, /* more than a block may have */
        {256, 64, 0, 0},     /* more registers than a thread may have */
        {1025, 16, 0, 0},    /* */
        {0, 16, 0, 0},       /* */
        {1, 0, 0, 8},        /* no registers at all */
    };
    expect_occupancy("gtx480", cases, sizeof cases / sizeof *cases);
}

/* What the tables of the papers say. */
static void test_papers(void **state) {
    (void)state;
    struct gpu_config c = load("wir");
    assert_true(c.clock_sm == 700 && c.clock_icnt == 700 && c.clock_l2 == 700 && c.clock_dram == 2 * 924);
    assert_true(c.device_sms == 15 && c.issue_schedulers == 2 && c.issue_policy == SCHEDULER_GTO);
    assert_true(c.sm_registers == 1024 * 32 && c.sm_warps == 48 && c.sm_blocks == 8 &&
                c.sm_shared == 48 << 10);
    assert_true(c.l1_size == 32 << 10 && c.l1_ways == 4 && c.l1_mshrs == 64);
    assert_true(c.texcache_size == 12 << 10 && c.constcache_size == 8 << 10 && c.icache_size == 2 << 10);
    assert_true(c.icnt_sm_bytes == 32 && c.icnt_l2_bytes == 32 && c.l2_partitions == 6 && c.l2_ways == 8);
    assert_true(c.l2_size == 6 * (128 << 10) && c.dram_queue == 32 && c.rf_banks == 8 && c.rf_dual_port);
    c = load("gscalar");
    assert_true(c.clock_sm == 1400 && c.clock_icnt == 700 && c.device_sms == 15 && c.sm_threads == 1536);
    assert_true(c.rf_banks == 16 && !c.rf_dual_port && c.rf_collectors == 16 && c.unit_sp_lanes == 16);
    assert_true(c.unit_sp == 2 && c.unit_sfu_lanes == 4 && c.unit_mem_lanes == 16 && c.l1_size == 16 << 10);
    assert_true(c.l2_size == 768 << 10 && c.l2_partitions == 6 && c.sm_blocks == 8 &&
                c.issue_schedulers == 2);
    c = load("lnl");
    assert_true(c.clock_sm == 1400 && c.device_sms == 15 && c.sm_warps == 48 && c.sm_blocks == 8);
    assert_true(c.fetch_buffer == 2 && c.rf_collectors == 16 && c.l1_size == 16 << 10 &&
                c.l2_size == 768 << 10);
    c = load("cmrc");
    assert_true(c.device_sms == 16 && c.sm_warps == 48 && c.rf_banks == 4 && !c.rf_dual_port);
    assert_true(c.rf_collectors == 4 && c.rf_mapping == RF_WID && c.l1_size == 16 << 10);
    assert_true(c.sm_shared == 48 << 10 && c.l2_size == 768 << 10 && c.sm_registers == 32768);
    c = load("dac");
    assert_true(c.device_sms == 15 && c.issue_policy == SCHEDULER_TWO_LEVEL && c.l1_size == 48 << 10);
    assert_true(c.l1_ways == 4 && c.l1_mshrs == 32 && c.l2_size == 768 << 10 && c.l2_partitions == 6);
    assert_true(c.l2_ways == 8 && c.unit_sp == 2 && c.unit_sp_lanes == 16);
    c = load("darsie");
    assert_true(c.device_architecture == ARCH_PASCAL && c.device_sms == 28 && c.sm_warps == 64);
    assert_true(c.sm_blocks == 32 && c.sm_registers == 2048 * 32 && c.sm_shared == 96 << 10);
    assert_true(c.issue_schedulers == 4 && c.issue_width == 2 && c.issue_policy == SCHEDULER_GTO);
    assert_true(c.fetch_groups == 1 && c.fetch_buffer == 2 && c.unit_sp_lanes == 32);
}

/* Compute capability 6.1. */
static void test_occupancy_pascal(void **state) {
    (void)state;
    static const struct occupancy_case cases[] = {
        {256, 32, 0, 8},     /* all 64 warps */
        {256, 33, 0, 6},     /* 1280 registers a warp: 51 warps, 48 in whole rounds of 4 */
        {256, 40, 0, 6},     /* the same */
        {256, 41, 0, 5},     /* 1536: 42 warps, 40 */
        {256, 64, 0, 4},     /* 32 warps */
        {256, 255, 0, 1},    /* 8192: 8 warps */
        {1024, 64, 0, 1},    /* */
        {1024, 65, 0, 0},    /* */
        {64, 32, 0, 32},     /* blocks limit, exactly all warps */
        {32, 32, 0, 32},     /* blocks limit */
        {96, 40, 0, 16},     /* 48 warps, 16 blocks of 3 */
        {128, 32, 49152, 2}, /* 96 KB on the SM */
        {128, 32, 24576, 4}, /* */
        {128, 32, 24577, 3}, /* rounded up to 256 bytes */
        {128, 32, 49153, 0}, /* */
    };
    expect_occupancy("gtx1080ti", cases, sizeof cases / sizeof *cases);
}

/* Compute capability 9.0: against the answers of a real GPU. */
static void test_occupancy_hopper(void **state) {
    (void)state;
#define ROW(...)
#define SHARED(...) static const uint32_t shared[] = {__VA_ARGS__};
#include "occupancy_h200.def"
#undef SHARED
#undef ROW
    enum { SIZES = sizeof shared / sizeof *shared };
    static const struct {
        uint32_t regs, threads;
        int blocks[SIZES];
    } rows[] = {
#define SHARED(...)
#define ROW(regs, threads, ...) {regs, threads, {__VA_ARGS__}},
#include "occupancy_h200.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < SIZES; k++) {
            struct occupancy_case x = {rows[i].threads, rows[i].regs, shared[k], rows[i].blocks[k]};
            expect_occupancy("h200", &x, 1);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_owners),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_value_edges),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_all_errors),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_inherit),
        cmocka_unit_test(test_inherit_errors),
        cmocka_unit_test(test_inherit_depth),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_find_dir),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_occupancy_fermi),
        cmocka_unit_test(test_papers),
        cmocka_unit_test(test_occupancy_pascal),
        cmocka_unit_test(test_occupancy_hopper),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
