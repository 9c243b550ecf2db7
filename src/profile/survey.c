/* What a survey keeps: codes and their descriptions, launches, blocks. */
#include "profile/survey.h"

#include <string.h>

#include "mech/uv/uv.h"
#include "profile/survey_launch.h"

static const struct survey_kind kinds[] = {
#define KIND(field, name, unit, meaning) {name, unit, meaning, offsetof(struct survey_counts, field)},
#include "profile/survey.def"
#undef KIND
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const struct survey_kind *survey_kind(uint32_t i) {
    return i < KINDS ? &kinds[i] : NULL;
}

void survey_add(struct survey_counts *to, const struct survey_counts *from) {
    for (uint32_t i = 0; i < KINDS; i++)
        *(uint64_t *)(void *)((char *)to + kinds[i].offset) += survey_count(from, &kinds[i]);
}

/* ---- codes ------------------------------------------------------------------------------------------- */

static char *keep(struct survey *s, const char *text, size_t len) {
    return arena_strndup(&s->arena, text, len);
}

/* A line of the PTX text, without blanks around it. */
static const char *ptx_line(struct survey *s, const struct diag_source *ptx, uint32_t line) {
    if (!ptx || !ptx->lines || !line || line > ptx->nlines)
        return "";
    const char *from = ptx->text + ptx->lines[line - 1], *end = ptx->text + ptx->len;
    const char *to = memchr(from, '\n', (size_t)(end - from));
    to = to ? to : end;
    while (from < to && (*from == ' ' || *from == '\t'))
        from++;
    while (from < to && (to[-1] == '\r' || to[-1] == ' ' || to[-1] == '\t'))
        to--;
    return keep(s, from, (size_t)(to - from));
}

static struct survey_place place_at(struct survey *s, const struct exec *x, uint32_t file, uint32_t line) {
    const char *name = line && x->file_name ? x->file_name(x->names, file) : "";
    return (struct survey_place){keep(s, name, strlen(name)), line};
}

/* The calls through which an instruction came to where it is. */
static void describe_calls(struct survey *s, const struct exec *x, const struct survey_names *names,
                           const struct inst *in, struct survey_inst *to) {
    enum { MOST = 16 };
    struct survey_place via[MOST];
    uint32_t file, line, next = in->dbg_site;
    while (to->nvia < MOST && next && names->site && names->site(x->names, next, &file, &line, &next))
        via[to->nvia++] = place_at(s, x, file, line);
    to->via = arena_array(&s->arena, struct survey_place, to->nvia + 1);
    memcpy(to->via, via, to->nvia * sizeof *via);
}

static struct survey_inst describe(struct survey *s, const struct exec *x, const struct survey_names *names,
                                   uint32_t pc) {
    const struct inst *in = x->img->code[pc].in;
    struct survey_inst to = {.ptx_line = in->line,
                             .ptx_text = ptx_line(s, names->ptx, in->line),
                             .at = place_at(s, x, in->dbg_file, in->dbg_line),
                             .computes = compute_is(&x->img->code[pc])};
    struct str text = {0};
    ir_print_inst(&text, in);
    to.text = keep(s, str_text(&text), text.len);
    str_free(&text);
    describe_calls(s, x, names, in, &to);
    const struct reason_fact *f = reason_of(x->img->prog, in);
    if (f) {
        struct reason_fact *copy = arena_new(&s->arena, struct reason_fact);
        *copy = *f;
        to.fact = copy;
        to.origin = f->origin_line ? place_at(s, x, f->origin_file, f->origin_line).file : NULL;
    }
    return to;
}

static struct survey_code *find_code(struct survey *s, const struct exec *x,
                                     const struct survey_names *names) {
    const struct image *img = x->img;
    for (uint32_t k = s->codes.len; k--;)
        if (s->codes.at[k]->address == img->address)
            return s->codes.at[k];
    struct survey_code *c = arena_new(&s->arena, struct survey_code);
    const char *module = x->module_name ? x->module_name : "ptx";
    *c = (struct survey_code){.name = keep(s, img->prog->name, strlen(img->prog->name)),
                              .module = keep(s, module, strlen(module)),
                              .address = img->address,
                              .ncode = img->ncode,
                              .insts = arena_array(&s->arena, struct survey_inst, img->ncode + 1),
                              .counts = arena_array(&s->arena, struct survey_counts, img->ncode + 1)};
    for (uint32_t pc = 0; pc < img->ncode; pc++)
        c->insts[pc] = describe(s, x, names, pc);
    const struct reason_static *total = reason_total(img->prog);
    if (total)
        c->affine = *total;
    vec_push(&s->codes, c);
    return c;
}

const struct survey_code *survey_code(const struct survey *s, uint32_t i) {
    return i < s->codes.len ? s->codes.at[i] : NULL;
}

/* ---- blocks ------------------------------------------------------------------------------------------ */

static void block_begin(struct observer *o, struct cta *c) {
    struct survey_launch *s = (struct survey_launch *)o;
    const struct image *img = c->x->img;
    struct survey_block *b = c->observed;
    s->blocks++;
    if (!b) {
        b = c->observed = xcalloc(1, sizeof *b);
        *b = (struct survey_block){.warps = c->nwarps, .regs = img->prog->nregs, .ncode = img->ncode};
        b->values = xmalloc((size_t)b->warps * b->regs * sizeof *b->values);
        b->times = xmalloc((size_t)b->warps * b->ncode * sizeof *b->times);
        b->rings = xcalloc(b->ncode, sizeof *b->rings);
    }
    memset(b->values, 0, (size_t)b->warps * b->regs * sizeof *b->values);
    memset(b->times, 0, (size_t)b->warps * b->ncode * sizeof *b->times);
    for (uint32_t k = 0; k < b->ncode; k++)
        group_ring_reset(&b->rings[k]);
}

static void block_end(struct observer *o, struct cta *c) {
    (void)o;
    struct survey_block *b = c->observed;
    if (!b)
        return;
    for (uint32_t k = 0; k < b->ncode; k++)
        group_ring_free(&b->rings[k]);
    free(b->values);
    free(b->times);
    free(b->rings);
    free(b);
    c->observed = NULL;
}

/* ---- launches ---------------------------------------------------------------------------------------- */

/* Whose memory the addresses of a load are of. Generic ones may be of a warp's own. */
static void mark_load(const struct xinst *i, struct survey_mark *k) {
    enum opkey_basis basis = opkey_basis(i);
    k->load = basis == BASIS_MEMORY || basis == BASIS_CONSTANT;
    if (i->kind != X_LOAD && i->kind != X_LDSM)
        return;
    uint32_t space = i->kind == X_LDSM ? (uint32_t)MS_SHARED : i->in->m.space;
    k->by_block = space != MS_GLOBAL;
    k->by_warp = space == MS_LOCAL || space == MS_GENERIC;
}

static struct survey_mark mark_of(const struct survey_code *c, const struct exec *x, uint32_t pc) {
    const struct xinst *i = &x->img->code[pc];
    const struct reason_fact *f = c->insts[pc].fact;
    struct survey_mark k = {.compute = compute_mark(i),
                            .need = core_need(i),
                            .computes = compute_is(i),
                            .one = gscalar_class(i) != CLASS_NEVER,
                            .uv = uv_fits(i),
                            .darsie = reason_darsie(f, x->block),
                            .affine = f ? f->affine : 0};
    mark_load(i, &k);
    return k;
}

void survey_begin(struct survey *s, struct exec *x, const struct survey_names *names) {
    struct survey_launch *l = xcalloc(1, sizeof *l);
    struct survey_code *c = find_code(s, x, names);
    uint64_t threads = (uint64_t)x->block[0] * x->block[1] * x->block[2];
    *l = (struct survey_launch){.observer = {block_begin, block_end, survey_step, survey_settle},
                                .survey = s,
                                .code = c,
                                .room = SURVEY_GROUPS,
                                .id = ++s->begun};
    l->warps = (threads + WARP_LANES - 1) / WARP_LANES * x->grid[0] * x->grid[1] * x->grid[2];
    l->marks = arena_array(&l->arena, struct survey_mark, c->ncode + 1);
    for (uint32_t pc = 0; pc < c->ncode; pc++)
        l->marks[pc] = mark_of(c, x, pc);
    l->pool = arena_array(&l->arena, struct survey_value, x->img->pool.len + 1);
    for (uint32_t k = 0; k < x->img->pool.len; k++)
        l->pool[k] = survey_value(x->pool[k], UINT32_MAX);
    l->grid = arena_array(&l->arena, struct group_list, c->ncode + 1);
    memcpy(c->grid, x->grid, sizeof c->grid);
    memcpy(c->block, x->block, sizeof c->block);
    x->observer = &l->observer;
}

/* Counts what all warps of the grid did alike. */
static void count_grid(struct survey_launch *l) {
    for (uint32_t pc = 0; pc < l->code->ncode; pc++) {
        struct group_list *g = &l->grid[pc];
        char *counts = (char *)&l->code->counts[pc] + offsetof(struct survey_counts, grid_uniform);
        for (uint32_t n = 0; n < g->len; n++)
            if (!g->at[n].differ && g->at[n].n == l->warps)
                ((uint64_t *)(void *)counts)[g->at[n].form] += g->at[n].n;
        group_list_free(g);
    }
}

void survey_end(struct survey *s, struct exec *x, uint64_t cycles) {
    (void)s;
    struct survey_launch *l = (struct survey_launch *)x->observer;
    survey_settle(x->observer);
    count_grid(l);
    l->code->launches++;
    l->code->cycles += cycles;
    l->code->blocks += l->blocks;
    x->observer = NULL;
    arena_free(&l->arena);
    free(l);
}

/* ---- the whole --------------------------------------------------------------------------------------- */

static void on_event(struct probe *p, const struct probe_event *e) {
    (void)p;
    if (e->stream)
        return; /* not the program's */
    struct exec *x = e->warp->cta->x;
    struct warp *w = &e->warp->cta->warps[e->warp->index];
    if (e->kind == PROBE_ISSUE)
        survey_step(x->observer, x, w, &x->img->code[e->pc], w->stack[w->depth - 1].mask, e->mask);
    else
        survey_settle(x->observer);
}

enum { SHORT_WINDOW = 1000, LONG_WINDOW = 10000 }; /* in which repetitions are looked for */

struct survey *survey_create(uint32_t sms) {
    struct survey *s = xcalloc(1, sizeof *s);
    s->probe = (struct probe){.event = on_event, .kinds = 1u << PROBE_ISSUE | 1u << PROBE_EFFECT};
    s->sms = sms;
    s->spans = spans_create(sms, SHORT_WINDOW, LONG_WINDOW / SHORT_WINDOW);
    s->loads = xcalloc(SURVEY_LOADS, sizeof *s->loads);
    return s;
}

void survey_destroy(struct survey *s) {
    if (!s)
        return;
    spans_destroy(s->spans);
    free(s->loads);
    vec_free(&s->codes);
    arena_free(&s->arena);
    free(s);
}

struct probe *survey_probe(struct survey *s) {
    return &s->probe;
}
