#include "cpu/cputrace.h"

#include <string.h>

#include "cpu/exec.h"
#include "cpu/hpi.h"

enum { FIRST_DEPTH = 1 << 16 };

/* ---- while the program runs ---- */

static uint32_t last_store(const struct cputrace *t, uint64_t ea) {
    uintptr_t n = (uintptr_t)map_get_u64(&t->stored, ea >> 3);
    return n ? (uint32_t)n - 1 : NO_VERTEX;
}

static void note_store(struct cputrace *t, uint64_t ea, uint32_t size, uint32_t vertex) {
    for (uint64_t at = ea >> 3; at <= (ea + size - 1) >> 3; at++)
        map_set_u64(&t->stored, at, (void *)(uintptr_t)(vertex + 1));
}

static void record(struct cputrace *t, const struct cputrace_code *c, const struct cpu *cpu) {
    uint64_t ea = cpu->ea;
    uint32_t number = t->at.len;
    struct cputrace_vertex v = {.code = (uint32_t)(c - t->code.at),
                                .depth = t->depth,
                                .mem = NO_VERTEX,
                                .last_reader = NO_VERTEX,
                                .ea = c->is_load || c->is_store ? ea : 0};
    for (uint32_t k = 0; k < A64_MAX_USES; k++)
        v.src[k] = k < c->uses.nsrc ? t->writer[c->uses.src[k]] : NO_VERTEX;
    for (uint32_t k = 0; k < 2 && k < c->uses.ndst; k++) {
        uint32_t r = c->uses.dst[k];
        v.value[k] = c->is_branch || c->class == CLASS_DIV ? ~(uint64_t)number
                     : r >= A64_V0                         ? cpu->v[r - A64_V0].d[0]
                     : r < A64_XREGS                       ? cpu->x[r]
                                                           : cpu->nzcv;
    }
    if (c->is_load) {
        v.mem = last_store(t, ea);
        for (uint64_t at = ea; at < ea + c->size; at += 8) {
            uint32_t from = last_store(t, at);
            if (from != NO_VERTEX)
                t->at.at[from].last_reader = number;
        }
    }
    if (c->is_store)
        note_store(t, ea, c->size, number);
    for (uint32_t k = 0; k < c->uses.ndst; k++)
        t->writer[c->uses.dst[k]] = number;
    t->depth += c->is_call;
    t->depth -= c->is_return;
    t->weight += c->latency;
    struct cputrace_code *x = &t->code.at[v.code];
    if (x->times < TRACE_FIRST)
        x->first[x->times] = number;
    x->times++;
    vec_push(&t->at, v);
}

EXEC(traced) {
    struct cputrace *t = c->watch.ctx;
    record(t, &t->code.at[(uintptr_t)i->note - 1], c);
    if (t->at.len >= t->limit) {
        t->full = true;
        return cpu_pause(c, i + 1);
    }
    NEXT;
}

static void describe(void *ctx, uint32_t word, uint64_t pc, const struct a64_inst *i, struct a64_inst *note) {
    struct cputrace *t = ctx;
    note->fn = traced;
    note->note = map_get_u64(&t->by_pc, pc);
    if (note->note)
        return;
    struct arena arena = {0};
    struct hpi core = {.cfg = t->cfg, .arena = &arena};
    const struct hpi_inst *h = hpi_describe(&core, word, pc, i);
    struct cputrace_code c = {.pc = pc,
                              .word = word,
                              .op = i->op,
                              .class = h->class,
                              .latency = h->latency,
                              .size = h->size,
                              .is_load = h->is_load,
                              .is_store = h->is_store,
                              .is_branch = h->is_branch,
                              .is_call = i->op == A64_BL || i->op == A64_BLR,
                              .is_return = i->op == A64_RET};
    a64_uses(word, &c.uses);
    arena_free(&arena);
    vec_push(&t->code, c);
    map_set_u64(&t->by_pc, pc, (void *)(uintptr_t)t->code.len);
    note->note = (const void *)(uintptr_t)t->code.len;
}

void cputrace_run(struct cputrace *t, struct guest *g, const struct cpu_config *cfg, uint32_t limit,
                  bool region, uint64_t skip) {
    *t = (struct cputrace){.space = &g->space, .cfg = cfg, .limit = limit, .depth = FIRST_DEPTH};
    t->functions = xcalloc(1, sizeof *t->functions);
    for (uint32_t k = 0; k < A64_REGS; k++)
        t->writer[k] = NO_VERTEX;
    g->cpu.marks = region;
    if (region)
        while (guest_run(g, UINT64_MAX) == CPU_MARK && g->cpu.mark != MARK_BEGIN)
            ;
    else if (skip)
        guest_run(g, skip);
    if (g->exited)
        return;
    g->cpu.watch = (struct cpu_watch){describe, t};
    cpu_forget_code(&g->cpu);
    t->tls = g->cpu.tpidr;
    guest_run(g, UINT64_MAX);
}

static void free_functions(struct map *m) {
    for (uint32_t k = 0; k < m->len; k++)
        free(m->entries[k].value);
    map_free(m);
    free(m);
}

void cputrace_free(struct cputrace *t) {
    vec_free(&t->code);
    vec_free(&t->at);
    map_free(&t->by_pc);
    map_free(&t->stored);
    free_functions(t->functions);
}

bool cputrace_reads_constant(const struct cputrace *t, const struct cputrace_vertex *v) {
    uint64_t page = v->ea >> PAGE_BITS;
    return t->code.at[v->code].is_load && page < SPACE_PAGES && !(t->space->perm[page] & PERM_WRITE);
}
