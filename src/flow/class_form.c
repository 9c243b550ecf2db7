#include "flow/class_form.h"

struct vclass form_settle(struct vclass c) {
    if (!c.deps)
        c.lack = 0;
    else if (!(c.deps & DEP_THREAD) && c.lack & (LACK_NONE | LACK_CHOSEN | LACK_REMAINDER))
        c.lack = LACK_BLOCK;
    else if (c.lack & LACK_NONE)
        c.lack = LACK_NONE;
    return c;
}

uint32_t form_choice(struct vclass cond) {
    return !cond.deps ? 0 : cond.deps & DEP_THREAD ? LACK_CHOSEN : LACK_BLOCK;
}

uint32_t form_sum(struct vclass a, struct vclass b) {
    uint32_t lack = a.lack | b.lack;
    return lack & LACK_REMAINDER && a.deps && b.deps ? LACK_NONE : lack;
}

uint32_t form_product(struct vclass a, struct vclass b) {
    if (!a.deps || !b.deps)
        return a.lack | b.lack;
    if (a.deps & DEP_THREAD && b.deps & DEP_THREAD)
        return LACK_NONE;
    return a.lack | b.lack | LACK_BLOCK;
}

struct vclass form_power(struct vclass exponent) {
    return form_settle((struct vclass){exponent.deps, LACK_NONE});
}

/* How an operation treats form. */
enum rule {
    RULE_LOSE, /* the result has none */
    RULE_COPY,
    RULE_SUM,
    RULE_SUM_3,
    RULE_PRODUCT,
    RULE_PRODUCT_SUM, /* a * b + c */
    RULE_SHIFT,       /* a * 2^b */
    RULE_SELECT,      /* one of the first two, as the predicate says */
    RULE_CHOICE,      /* one of them, or of one and its negative, as they compare */
    RULE_AND,
    RULE_OR,
};

static const uint8_t rules[OP_COUNT] = {
    [OP_MOV] = RULE_COPY,         [OP_NOT] = RULE_COPY, /* -1 - a */
    [OP_IADD] = RULE_SUM,         [OP_IADD3] = RULE_SUM_3, [OP_LEA] = RULE_SUM,      [OP_ISUB] = RULE_SUM,
    [OP_IADDC] = RULE_SUM,        [OP_ISUBC] = RULE_SUM,   [OP_IMUL] = RULE_PRODUCT, [OP_SHL] = RULE_SHIFT,
    [OP_IMAD] = RULE_PRODUCT_SUM, [OP_SEL] = RULE_SELECT,  [OP_IMIN] = RULE_CHOICE,  [OP_IMAX] = RULE_CHOICE,
    [OP_IABS] = RULE_CHOICE,      [OP_AND] = RULE_AND,     [OP_OR] = RULE_OR,
};

/* The remainder of an affine number by a power of two; no remainder of a remainder. */
static uint32_t remainder_of(struct vclass a) {
    return !a.deps ? 0 : a.lack & ~LACK_BLOCK ? LACK_NONE : a.lack | LACK_REMAINDER;
}

static bool is_low_mask(const struct opd *o) {
    return o->kind == O_IMM && o->v && !(o->v & (o->v + 1));
}

uint32_t form_result(const struct inst *i, const struct form_sources *s, uint32_t low_zero) {
    const struct vclass *a = s->src, none = {0};
    switch ((enum rule)rules[i->op]) {
    case RULE_COPY:
        return a[0].lack;
    case RULE_SUM: /* a carry that is not the same in all threads is no part of the form */
        return form_sum(a[0], a[1]) | (s->psrc[0].deps & DEP_THREAD ? LACK_NONE
                                       : s->psrc[0].deps            ? LACK_BLOCK
                                                                    : 0);
    case RULE_SUM_3: {
        struct vclass sum = {a[0].deps | a[1].deps, (uint16_t)form_sum(a[0], a[1])};
        return form_sum(form_settle(sum), a[2]);
    }
    case RULE_PRODUCT:
        return form_product(a[0], a[1]);
    case RULE_PRODUCT_SUM: {
        struct vclass product = {a[0].deps | a[1].deps, (uint16_t)form_product(a[0], a[1])};
        return form_sum(form_settle(product), a[2]);
    }
    case RULE_SHIFT:
        return form_product(a[0], form_power(a[1]));
    case RULE_SELECT:
        return a[0].lack | a[1].lack | form_choice(s->psrc[0]);
    case RULE_CHOICE: {
        struct vclass other = i->nsrc > 1 ? a[1] : none;
        return a[0].lack | other.lack | form_choice(class_meet(a[0], other));
    }
    case RULE_AND:
        return is_low_mask(&i->src[1]) ? remainder_of(a[0]) : LACK_NONE;
    case RULE_OR: /* bits that are zero become those of a number: a sum */
        return i->src[1].kind == O_IMM && !(i->src[1].v >> low_zero) ? a[0].lack : LACK_NONE;
    default:
        return LACK_NONE;
    }
}

struct vclass form_special(uint32_t mreg) {
    switch ((enum mreg)mreg) {
    case SR_TID_X:
    case SR_TID_Y:
    case SR_TID_Z:
        return (struct vclass){.deps = (uint16_t)(DEP_TID_X << (mreg - SR_TID_X))};
    case SR_CTAID_X:
    case SR_CTAID_Y:
    case SR_CTAID_Z:
        return (struct vclass){.deps = (uint16_t)(DEP_CTAID_X << (mreg - SR_CTAID_X))};
    case SR_LANEID:
    case SR_LANEMASK_EQ:
    case SR_LANEMASK_LT:
    case SR_LANEMASK_LE:
    case SR_LANEMASK_GT:
    case SR_LANEMASK_GE:
        return (struct vclass){DEP_LANE, LACK_NONE};
    case SR_CLUSTER_CTAID_X:
    case SR_CLUSTER_CTAID_Y:
    case SR_CLUSTER_CTAID_Z:
    case SR_CLUSTER_CTARANK:
    case SR_CLUSTERID_X:
    case SR_CLUSTERID_Y:
    case SR_CLUSTERID_Z:
    case SR_SMID: /* of the block, and no linear function of its number */
        return (struct vclass){DEP_BLOCK, LACK_BLOCK};
    case SR_WARPID:
        return (struct vclass){DEP_BLOCK | DEP_WARP, LACK_NONE};
    case SR_NWARPID:
    case SR_NSMID:
    case SR_GRIDID:
    case SR_DYN_SMEM:
    case SR_DYN_SIZE:
    case SR_TOTAL_SMEM:
    case SR_ZERO:
        return (struct vclass){0};
    default: /* clocks, the active lanes */
        return (struct vclass){DEP_ANY, LACK_NONE};
    }
}
