/* From linked machine code to instructions whose operands are plain indices. */
#include <string.h>

#include "base/map.h"
#include "exec/warp.h"

static const uint8_t kinds[OP_COUNT] = {
    [OP_S2R] = X_S2R,       [OP_P2R] = X_P2R,           [OP_R2P] = X_R2P,         [OP_LD] = X_LOAD,
    [OP_ST] = X_STORE,      [OP_LDC] = X_LDC,           [OP_ATOM] = X_ATOM,       [OP_RED] = X_ATOM,
    [OP_LDGSTS] = X_LDGSTS, [OP_TEX] = X_TEX,           [OP_TXQ] = X_TEX,         [OP_SULD] = X_TEX,
    [OP_SUST] = X_TEX,      [OP_SURED] = X_TEX,         [OP_MEMBAR] = X_NOP,      [OP_CCTL] = X_NOP,
    [OP_CPCOMMIT] = X_NOP,  [OP_CPWAIT] = X_NOP,        [OP_ISSPACE] = X_ISSPACE, [OP_MBAR] = X_MBAR,
    [OP_SHFL] = X_SHFL,     [OP_VOTE] = X_VOTE,         [OP_MATCH] = X_MATCH,     [OP_REDUX] = X_REDUX,
    [OP_ELECT] = X_ELECT,   [OP_WARPSYNC] = X_WARPSYNC, [OP_BRA] = X_BRA,         [OP_BRX] = X_BRX,
    [OP_CALL] = X_CALL,     [OP_CALLI] = X_CALLI,       [OP_RET] = X_RET,         [OP_EXIT] = X_EXIT,
    [OP_BAR] = X_BAR,       [OP_TRAP] = X_TRAP,         [OP_NANOSLEEP] = X_NOP,   [OP_SYSCALL] = X_SYSCALL,
    [OP_NOP] = X_NOP,       [OP_LDSM] = X_LDSM,         [OP_STSM] = X_STSM,       [OP_MOVM] = X_MOVM,
    [OP_MMA] = X_MMA,       [OP_MMA884] = X_MMA,        [OP_ENQ] = X_QUEUE,       [OP_MARK] = X_QUEUE,
    [OP_APPROX] = X_QUEUE,
};

static uint32_t pool_index(struct image *img, struct map *seen, uint8_t bank, uint32_t v) {
    uint64_t key = (uint64_t)bank << 32 | v;
    uintptr_t known = (uintptr_t)map_get_u64(seen, key);
    if (!known) {
        vec_push(&img->pool, (struct pool_word){bank, v});
        known = img->pool.len;
        map_set_u64(seen, key, (void *)known);
    }
    return (uint32_t)(known - 1) | POOL;
}

static uint32_t word_index(struct image *img, struct map *seen, const struct opd *o, uint32_t w,
                           uint32_t words) {
    if (o->kind == O_CONST)
        return pool_index(img, seen, o->bank, o->v + 4 * w);
    if (o->kind == O_IMM) /* an immediate of two words is the upper half of a double */
        return pool_index(img, seen, BANK_COUNT, words == 2 && w == 0 ? 0 : o->v);
    if (o->v == VREG_RZ)
        return pool_index(img, seen, BANK_COUNT, 0);
    return o->v + w;
}

/* neg and abs act on the sign bit: of the only word, or of the upper word of a pair. */
static void set_mods(struct image *img, struct xinst *x, const struct opd *o, uint32_t first,
                     uint32_t words) {
    if (!o->mod)
        return;
    struct xmods *m = (struct xmods *)x->mods;
    if (!m) {
        m = arena_new(&img->arena, struct xmods);
        memset(m->and_mask, 0xff, sizeof m->and_mask);
        x->mods = m;
    }
    uint32_t k = first + words - 1;
    m->words |= 1u << k;
    if (o->mod & OMOD_ABS)
        m->and_mask[k] = 0x7fffffffu;
    if (o->mod & OMOD_NEG)
        m->xor_mask[k] = 0x80000000u;
}

static void decode(struct image *img, struct map *seen, struct xinst *x, const struct inst *in) {
    x->in = in;
    x->kind = kinds[in->op];
    if (!x->kind)
        x->op = lane_pick(in);
    x->guard = (uint8_t)(in->guard.id == VPRED_PT ? PRED_PT : in->guard.id);
    x->gneg = in->guard.neg;
    for (int k = 0; k < 2; k++) {
        x->ps[k] = (uint8_t)(in->psrc[k].id == VPRED_PT ? PRED_PT : in->psrc[k].id);
        x->pneg[k] = in->psrc[k].neg;
        x->pd[k] = (uint8_t)(in->pdst[k].id == VPRED_PT ? PRED_PT : in->pdst[k].id);
    }
    x->ndw = in->dst.kind == O_REG && in->dst.v != VREG_RZ ? (uint8_t)inst_dst_words(in) : 0;
    x->d = x->ndw ? in->dst.v : img->prog->nregs;
    for (uint32_t s = 0; s < in->nsrc; s++) {
        uint32_t words = inst_src_words(in, s);
        x->first[s] = x->nsw;
        x->taken |= in->src[s].kind == O_CONST && in->src[s].bank == BANK_QUEUE;
        set_mods(img, x, &in->src[s], x->nsw, words);
        for (uint32_t w = 0; w < words && x->nsw < sizeof x->s / sizeof x->s[0]; w++)
            x->s[x->nsw++] = word_index(img, seen, &in->src[s], w, words);
    }
    x->sole = (x->ps[0] & x->ps[1] & x->pd[0] & x->pd[1]) == PRED_PT && !(x->pneg[0] | x->pneg[1]);
    x->easy = x->kind == X_ALU && x->sole && !x->mods && x->op.rnd == RND_RN;
    x->bytes = (uint8_t)inst_access_bytes(in);
    x->step = in->m.size < 4 ? in->m.size : 4;
    x->words = x->step ? x->bytes / x->step : 0;
    x->spots = (x->kind == X_LOAD || x->kind == X_STORE) && in->m.space != MS_LOCAL;
    x->shared = in->m.space == MS_SHARED && x->kind != X_LDGSTS;
    x->wide = !x->shared && in->m.a64;
    x->shaped = x->step == 4 && (x->shared || x->wide);
}

struct image *image_create(const struct program *p) {
    struct image *img = xcalloc(1, sizeof *img);
    img->prog = p;
    img->ncode = p->ncode;
    img->code = arena_array(&img->arena, struct xinst, p->ncode);
    struct map seen = {0};
    for (uint32_t i = 0; i < p->ncode; i++)
        decode(img, &seen, &img->code[i], &p->code[i]);
    map_free(&seen);
    img->nstreams = p->streams.len;
    img->streams = arena_array(&img->arena, struct image *, img->nstreams + 1);
    for (uint32_t i = 0; i < img->nstreams; i++)
        img->streams[i] = image_create(p->streams.at[i]);
    image_mark_turns(img);
    return img;
}

void image_free(struct image *img) {
    if (!img)
        return;
    for (uint32_t i = 0; i < img->nstreams; i++)
        image_free(img->streams[i]);
    arena_free(&img->arena);
    vec_free(&img->pool);
    free(img);
}

const struct image *image_stream(const struct image *img, const char *name) {
    for (uint32_t i = 0; i < img->nstreams; i++)
        if (!strcmp(img->streams[i]->prog->name, name))
            return img->streams[i];
    return NULL;
}

void image_fill_pool(const struct exec *x, const struct image *img, uint32_t (*pool)[WARP_LANES]) {
    for (uint32_t i = 0; i < img->pool.len; i++) {
        const struct pool_word *p = &img->pool.at[i];
        uint32_t v = p->v;
        if (p->bank != BANK_COUNT) {
            v = 0; /* beyond the bank's end reads zero */
            if ((uint64_t)p->v + 4 <= x->bank_bytes[p->bank])
                memcpy(&v, x->bank[p->bank] + p->v, 4);
        }
        for (int l = 0; l < WARP_LANES; l++)
            pool[i][l] = v;
    }
}
