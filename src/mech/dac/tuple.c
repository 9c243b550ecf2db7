/* Tuple arithmetic, and what tuples are in each thread. */
#include "mech/dac/tuple.h"

#include <string.h>

#include "base/wide.h"
#include "isa/semantics.h"

/* ---- atoms ---- */

static bool fields_zero(const uint32_t *f) {
    uint32_t any = 0;
    for (uint32_t k = 1; k < DAC_FIELDS; k++)
        any |= f[k];
    return !any;
}

bool atom_uniform(const struct atom *a, uint32_t *x) {
    *x = a->f[0];
    return !a->divisor && fields_zero(a->f);
}

/* A remainder of what is the same everywhere, or times 0, is none. */
static void atom_tidy(struct atom *a) {
    if (!a->divisor)
        return;
    if (fields_zero(a->m))
        a->f[0] += a->scale * op_rem(a->m[0], a->divisor, false);
    else if (a->scale)
        return;
    a->divisor = a->scale = 0;
    memset(a->m, 0, sizeof a->m);
}

static bool atom_add(struct atom *d, const struct atom *a, const struct atom *b, bool subtract) {
    struct atom r = a->divisor ? *a : *b;
    uint32_t sign = subtract ? UINT32_MAX : 1;
    if (a->divisor && b->divisor)
        return false;
    if (!a->divisor && b->divisor)
        r.scale = b->scale * sign;
    for (uint32_t k = 0; k < DAC_FIELDS; k++)
        r.f[k] = a->f[k] + sign * b->f[k];
    atom_tidy(&r);
    *d = r;
    return true;
}

static void atom_scale(struct atom *d, const struct atom *a, uint32_t factor) {
    struct atom r = *a;
    for (uint32_t k = 0; k < DAC_FIELDS; k++)
        r.f[k] *= factor;
    r.scale *= factor;
    atom_tidy(&r);
    *d = r;
}

static bool atom_mod(struct atom *d, const struct atom *a, uint32_t divisor) {
    struct atom r = {.divisor = divisor, .scale = 1};
    if (a->divisor || !divisor)
        return false;
    memcpy(r.m, a->f, sizeof r.m);
    atom_tidy(&r);
    *d = r;
    return true;
}

/* ---- words ---- */

void val_const(struct val *v, uint32_t x) {
    v->kind = VAL_WORD;
    v->nalt = 1;
    v->cond[0] = v->cond[1] = DAC_NO_COND;
    v->word[0] = (struct atom){.f = {x}};
}

static void val_bad(struct val *v) {
    val_const(v, 0);
    v->kind = VAL_BAD;
}

void val_index(struct val *d, uint32_t field) {
    val_const(d, 0);
    d->word[0].f[field] = 1;
}

/* Numbers have room for more than most of them need: no more than that is copied. */
static void copy_numbers(struct num *to, const struct num *from, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        memcpy(to[k].f, from[k].f, sizeof to[k].f);
        to[k].nterms = from[k].nterms;
        memcpy(to[k].term, from[k].term, from[k].nterms * sizeof to[k].term[0]);
    }
}

void val_copy(struct val *to, const struct val *from) {
    to->kind = from->kind;
    to->nalt = from->nalt;
    memcpy(to->cond, from->cond, sizeof to->cond);
    if (from->kind == VAL_HIGH)
        copy_numbers(to->high, from->high, from->nalt);
    else
        memcpy(to->word, from->word, from->nalt * sizeof to->word[0]);
}

bool val_uniform(const struct val *v, uint32_t *x) {
    return v->kind == VAL_WORD && v->nalt == 1 && atom_uniform(&v->word[0], x);
}

/* The conditions of two values together: how many alternatives, and of each of them the numbers in a and b;
 * 0 when there are too many. */
static uint32_t combine(const uint16_t a[DAC_CONDS], const uint16_t b[DAC_CONDS], uint16_t cond[DAC_CONDS],
                        uint8_t of_a[DAC_ALTS], uint8_t of_b[DAC_ALTS]) {
    uint32_t n = 0;
    cond[0] = cond[1] = DAC_NO_COND;
    of_a[0] = of_b[0] = 0;
    if ((a[0] & a[1] & b[0] & b[1]) == DAC_NO_COND) /* none, as most often */
        return 1;
    for (uint32_t k = 0; k < 2 * DAC_CONDS; k++) {
        uint16_t c = k < DAC_CONDS ? a[k] : b[k - DAC_CONDS];
        if (c == DAC_NO_COND || (n && cond[0] == c) || (n > 1 && cond[1] == c))
            continue;
        if (n == DAC_CONDS)
            return 0;
        cond[n++] = c;
    }
    for (uint32_t alt = 0; alt < 1u << n; alt++) {
        of_a[alt] = of_b[alt] = 0;
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t j = 0; j < DAC_CONDS; j++) {
                of_a[alt] |= (uint8_t)((a[j] == cond[k] && alt >> k & 1) << j);
                of_b[alt] |= (uint8_t)((b[j] == cond[k] && alt >> k & 1) << j);
            }
    }
    return 1u << n;
}

void val_add(struct val *d, const struct val *a, const struct val *b, bool subtract) {
    struct val r;
    uint8_t of_a[DAC_ALTS], of_b[DAC_ALTS];
    r.kind = VAL_WORD;
    r.nalt = (uint8_t)combine(a->cond, b->cond, r.cond, of_a, of_b);
    bool ok = r.nalt && a->kind == VAL_WORD && b->kind == VAL_WORD;
    for (uint32_t k = 0; ok && k < r.nalt; k++)
        ok = atom_add(&r.word[k], &a->word[of_a[k]], &b->word[of_b[k]], subtract);
    if (ok)
        val_copy(d, &r);
    else
        val_bad(d);
}

void val_scale(struct val *d, const struct val *a, uint32_t factor) {
    if (a->kind != VAL_WORD) {
        val_bad(d);
        return;
    }
    val_copy(d, a);
    for (uint32_t k = 0; k < d->nalt; k++)
        atom_scale(&d->word[k], &d->word[k], factor);
}

void val_mod(struct val *d, const struct val *a, uint32_t divisor) {
    struct val r;
    bool ok = a->kind == VAL_WORD;
    if (ok)
        val_copy(&r, a);
    for (uint32_t k = 0; ok && k < r.nalt; k++)
        ok = atom_mod(&r.word[k], &a->word[k], divisor);
    if (ok)
        val_copy(d, &r);
    else
        val_bad(d);
}

void val_select(struct val *d, uint16_t cond, const struct val *a, const struct val *b) {
    struct val r;
    uint8_t of_a[DAC_ALTS], of_b[DAC_ALTS], of_both[DAC_ALTS], of_own[DAC_ALTS];
    uint16_t both[DAC_CONDS], own[DAC_CONDS] = {cond, DAC_NO_COND};
    bool ok = a->kind == b->kind && a->kind != VAL_BAD && combine(a->cond, b->cond, both, of_a, of_b);
    r.nalt = ok ? (uint8_t)combine(both, own, r.cond, of_both, of_own) : 0;
    if (!r.nalt) {
        val_bad(d);
        return;
    }
    r.kind = a->kind;
    for (uint32_t k = 0; k < r.nalt; k++) {
        const struct val *from = of_own[k] ? a : b;
        uint32_t alt = of_own[k] ? of_a[of_both[k]] : of_b[of_both[k]];
        if (r.kind == VAL_HIGH)
            r.high[k] = from->high[alt];
        else
            r.word[k] = from->word[alt];
    }
    val_copy(d, &r);
}

/* ---- numbers of 64 bits ---- */

/* The atom stays within 32 bits for all threads of the grid when its base is read as base. */
static bool stays(const struct dims *s, const struct atom *a, int64_t base, bool sgn) {
    int64_t least = base, most = base;
    for (uint32_t k = 1; k < DAC_FIELDS; k++) {
        if (!a->f[k]) /* as are most */
            continue;
        int64_t step = (int64_t)(int32_t)a->f[k] * (s->n[k] ? s->n[k] - 1 : 0);
        *(step < 0 ? &least : &most) += step;
    }
    return sgn ? least >= INT32_MIN && most <= INT32_MAX : least >= 0 && most <= UINT32_MAX;
}

static void widen(struct num *d, const struct dims *s, const struct atom *a, bool sgn) {
    int64_t as_signed = (int32_t)a->f[0], as_unsigned = (int64_t)a->f[0];
    d->nterms = 0;
    bool plain = !a->divisor, exact = plain && (stays(s, a, as_signed, sgn) || s->never_wraps);
    int64_t base = s->never_wraps && !sgn ? as_unsigned : as_signed;
    if (plain && !exact && !sgn && stays(s, a, as_unsigned, false))
        exact = true, base = as_unsigned;
    if (exact) {
        d->f[0] = (uint64_t)base;
        for (uint32_t k = 1; k < DAC_FIELDS; k++)
            d->f[k] = (uint64_t)(int64_t)(int32_t)a->f[k];
        return;
    }
    memset(d->f, 0, sizeof d->f);
    d->nterms = 1;
    d->term[0].scale = 1;
    d->term[0].sgn = sgn;
    d->term[0].a = *a;
}

void num_widen(struct num_val *d, const struct dims *s, const struct val *a, bool sgn) {
    d->ok = a->kind == VAL_WORD;
    d->nalt = a->nalt;
    memcpy(d->cond, a->cond, sizeof d->cond);
    for (uint32_t k = 0; d->ok && k < d->nalt; k++)
        widen(&d->n[k], s, &a->word[k], sgn);
}

static void copy_num_val(struct num_val *to, const struct num_val *from) {
    to->ok = from->ok;
    to->nalt = from->nalt;
    memcpy(to->cond, from->cond, sizeof to->cond);
    if (from->ok)
        copy_numbers(to->n, from->n, from->nalt);
}

/* The lower 32 bits; false when they have no form. */
static bool low_of(struct atom *d, const struct num *n) {
    *d = (struct atom){0};
    for (uint32_t k = 0; k < DAC_FIELDS; k++)
        d->f[k] = (uint32_t)n->f[k];
    for (uint32_t t = 0; t < n->nterms; t++) {
        struct atom part;
        atom_scale(&part, &n->term[t].a, (uint32_t)n->term[t].scale);
        if (!atom_add(d, d, &part, false))
            return false;
    }
    return true;
}

/* d is neither of them. */
static bool add(struct num *d, const struct num *a, const struct num *b, bool subtract) {
    uint64_t sign = subtract ? UINT64_MAX : 1;
    if (a->nterms + b->nterms > DAC_TERMS)
        return false;
    for (uint32_t k = 0; k < DAC_FIELDS; k++)
        d->f[k] = a->f[k] + sign * b->f[k];
    d->nterms = a->nterms;
    memcpy(d->term, a->term, a->nterms * sizeof d->term[0]);
    for (uint32_t t = 0; t < b->nterms; t++) {
        d->term[d->nterms] = b->term[t];
        d->term[d->nterms++].scale *= sign;
    }
    return true;
}

void num_add(struct num_val *d, const struct num_val *a, const struct num_val *b, bool subtract) {
    struct num_val r;
    uint8_t of_a[DAC_ALTS], of_b[DAC_ALTS];
    r.ok = a->ok && b->ok;
    r.nalt = r.ok ? (uint8_t)combine(a->cond, b->cond, r.cond, of_a, of_b) : 0;
    r.ok &= r.nalt > 0;
    for (uint32_t k = 0; r.ok && k < r.nalt; k++)
        r.ok = add(&r.n[k], &a->n[of_a[k]], &b->n[of_b[k]], subtract);
    copy_num_val(d, &r);
}

void num_scale(struct num_val *d, const struct num_val *a, uint64_t factor) {
    if (d != a)
        copy_num_val(d, a);
    for (uint32_t k = 0; d->ok && k < d->nalt; k++) {
        for (uint32_t j = 0; j < DAC_FIELDS; j++)
            d->n[k].f[j] *= factor;
        for (uint32_t t = 0; t < d->n[k].nterms; t++)
            d->n[k].term[t].scale *= factor;
        if (!factor)
            d->n[k].nterms = 0;
    }
}

static bool atom_equal(const struct atom *a, const struct atom *b) {
    return !memcmp(a->f, b->f, sizeof a->f) && a->divisor == b->divisor && a->scale == b->scale &&
           !memcmp(a->m, b->m, sizeof a->m);
}

void num_join(struct num_val *d, const struct dims *s, const struct val *lo, const struct val *hi) {
    struct num_val r;
    uint8_t of_lo[DAC_ALTS], of_hi[DAC_ALTS];
    r.nalt = (uint8_t)combine(lo->cond, hi->cond, r.cond, of_lo, of_hi);
    r.ok = r.nalt && lo->kind == VAL_WORD && hi->kind != VAL_BAD;
    for (uint32_t k = 0; r.ok && k < r.nalt; k++) {
        const struct atom *low = &lo->word[of_lo[k]];
        struct atom other;
        uint32_t high;
        if (hi->kind == VAL_HIGH) { /* the upper word of a number whose lower word this is */
            copy_numbers(&r.n[k], &hi->high[of_hi[k]], 1);
            r.ok = low_of(&other, &r.n[k]) && atom_equal(&other, low);
        } else {
            r.ok = atom_uniform(&hi->word[of_hi[k]], &high);
            widen(&r.n[k], s, low, false);
            r.n[k].f[0] += (uint64_t)high << 32;
        }
    }
    copy_num_val(d, &r);
}

void num_low(struct val *d, const struct num_val *a) {
    val_bad(d);
    if (!a->ok)
        return;
    for (uint32_t k = 0; k < a->nalt; k++)
        if (!low_of(&d->word[k], &a->n[k]))
            return;
    d->kind = VAL_WORD;
    d->nalt = a->nalt;
    memcpy(d->cond, a->cond, sizeof d->cond);
}

void num_high(struct val *d, const struct num_val *a) {
    bool uniform = a->ok && a->nalt == 1 && !a->n[0].nterms;
    val_bad(d);
    for (uint32_t k = 1; uniform && k < DAC_FIELDS; k++)
        uniform = !a->n[0].f[k];
    if (uniform) {
        val_const(d, (uint32_t)(a->n[0].f[0] >> 32));
    } else if (a->ok) {
        d->kind = VAL_HIGH;
        d->nalt = a->nalt;
        memcpy(d->cond, a->cond, sizeof d->cond);
        copy_numbers(d->high, a->n, a->nalt);
    }
}

/* ---- what they are in each thread ---- */

static WIDE_PART void line32(const uint32_t *f, const struct coords *at, uint32_t *out) {
    uint32_t base = f[0] + f[4] * at->ctaid[0] + f[5] * at->ctaid[1] + f[6] * at->ctaid[2];
    for (uint32_t l = 0; l < WARP_LANES; l++)
        out[l] = base + f[1] * at->tid[0][l] + f[2] * at->tid[1][l] + f[3] * at->tid[2][l];
}

static WIDE_PART void expand_atom(const struct atom *a, const struct coords *at, uint32_t *out) {
    line32(a->f, at, out);
    if (!a->divisor)
        return;
    uint32_t of[WARP_LANES];
    line32(a->m, at, of);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        out[l] += a->scale * op_rem(of[l], a->divisor, false);
}

static WIDE_PART struct block_num in_block(const struct num *n, const struct coords *at) {
    const uint64_t *f = n->f;
    uint64_t base = f[0] + f[4] * at->ctaid[0] + f[5] * at->ctaid[1] + f[6] * at->ctaid[2];
    return (struct block_num){{base, f[1], f[2], f[3]}};
}

bool num_in_block(const struct num_val *v, const struct coords *at, struct block_num *n) {
    *n = in_block(&v->n[0], at);
    return v->nalt == 1 && !v->n[0].nterms;
}

static WIDE_PART void expand_block_num(const struct block_num *n, const struct coords *at,
                                       uint64_t out[WARP_LANES]) {
    const uint64_t *f = n->f;
    if (at->row) {
        uint64_t v = f[0] + f[1] * at->tid[0][0] + f[2] * at->tid[1][0] + f[3] * at->tid[2][0];
        for (uint32_t l = 0; l < WARP_LANES; l++, v += f[1])
            out[l] = v;
        return;
    }
    for (uint32_t l = 0; l < WARP_LANES; l++)
        out[l] = f[0] + f[1] * at->tid[0][l] + f[2] * at->tid[1][l] + f[3] * at->tid[2][l];
}

static WIDE_PART void expand_num(const struct num *n, const struct coords *at, uint64_t *out) {
    struct block_num plain = in_block(n, at);
    expand_block_num(&plain, at, out);
    for (uint32_t t = 0; t < n->nterms; t++) {
        uint32_t word[WARP_LANES];
        expand_atom(&n->term[t].a, at, word);
        for (uint32_t l = 0; l < WARP_LANES; l++)
            out[l] += n->term[t].scale * (n->term[t].sgn ? (uint64_t)(int64_t)(int32_t)word[l] : word[l]);
    }
}

/* The lanes that have alternative k of n. */
static WIDE_PART uint32_t lanes_of_alt(uint32_t k, uint32_t n, const uint32_t c[DAC_CONDS]) {
    uint32_t m = UINT32_MAX;
    for (uint32_t j = 0; 1u << j < n; j++)
        m &= k >> j & 1 ? c[j] : ~c[j];
    return m;
}

static WIDE_PART void expand_val(const struct val *v, const struct coords *at, const uint32_t c[DAC_CONDS],
                                 uint32_t *out) {
    for (uint32_t k = 0; k < v->nalt; k++) {
        uint32_t m = lanes_of_alt(k, v->nalt, c), word[WARP_LANES];
        uint64_t wide[WARP_LANES];
        if (v->kind == VAL_HIGH) {
            expand_num(&v->high[k], at, wide);
            for (uint32_t l = 0; l < WARP_LANES; l++)
                word[l] = (uint32_t)(wide[l] >> 32);
        } else {
            expand_atom(&v->word[k], at, word);
        }
        for (uint32_t l = 0; l < WARP_LANES; l++)
            out[l] = m >> l & 1 ? word[l] : out[l];
    }
}

static WIDE_PART void expand_num_val(const struct num_val *v, const struct coords *at,
                                     const uint32_t c[DAC_CONDS], uint64_t *out) {
    if (v->nalt == 1) {
        expand_num(&v->n[0], at, out);
        return;
    }
    for (uint32_t k = 0; k < v->nalt; k++) {
        uint32_t m = lanes_of_alt(k, v->nalt, c);
        uint64_t wide[WARP_LANES];
        expand_num(&v->n[k], at, wide);
        for (uint32_t l = 0; l < WARP_LANES; l++)
            out[l] = m >> l & 1 ? wide[l] : out[l];
    }
}

static WIDE_PART void expand_words(const struct block_num *n, const struct coords *at, uint32_t *out) {
    uint32_t f[4];
    for (uint32_t k = 0; k < 4; k++)
        f[k] = (uint32_t)n->f[k];
    for (uint32_t l = 0; l < WARP_LANES; l++)
        out[l] = f[0] + f[1] * at->tid[0][l] + f[2] * at->tid[1][l] + f[3] * at->tid[2][l];
}

/* ---- for the host there is ---- */

WIDE_TOO(void, block_num_expand,
         (const struct block_num *n, const struct coords *at, uint64_t out[WARP_LANES]), expand_block_num, n,
         at, out)
WIDE_TOO(void, block_num_words,
         (const struct block_num *n, const struct coords *at, uint32_t out[WARP_LANES]), expand_words, n, at,
         out)
WIDE_TOO(void, val_expand,
         (const struct val *v, const struct coords *at, const uint32_t c[DAC_CONDS], uint32_t *out),
         expand_val, v, at, c, out)
WIDE_TOO(void, num_expand,
         (const struct num_val *v, const struct coords *at, const uint32_t c[DAC_CONDS], uint64_t *out),
         expand_num_val, v, at, c, out)
