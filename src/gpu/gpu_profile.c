/* From counts of instructions to kernels and source lines. */
#include "gpu/gpu_profile.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/demangle.h"
#include "base/io.h"
#include "gpu/gpu.h"
#include "report/report.h"

/* What mechanisms could reach: names as of 'reprise list mechs', what they would save, and how much of it. */
static const struct {
    const char *name, *saves;
    size_t count, of; /* fields of struct survey_counts */
} reaches[] = {
#define REACH(name, saves, field, of)                                                                        \
    { name, saves, offsetof(struct survey_counts, field), offsetof(struct survey_counts, of) }
    REACH("wir", "executions, by reusing results", by_wir, insts),
    REACH("darsie", "fetches, by following another warp", by_darsie, insts),
    REACH("uv", "executions, of uniform repeats in a block", by_uv, insts),
    REACH("dac", "executions, by one affine warp for all", by_dac, insts),
    REACH("gscalar", "lanes, by computing on one of them", by_gscalar, insts),
#undef REACH
};
enum {
    REACHES = sizeof reaches / sizeof *reaches,
    WORTH = 20 /* a mechanism is named for a line of which it reaches at least one in so many */
};

static uint64_t field(const struct survey_counts *c, size_t offset) {
    return *(const uint64_t *)(const void *)((const char *)c + offset);
}

/* ---- texts ------------------------------------------------------------------------------------------- */

/* A string for JSON; names of files may have bytes that are no UTF-8. */
static json_t *words(const char *text, size_t len) {
    json_t *s = json_stringn(text, len);
    if (s)
        return s;
    char *copy = xmalloc(len + 1);
    for (size_t i = 0; i < len; i++)
        copy[i] = (char)(text[i] & 0x80 ? '?' : text[i]);
    s = json_stringn(copy, len);
    free(copy);
    return s;
}

static json_t *word(const char *text) {
    return words(text, strlen(text));
}

static json_t *integer(uint64_t v) {
    return json_integer((json_int_t)v);
}

/* The lines of a source file; NULL when there is no such file, or it is none that people read. */
static json_t *read_source(const char *path) {
    enum { MOST = 4 << 20 };
    FILE *f = fopen(path, "rb");
    char *text = f ? xmalloc(MOST) : NULL;
    size_t len = f ? fread(text, 1, MOST, f) : 0;
    if (f)
        fclose(f);
    bool good = f && len < MOST && !memchr(text, 0, len);
    json_t *lines = good ? json_array() : NULL;
    for (size_t at = 0; good && at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t n = end ? (size_t)(end - text) - at : len - at;
        json_array_append_new(lines, words(text + at, n && text[at + n - 1] == '\r' ? n - 1 : n));
        at += n + 1;
    }
    free(text);
    return lines;
}

/* The same, each file once; sources is an object by name, in which null stands for what cannot be read. */
static json_t *source_of(json_t *sources, const char *file) {
    json_t *name = word(file), *lines = json_object_get(sources, json_string_value(name));
    if (!lines) {
        lines = read_source(file);
        lines = lines ? lines : json_null();
        json_object_set_new(sources, json_string_value(name), lines);
    }
    json_decref(name);
    return lines;
}

/* ---- counts ------------------------------------------------------------------------------------------ */

/* Those that are not 0, or all. */
static json_t *counts_of(const struct survey_counts *c, bool all) {
    json_t *to = json_object();
    const struct survey_kind *k;
    for (uint32_t i = 0; (k = survey_kind(i)); i++)
        if (all || survey_count(c, k))
            json_object_set_new(to, k->name, integer(survey_count(c, k)));
    return to;
}

/* Mechanisms that would catch enough of it, those that would catch most first. */
static json_t *mechanisms_of(const struct survey_counts *c) {
    json_t *to = json_array();
    bool named[REACHES] = {false};
    for (;;) {
        uint32_t best = REACHES;
        for (uint32_t k = 0; k < REACHES; k++) {
            uint64_t n = field(c, reaches[k].count), all = field(c, reaches[k].of);
            if (!named[k] && n && n * WORTH >= all && (best == REACHES || n > field(c, reaches[best].count)))
                best = k;
        }
        if (best == REACHES)
            return to;
        named[best] = true;
        json_array_append_new(to, json_string(reaches[best].name));
    }
}

/* What redundancy a row of a profile has, to order by. */
static uint64_t weight(const struct survey_counts *c) {
    return c->old + c->one_lane;
}

static json_t *reason_of_inst(const struct survey_code *c, const struct survey_inst *i) {
    struct str text = {0};
    reason_print(&text, i->fact, c->block, i->origin);
    json_t *to = word(str_text(&text));
    str_free(&text);
    return to;
}

/* ---- lines ------------------------------------------------------------------------------------------- */

/* A source line of a kernel, where it was inlined in one way. */
struct line {
    const struct survey_inst *first, *hot; /* of its instructions; hot: with the most redundancy */
    struct survey_counts counts;
    uint64_t hottest;
    uint32_t n;
};
struct lines {
    VEC(struct line) at;
};

static bool has_source(const struct survey_inst *i) {
    return i->at.line != 0;
}

static bool same_place(const struct survey_inst *a, const struct survey_inst *b) {
    if (has_source(a) != has_source(b) || a->nvia != b->nvia)
        return false;
    if (!has_source(a))
        return a->ptx_line == b->ptx_line;
    bool same = a->at.line == b->at.line && !strcmp(a->at.file, b->at.file);
    for (uint32_t k = 0; same && k < a->nvia; k++)
        same = a->via[k].line == b->via[k].line && !strcmp(a->via[k].file, b->via[k].file);
    return same;
}

static struct line *line_of(struct lines *all, struct map *index, const struct survey_inst *i) {
    uint64_t key = has_source(i)
                       ? (uint64_t)i->at.line << 32 | hash_bytes(i->at.file, strlen(i->at.file)) >> 40
                       : (uint64_t)i->ptx_line << 32 | UINT32_MAX;
    for (uint32_t k = 0; k < i->nvia; k++)
        key = (key ^ i->via[k].line) * UINT64_C(0x9e3779b97f4a7c15);
    uintptr_t at = (uintptr_t)map_get_u64(index, key);
    if (at && same_place(all->at.at[at - 1].first, i))
        return &all->at.at[at - 1];
    vec_push(&all->at, (struct line){.first = i, .hot = i});
    map_set_u64(index, key, (void *)(uintptr_t)all->at.len);
    return &all->at.at[all->at.len - 1];
}

static int by_weight(const void *a, const void *b) {
    const struct line *x = a, *y = b;
    uint64_t wx = weight(&x->counts), wy = weight(&y->counts);
    if (wx != wy)
        return wx < wy ? 1 : -1;
    if (x->counts.insts != y->counts.insts)
        return x->counts.insts < y->counts.insts ? 1 : -1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void gather_lines(struct lines *all, const struct survey_code *c) {
    struct map index = {0};
    for (uint32_t pc = 0; pc < c->ncode; pc++) {
        if (!c->counts[pc].insts)
            continue;
        struct line *l = line_of(all, &index, &c->insts[pc]);
        survey_add(&l->counts, &c->counts[pc]);
        l->n++;
        if (weight(&c->counts[pc]) > l->hottest) {
            l->hottest = weight(&c->counts[pc]);
            l->hot = &c->insts[pc];
        }
    }
    map_free(&index);
    if (all->at.len)
        qsort(all->at.at, all->at.len, sizeof *all->at.at, by_weight);
}

/* Where an instruction is: a source line, or that of the PTX text. */
static void add_place(json_t *to, const struct survey_code *c, const struct survey_inst *i) {
    json_object_set_new(to, "file", has_source(i) ? word(i->at.file) : word(c->module));
    json_object_set_new(to, "line", integer(has_source(i) ? i->at.line : i->ptx_line));
    if (!i->nvia)
        return;
    json_t *via = json_array();
    for (uint32_t k = 0; k < i->nvia; k++)
        json_array_append_new(
            via, json_pack("{s:o, s:I}", "file", word(i->via[k].file), "line", (json_int_t)i->via[k].line));
    json_object_set_new(to, "inlined_at", via);
}

static json_t *line_json(json_t *sources, const struct survey_code *c, const struct line *l) {
    json_t *to = json_object(), *text = NULL;
    add_place(to, c, l->first);
    if (has_source(l->first)) {
        for (uint32_t k = 0; k < l->first->nvia; k++)
            source_of(sources, l->first->via[k].file);
        text = json_incref(json_array_get(source_of(sources, l->first->at.file), l->first->at.line - 1));
    } else {
        text = word(l->first->ptx_text);
    }
    if (text)
        json_object_set_new(to, "text", text);
    json_object_set_new(to, "insts", integer(l->n));
    json_object_set_new(to, "counts", counts_of(&l->counts, false));
    json_object_set_new(to, "reason", reason_of_inst(c, l->hot));
    json_object_set_new(to, "mechanisms", mechanisms_of(&l->counts));
    return to;
}

/* ---- kernels ----------------------------------------------------------------------------------------- */

static json_t *inst_json(const struct survey_code *c, uint32_t pc) {
    const struct survey_inst *i = &c->insts[pc];
    const struct survey_counts *n = &c->counts[pc];
    json_t *to = json_pack("{s:I, s:o, s:I}", "pc", (json_int_t)pc * INST_BYTES, "text", word(i->text),
                           "ptx_line", (json_int_t)i->ptx_line);
    add_place(to, c, i);
    json_object_set_new(to, "counts", counts_of(n, false));
    json_object_set_new(to, "reason", reason_of_inst(c, i));
    json_object_set_new(to, "mechanisms", mechanisms_of(n));
    return to;
}

/* What of the code is affine, executed or not (DAC, Figure 6). */
static json_t *static_json(const struct reason_static *n) {
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "insts", (json_int_t)n->insts, "affine.operands",
                     (json_int_t)n->operands, "addresses", (json_int_t)n->addresses, "affine.addresses",
                     (json_int_t)n->affine_addresses, "predicates", (json_int_t)n->predicates,
                     "affine.predicates", (json_int_t)n->affine_predicates);
}

static json_t *dims(const uint32_t d[3]) {
    return json_pack("[I, I, I]", (json_int_t)d[0], (json_int_t)d[1], (json_int_t)d[2]);
}

static json_t *kernel_json(json_t *sources, const struct survey_code *c, struct survey_counts *totals) {
    struct survey_counts all = {0};
    struct lines lines = {0};
    json_t *list = json_array(), *insts = json_array();
    for (uint32_t pc = 0; pc < c->ncode; pc++) {
        survey_add(&all, &c->counts[pc]);
        json_array_append_new(insts, inst_json(c, pc));
    }
    survey_add(totals, &all);
    gather_lines(&lines, c);
    for (uint32_t k = 0; k < lines.at.len; k++)
        json_array_append_new(list, line_json(sources, c, &lines.at.at[k]));
    vec_free(&lines.at);
    char *plain = demangle(c->name);
    json_t *to = json_pack("{s:o, s:o, s:I, s:I, s:o, s:o}", "name", word(c->name), "module", word(c->module),
                           "launches", (json_int_t)c->launches, "blocks", (json_int_t)c->blocks, "grid",
                           dims(c->grid), "block", dims(c->block));
    if (plain)
        json_object_set_new(to, "demangled", word(plain));
    if (c->cycles)
        json_object_set_new(to, "cycles", integer(c->cycles));
    if (c->untracked)
        json_object_set_new(to, "untracked", integer(c->untracked));
    json_object_set_new(to, "counts", counts_of(&all, true));
    json_object_set_new(to, "static", static_json(&c->affine));
    json_object_set_new(to, "lines", list);
    json_object_set_new(to, "insts", insts);
    free(plain);
    return to;
}

static json_t *kinds_json(void) {
    json_t *to = json_array();
    const struct survey_kind *k;
    for (uint32_t i = 0; (k = survey_kind(i)); i++)
        json_array_append_new(
            to, json_pack("{s:s, s:s, s:s}", "name", k->name, "unit", k->unit, "meaning", k->meaning));
    return to;
}

static json_t *mechanisms_json(const struct survey_counts *c) {
    json_t *to = json_array();
    for (uint32_t k = 0; k < REACHES; k++)
        json_array_append_new(to,
                              json_pack("{s:s, s:s, s:I}", "name", reaches[k].name, "saves", reaches[k].saves,
                                        "reaches", (json_int_t)field(c, reaches[k].count)));
    return to;
}

bool gpu_profile_write(const struct rp_gpu *g, const char *incomplete, const char *path) {
    if (!g->survey)
        return true;
    struct survey_counts totals = {0};
    json_t *kernels = json_array(), *sources = json_object();
    const struct survey_code *c;
    for (uint32_t i = 0; (c = survey_code(g->survey, i)); i++)
        json_array_append_new(kernels, kernel_json(sources, c, &totals));
    double seconds = g->totals.host_s;
    json_t *all = json_pack(
        "{s:i, s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", 1, "kind", "profile", "gpu",
        g->info.name, "timed", !g->opt.functional, "kinds", kinds_json(), "totals", counts_of(&totals, true),
        "mechanisms", mechanisms_json(&totals), "kernels", kernels, "sources", sources, "host",
        report_host_json(&(struct report_host){
            seconds, seconds > 0 ? (double)g->totals.warp_insts / seconds : 0.0, "warp_insts_per_s"}));
    if (all && incomplete)
        json_object_set_new(all, "incomplete", json_string(incomplete));
    struct io_file f;
    bool ok = all && io_begin(&f, path);
    ok = ok && io_end(&f, !json_dumpf(all, f.to, JSON_INDENT(1)));
    json_decref(all);
    return ok;
}
