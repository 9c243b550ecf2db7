/* From words to instructions, by the encodings of the table. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "cpu/forms.h"

enum form_id {
#define FORM(id, ...) FORM_##id,
#include "cpu/forms.def"
#undef FORM
};

#define A64(id, ...)                                                                                         \
    extern a64_fn *const a64_exec_##id[];                                                                    \
    extern const uint32_t a64_variants_##id;
#include "cpu/a64.def"
#undef A64

#define WFLAGS A64_WFLAGS
#define RFLAGS A64_RFLAGS
#define ENDS   A64_ENDS
#define MEMO   A64_MEMO

static struct a64_info rows[A64_OPS] = {
#define A64(id, name, encoding, form, arg, class, flags, ...)                                                \
    {name, encoding, 0, 0, FORM_##form, arg, CLASS_##class, flags, a64_exec_##id, 0},
#include "cpu/a64.def"
#undef A64
};

static const uint32_t *const variants[A64_OPS] = {
#define A64(id, ...) &a64_variants_##id,
#include "cpu/a64.def"
#undef A64
};

/* Rows by eight bits that tell most of them apart: which rows a word with those bits may be. */
enum { BUCKET_SHIFT = 21, BUCKETS = 256 };
static uint16_t bucket_start[BUCKETS + 1];
static uint16_t *bucket_rows;

static bool in_bucket(const struct a64_info *r, uint32_t bucket) {
    return !(((bucket << BUCKET_SHIFT) ^ r->value) & r->mask & ((BUCKETS - 1) << BUCKET_SHIFT));
}

static void build(void) {
    for (uint32_t op = 0; op < A64_OPS; op++) {
        struct a64_info *r = &rows[op];
        r->variants = *variants[op];
        assert(strlen(r->encoding) == 32);
        for (uint32_t k = 0; k < 32; k++)
            if (r->encoding[k] == '0' || r->encoding[k] == '1') {
                r->mask |= 1u << (31 - k);
                r->value |= (uint32_t)(r->encoding[k] == '1') << (31 - k);
            }
    }
    VEC(uint16_t) list = {0};
    for (uint32_t b = 0; b < BUCKETS; b++) {
        bucket_start[b] = (uint16_t)list.len;
        for (uint32_t op = 0; op < A64_OPS; op++)
            if (in_bucket(&rows[op], b))
                vec_push(&list, (uint16_t)op);
    }
    bucket_start[BUCKETS] = (uint16_t)list.len;
    assert(list.len < UINT16_MAX);
    bucket_rows = list.at;
}

static void ready(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, build);
}

const struct a64_info *a64_info(enum a64_op op) {
    ready();
    return &rows[op];
}

void a64_split(const struct a64_info *row, uint32_t word, uint64_t pc, struct a64_fields *f) {
    *f = (struct a64_fields){.row = row, .word = word, .pc = pc};
    for (uint32_t k = 0; k < 32; k++) {
        char letter = row->encoding[k];
        if (letter >= 'a')
            FIELD(f, letter) = FIELD(f, letter) << 1 | (word >> (31 - k) & 1);
    }
}

const char *form_next_reg(const char *operands, struct form_reg *r) {
    const char *p = strchr(operands, '%');
    if (!p)
        return NULL;
    p++;
    r->role = strchr("=+~*^", *p) ? *p++ : ' ';
    r->kind = *p++;
    r->letter = *p++;
    return p;
}

/* The number executors use for a register. */
static uint8_t number(const struct a64_fields *f, const struct form_reg *r) {
    uint32_t n = FIELD(f, r->letter);
    bool loads = f->row->class == CLASS_LOAD;
    bool written =
        r->role == '=' || r->role == '+' || r->role == '~' || ((r->role == '*' || r->role == '^') && loads);
    bool general =
        strchr("RWXeibgr", r->kind) || (r->kind == 't' && (f->row->arg == 'w' || f->row->arg == 'x'));
    if (!general || n != 31)
        return (uint8_t)n;
    return written ? A64_SINK : A64_ZERO;
}

static int make(struct a64_fields *f, struct a64_inst *i) {
    const struct a64_form *form = &a64_forms[f->row->form];
    int variant = form->make(f, i);
    if (variant < 0 || (uint32_t)variant >= f->row->variants || !f->row->exec[variant])
        return -1;
    struct form_reg r;
    for (const char *p = form->operands; (p = form_next_reg(p, &r));) {
        if (r.kind == 'p') /* make found it */
            continue;
        uint8_t n = number(f, &r);
        switch (r.letter) {
        case 'd':
            i->rd = n;
            break;
        case 'n':
            i->rn = n;
            break;
        case 'm':
            i->rm = n;
            break;
        default:
            i->ra = n;
            break;
        }
    }
    return variant;
}

/* The row whose encoding and form a word has. */
static const struct a64_info *find(uint32_t word, uint64_t pc, struct a64_fields *f, struct a64_inst *i,
                                   int *variant) {
    ready();
    uint32_t b = word >> BUCKET_SHIFT & (BUCKETS - 1);
    for (uint32_t k = bucket_start[b]; k < bucket_start[b + 1]; k++) {
        const struct a64_info *r = &rows[bucket_rows[k]];
        if ((word & r->mask) != r->value)
            continue;
        a64_split(r, word, pc, f);
        *i = (struct a64_inst){0};
        *variant = make(f, i);
        if (*variant >= 0)
            return r;
    }
    return NULL;
}

bool a64_decode(uint32_t word, uint64_t pc, struct a64_inst *out) {
    struct a64_fields f;
    struct a64_inst i;
    int variant;
    const struct a64_info *r = find(word, pc, &f, &i, &variant);
    if (!r)
        return false;
    i.fn = r->exec[variant];
    i.op = (uint16_t)(r - rows);
    *out = i;
    return true;
}

enum a64_op a64_find(uint32_t word) {
    struct a64_fields f;
    struct a64_inst i;
    int variant;
    const struct a64_info *r = find(word, 0, &f, &i, &variant);
    return r ? (enum a64_op)(r - rows) : A64_OPS;
}

bool a64_writes_base(uint32_t word) {
    enum a64_op op = a64_find(word);
    return op != A64_OPS && strstr(a64_forms[rows[op].form].operands, "%+B");
}

static void add_use(uint8_t *list, uint8_t *n, uint32_t reg) {
    if (reg == A64_ZERO || reg == A64_SINK)
        return;
    assert(*n < A64_MAX_USES);
    list[(*n)++] = (uint8_t)reg;
}

/* How many vector registers in a row an operand is. */
static uint32_t list_length(const struct a64_fields *f, const struct form_reg *r) {
    return strchr("TK", r->kind) ? (uint32_t)(f->row->arg - '0') : r->kind == 'S' ? FIELD(f, 'i') + 1 : 1;
}

void a64_uses(uint32_t word, struct a64_uses *u) {
    struct a64_fields f;
    struct a64_inst i;
    int variant;
    const struct a64_info *row = find(word, 0, &f, &i, &variant);
    *u = (struct a64_uses){0};
    assert(row);
    struct form_reg r;
    for (const char *p = a64_forms[row->form].operands; (p = form_next_reg(p, &r));) {
        bool loads = row->class == CLASS_LOAD, upper = FIELD(&f, 'q');
        bool written = strchr("=+~", r.role) || (strchr("*^", r.role) && loads);
        bool read = r.role == ' ' || r.role == '+' || (r.role == '~' && upper) || (r.role == '*' && !loads) ||
                    r.role == '^';
        bool vector = strchr("FGVLHETKSuc", r.kind) || (r.kind == 't' && row->arg != 'w' && row->arg != 'x');
        uint32_t first = r.kind == 'p' ? i.rm : number(&f, &r), count = list_length(&f, &r);
        for (uint32_t k = 0; k < count; k++) {
            uint32_t reg = vector ? A64_V0 + ((first + k) & 31) : first;
            if (read)
                add_use(u->src, &u->nsrc, reg);
            if (written)
                add_use(u->dst, &u->ndst, reg);
        }
    }
    if (row->flags & A64_RFLAGS)
        add_use(u->src, &u->nsrc, A64_NZCV);
    if (row->flags & A64_WFLAGS)
        add_use(u->dst, &u->ndst, A64_NZCV);
    if (row->flags & A64_MEMO) {
        add_use(u->src, &u->nsrc, A64_MEMO_ORDER);
        add_use(u->dst, &u->ndst, A64_MEMO_ORDER);
    }
    if (row->form == FORM_BL || row->form == FORM_BLR)
        add_use(u->dst, &u->ndst, A64_LR);
}
