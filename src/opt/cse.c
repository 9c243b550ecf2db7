/* Common subexpressions: an operation on the same values as one that dominates it becomes a copy of its
 * result.
 *
 * A table scoped by the dominator tree holds what has been computed. Values that are written once stand for
 * themselves; others carry the place of their last write, or the block they enter, so that they match only
 * where they cannot have changed. Loads are left alone, except from constant banks. */
#include <string.h>

#include "base/map.h"
#include "opt/walk.h"

struct key_opd {
    uint8_t kind, mod, bank, pad[5];
    uint64_t value, version;
};

/* What makes two instructions compute the same. Compared as bytes, so it has no unset padding. */
struct key {
    uint16_t op;
    uint8_t nsrc, results;
    int32_t imm;
    struct imods m;
    uint8_t pad[8 - sizeof(struct imods) % 8];
    struct key_opd src[4], psrc[2];
};

struct entry {
    struct key key;
    struct def_site site;
    uint32_t bucket, next; /* the entry below in its bucket */
};

struct insertion {
    struct def_site after;
    struct inst i;
};

/* Entries from here on belong to what block dominates. */
struct scope {
    uint32_t block, entries;
};

struct cse {
    struct walk w;
    VEC(struct entry) entries;
    uint32_t *heads, mask;
    VEC(struct scope) scopes;
    VEC(struct insertion) added;
    bool changed;
};

static bool changes_by_itself(const struct inst *i) {
    static const bool fixed[SR_COUNT] = {
        [SR_TID_X] = true,       [SR_TID_Y] = true,       [SR_TID_Z] = true,       [SR_CTAID_X] = true,
        [SR_CTAID_Y] = true,     [SR_CTAID_Z] = true,     [SR_LANEID] = true,      [SR_WARPID] = true,
        [SR_NWARPID] = true,     [SR_GRIDID] = true,      [SR_LANEMASK_EQ] = true, [SR_LANEMASK_LT] = true,
        [SR_LANEMASK_LE] = true, [SR_LANEMASK_GT] = true, [SR_LANEMASK_GE] = true, [SR_DYN_SMEM] = true,
        [SR_DYN_SIZE] = true,    [SR_TOTAL_SMEM] = true,
    };
    return i->op == OP_S2R && (i->m.mode >= SR_COUNT || !fixed[i->m.mode]);
}

static bool eligible(const struct inst *i) {
    uint8_t form = op_info[i->op].form;
    if (!inst_is_pure(i) || i->frame || (op_info[i->op].flags & OPF_CROSS) || changes_by_itself(i))
        return false;
    if (form == FORM_MEM)
        return i->op == OP_LDC;
    if (form == FORM_TEX || form == FORM_WARP || form == FORM_CTRL || form == FORM_FN_P2R ||
        form == FORM_FN_R2P)
        return false;
    return i->op != OP_MOV || is_const(&i->src[0]);
}

static uint64_t version_of(const struct walk *w, uint32_t value) {
    if (!w->d.count[value])
        return 0;
    if (w->d.count[value] == 1 && dom_site(&w->dom, w->d.site[value], w->block, w->index))
        return 0;
    if (w->stamp[value] == w->block + 1)
        return ((uint64_t)w->block + 1) << 32 | (w->last[value] + 1);
    return ((uint64_t)w->block + 1) << 32;
}

static void key_of_opd(const struct walk *w, struct key_opd *k, const struct opd *o, uint32_t words) {
    k->kind = o->kind;
    k->mod = o->mod;
    k->bank = o->kind == O_CONST ? o->bank : 0;
    if (o->kind != O_REG || is_rz(o)) {
        k->value = o->v;
        return;
    }
    k->value = value_of_opd(&w->d.v, o);
    for (uint32_t n = 0; n < words; n++)
        k->version = k->version * UINT64_C(0x9e3779b97f4a7c15) + version_of(w, (uint32_t)k->value + n);
}

static struct key key_of(const struct walk *w, const struct inst *i) {
    struct key k;
    memset(&k, 0, sizeof k);
    k.op = i->op;
    k.nsrc = i->nsrc;
    k.imm = i->imm;
    memcpy(&k.m, &i->m, sizeof k.m);
    k.results = (uint8_t)((i->dst.kind == O_REG && !is_rz(&i->dst)) | (i->pdst[0].id != VPRED_PT) << 1 |
                          (i->pdst[1].id != VPRED_PT) << 2);
    for (uint32_t s = 0; s < i->nsrc; s++)
        key_of_opd(w, &k.src[s], &i->src[s], inst_src_words(i, s));
    for (uint32_t n = 0; n < 2; n++) {
        k.psrc[n].mod = i->psrc[n].neg;
        k.psrc[n].value = i->psrc[n].id;
        if (i->psrc[n].id != VPRED_PT)
            k.psrc[n].version = version_of(w, value_of_pred(&w->d.v, i->psrc[n].id));
    }
    return k;
}

/* True when everything the instruction at site wrote is still there. */
static bool results_hold(const struct walk *w, struct def_site site) {
    struct span span[MAX_SPANS];
    uint32_t n = inst_writes(&w->d.v, &w->f->blocks.at[site.block].insts.at[site.index], span);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < span[k].n; j++) {
            struct def_site at;
            if (!walk_def(w, span[k].first + j, &at) || at.block != site.block || at.index != site.index)
                return false;
        }
    return n > 0;
}

static void leave_scopes(struct cse *c) {
    while (c->scopes.len && !dom_block(&c->w.dom, c->scopes.at[c->scopes.len - 1].block, c->w.block)) {
        uint32_t keep = c->scopes.at[--c->scopes.len].entries;
        while (c->entries.len > keep) {
            const struct entry *e = &c->entries.at[--c->entries.len];
            c->heads[e->bucket] = e->next;
        }
    }
    if (!c->scopes.len || c->scopes.at[c->scopes.len - 1].block != c->w.block)
        vec_push(&c->scopes, (struct scope){c->w.block, c->entries.len});
}

static struct inst copy_word(const struct inst *like, struct opd d, struct opd s) {
    struct inst i = inst_new(OP_MOV);
    i.guard = like->guard;
    inst_from(&i, like);
    i.dst = d;
    i.nsrc = 1;
    i.src[0] = s;
    return i;
}

static struct inst copy_pred(const struct inst *like, uint32_t d, uint32_t s) {
    struct inst i = copy_word(like, (struct opd){0}, (struct opd){0});
    i.op = OP_PLOP;
    i.nsrc = 0;
    i.m.bop = BOOL_AND;
    i.pdst[0].id = d;
    i.psrc[0].id = s;
    return i;
}

/* Makes i copies of what e made: the first in its place, the others behind it. */
static void replace(struct cse *c, struct inst *i, const struct inst *e) {
    struct inst copies[10], old = *i;
    uint32_t n = 0;
    if (old.dst.kind == O_REG && !is_rz(&old.dst))
        for (uint32_t w = 0; w < inst_dst_words(&old); w++)
            copies[n++] =
                copy_word(&old, opd_reg(old.dst.v, old.dst.word + w), opd_reg(e->dst.v, e->dst.word + w));
    for (uint32_t k = 0; k < 2; k++)
        if (old.pdst[k].id != VPRED_PT)
            copies[n++] = copy_pred(&old, old.pdst[k].id, e->pdst[k].id);
    struct span span[MAX_SPANS];
    uint32_t count = inst_writes(&c->w.d.v, &old, span);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t w = 0; w < span[k].n; w++) {
            c->w.stamp[span[k].first + w] = c->w.block + 1;
            c->w.last[span[k].first + w] = c->w.index;
        }
    *i = copies[0];
    for (uint32_t k = 1; k < n; k++)
        vec_push(&c->added, (struct insertion){{c->w.block, c->w.index}, copies[k]});
    c->changed = true;
}

static void visit(struct cse *c, struct inst *i) {
    if (!eligible(i))
        return;
    struct key k = key_of(&c->w, i);
    uint32_t bucket = (uint32_t)hash_bytes(&k, sizeof k) & c->mask;
    for (uint32_t e = c->heads[bucket]; e != NONE; e = c->entries.at[e].next) {
        if (memcmp(&c->entries.at[e].key, &k, sizeof k) || !results_hold(&c->w, c->entries.at[e].site))
            continue;
        struct def_site at = c->entries.at[e].site;
        if (i->op != OP_MOV || c->w.f->blocks.at[at.block].depth <= c->w.f->blocks.at[c->w.block].depth)
            replace(c, i, &c->w.f->blocks.at[at.block].insts.at[at.index]);
        return;
    }
    if (is_guarded(i))
        return;
    vec_push(&c->entries, (struct entry){k, {c->w.block, c->w.index}, bucket, c->heads[bucket]});
    c->heads[bucket] = c->entries.len - 1;
}

/* Puts the extra copies behind the instructions that they belong to; they are in walk order. */
static void insert_added(struct cse *c) {
    struct fn *f = c->w.f;
    for (uint32_t k = 0; k < c->added.len;) {
        uint32_t block = c->added.at[k].after.block, end = k;
        while (end < c->added.len && c->added.at[end].after.block == block)
            end++;
        struct block *b = &f->blocks.at[block];
        uint32_t extra = end - k, from = b->insts.len;
        vec_reserve(&b->insts, b->insts.len + extra);
        b->insts.len += extra;
        uint32_t to = b->insts.len;
        for (uint32_t n = end; n-- > k;) {
            while (from > c->added.at[n].after.index + 1)
                b->insts.at[--to] = b->insts.at[--from];
            b->insts.at[--to] = c->added.at[n].i;
        }
        k = end;
    }
}

bool opt_cse(struct program *p, struct fn *f) {
    (void)p;
    struct cse c = {0};
    walk_begin(&c.w, f);
    uint32_t total = 64;
    for (uint32_t b = 0; b < f->blocks.len; b++)
        total += f->blocks.at[b].insts.len;
    c.mask = 64;
    while (c.mask < total)
        c.mask *= 2;
    c.heads = arena_array(&c.w.arena, uint32_t, c.mask);
    memset(c.heads, 0xff, c.mask * sizeof *c.heads);
    c.mask--;
    for (struct inst *i; (i = walk_next(&c.w));) {
        leave_scopes(&c);
        visit(&c, i);
    }
    insert_added(&c);
    vec_free(&c.entries);
    vec_free(&c.scopes);
    vec_free(&c.added);
    walk_end(&c.w);
    return c.changed;
}
