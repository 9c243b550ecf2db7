/* Races in words, one for each pair of source lines. */
#include <inttypes.h>

#include "sanitize/race.h"

/* The first instruction of the same source line, so that unrolled code counts as one. */
static uint32_t line_pc(struct racecheck *r, uint32_t pc) {
    const struct program *p = r->x->img->prog;
    if (pc >= p->ncode)
        return pc;
    if (!r->line_pc) {
        struct map lines = {0};
        r->line_pc = xcalloc(p->ncode, sizeof *r->line_pc);
        for (uint32_t i = 0; i < p->ncode; i++) {
            uint64_t key = (uint64_t)p->code[i].dbg_file << 32 | p->code[i].dbg_line;
            uintptr_t first = p->code[i].dbg_line ? (uintptr_t)map_get_u64(&lines, key) : i + UINT64_C(1);
            if (!first) {
                first = i + UINT64_C(1);
                map_set_u64(&lines, key, (void *)first);
            }
            r->line_pc[i] = (uint32_t)first - 1;
        }
        map_free(&lines);
    }
    return r->line_pc[pc];
}

static const char *name_of(bool write, bool atomic, bool pending) {
    return pending ? "Asynchronous copy" : atomic ? "Atomic access" : write ? "Write access" : "Read access";
}

/* Threads of a past access, in words. */
static void describe_past(const struct racecheck *r, const struct past *p, struct str *text) {
    const struct exec *x = r->x;
    if (p->kind == PAST_MANY || p->kind == PAST_BLOCKS) {
        str_printf(text, "threads of several blocks");
        return;
    }
    uint32_t g = p->block,
             block[3] = {g % x->grid[0], g / x->grid[0] % x->grid[1], g / x->grid[0] / x->grid[1]};
    if (p->kind == PAST_WARPS) {
        str_printf(text, "threads of several warps in block (%u,%u,%u)", block[0], block[1], block[2]);
        return;
    }
    uint32_t t = p->warp * WARP_LANES + (uint32_t)__builtin_ctz(p->mask ? p->mask : 1);
    str_printf(text, "thread (%u,%u,%u)%s in block (%u,%u,%u)", t % x->block[0],
               t / x->block[0] % x->block[1], t / (x->block[0] * x->block[1]),
               p->mask & (p->mask - 1) ? " and others of its warp" : "", block[0], block[1], block[2]);
}

void race_report(struct racecheck *r, const struct access *a, uint32_t lane, const struct past *p,
                 bool past_write, const struct past *now) {
    uint64_t first = (uint64_t)line_pc(r, p->pc) << 1 | past_write,
             second = (uint64_t)line_pc(r, now->pc) << 1 | a->write;
    bool shared = a->t.shared >> lane & 1;
    /* The same two in the other order are the same race. */
    uint64_t key = (uint64_t)RP_RACECHECK << 48 | (uint64_t)shared << 44 | (uint64_t)p->pending << 43 |
                   (first < second ? first << 21 | second : second << 21 | first);
    struct finding *f = finding_add(r->s, key, true);
    if (!f)
        return;
    struct str *text = &f->text;
    r->s->races++;
    if (!past_write && a->atomic)
        f->before_atomic = p->pc + 1u;
    if (p->atomic && !a->write)
        f->before_atomic = now->pc + 1u;
    str_printf(text, "========= Error: Race reported between %s at ",
               name_of(past_write, p->atomic, p->pending));
    describe_pc(r->x, p->pc, text);
    str_printf(text, "\n=========     and %s at ", name_of(a->write, a->atomic, a->async));
    describe_pc(r->x, now->pc, text);
    text = &f->rest;
    str_printf(text, "=========     in %s memory at 0x%" PRIx64 ": by ", shared ? "__shared__" : "__global__",
               a->t.at[lane]);
    describe_past(r, p, text);
    str_printf(text, ", then by ");
    describe_past(r, now, text);
    str_printf(text, "\n");
    finding_end(r->s, text);
}
