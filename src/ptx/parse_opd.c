/* Operands: registers, constants, names, vectors, addresses, lists, pairs. */
#include <string.h>

#include "ptx/parser.h"

static bool parse_operand(struct ptx_parser *p, struct ptx_inst *i, struct ptx_opd *o);

/* Moves the operands collected since mark into the arena. */
static struct ptx_opd *keep_operands(struct ptx_parser *p, uint32_t mark, uint32_t *n) {
    *n = p->opds.len - mark;
    struct ptx_opd *out = arena_array(&p->m->arena, struct ptx_opd, *n);
    if (*n)
        memcpy(out, p->opds.at + mark, *n * sizeof *out);
    p->opds.len = mark;
    note_uses(p, out, *n);
    return out;
}

/* operand, operand, ... up to the closing bracket, which is read; the elements end up in o. */
static bool parse_elements(struct ptx_parser *p, struct ptx_inst *i, struct ptx_opd *o, int close,
                           uint32_t mark) {
    do {
        struct ptx_opd e;
        if (!parse_operand(p, i, &e))
            return false;
        vec_push(&p->opds, e);
    } while (accept(p, ','));
    if (!expect(p, close, "the list"))
        return false;
    o->elems = keep_operands(p, mark, &o->nelems);
    return true;
}

static bool is_memory_access(const struct ptx_inst *i) {
    return i->op == PTXOP_LD || i->op == PTXOP_LDU || i->op == PTXOP_ST || i->op == PTXOP_ATOM ||
           i->op == PTXOP_RED;
}

/* name[3], the address of an element, which a memory access takes as it would [name + 12]. */
static bool parse_subscript(struct ptx_parser *p, const struct ptx_inst *i, struct ptx_opd *o) {
    uint64_t index;
    advance(p);
    if (p->tok.kind == TOK_IDENT && !at_const(p))
        return fail(p, p->tok.at, "an index in a register is not supported; add it to the address");
    if (!parse_uint(p, "an index", PTX_MAX_BYTES, &index) || !expect(p, ']', "the index"))
        return false;
    o->imm = index * ptx_type_size(o->var->type) * o->var->vec;
    if (!is_memory_access(i))
        return true;
    uint32_t mark = p->opds.len;
    vec_push(&p->opds, (struct ptx_opd){.kind = OPD_VAR, .comp = -1, .var = o->var, .at = o->at});
    o->kind = OPD_ADDR;
    o->var = NULL;
    o->elems = keep_operands(p, mark, &o->nelems);
    return true;
}

/* [ base + offset ] or [ base, operands... ] */
static bool parse_address(struct ptx_parser *p, struct ptx_inst *i, struct ptx_opd *o) {
    uint32_t mark = p->opds.len;
    struct ptx_opd base;
    advance(p);
    o->kind = OPD_ADDR;
    if (!parse_operand(p, i, &base) || (base.kind == OPD_REG && !parse_offset(p, &o->imm)))
        return false;
    if (base.kind == OPD_REG && !p->address_size_given && is_memory_access(i) && at_punct(p, ']') &&
        ptx_type_size(p->regs.at[base.reg].type) == 8)
        p->m->address_bits = 64; /* modules older than .address_size show their address size in use */
    if (base.kind == OPD_VAR || base.kind == OPD_NONE) {
        o->imm = base.imm;
        base.imm = 0;
    }
    vec_push(&p->opds, base);
    if (accept(p, ',')) {
        if (!parse_elements(p, i, o, ']', mark))
            return false;
    } else {
        if (!expect(p, ']', "the address"))
            return false;
        o->elems = keep_operands(p, mark, &o->nelems);
    }
    if (!at_word(p, ".unified"))
        return true;
    struct token word = p->tok;
    advance(p);
    return add_word(p, i, &word);
}

static bool parse_constant(struct ptx_parser *p, struct ptx_opd *o) {
    static const enum ptx_opd_kind kinds[] = {
        [CONST_S64] = OPD_INT, [CONST_U64] = OPD_INT, [CONST_F32] = OPD_F32, [CONST_F64] = OPD_F64};
    struct ptx_const c;
    if (!parse_const(p, &c))
        return false;
    o->kind = kinds[c.kind];
    o->imm = c.bits;
    return true;
}

/* 0..3 for .x .y .z .w or .r .g .b .a, else -1. */
static int component(const struct ptx_parser *p) {
    static const char letters[] = "xyzwrgba";
    const char *text = tok_text(p, &p->tok);
    if (p->tok.kind != TOK_WORD || p->tok.len != 2)
        return -1;
    const char *at = memchr(letters, text[1], 8);
    return at ? (int)(at - letters) % 4 : -1;
}

/* .b3210, .h10: which bytes or halves a video instruction takes. */
static bool parse_selector(struct ptx_parser *p, struct ptx_opd *o) {
    const char *text = tok_text(p, &p->tok);
    if (p->tok.kind != TOK_WORD)
        return true;
    bool ok = p->tok.len >= 3 && p->tok.len <= 6 && (text[1] == 'b' || text[1] == 'h');
    o->sel_half = text[1] == 'h';
    for (uint32_t k = 2; ok && k < p->tok.len; k++) {
        ok = text[k] >= '0' && text[k] <= '7';
        o->sel = (uint16_t)(o->sel << 4 | (text[k] & 7));
        o->nsel++;
    }
    if (!ok)
        return fail(p, p->tok.at, "a register has no component '%.*s'", shown_len(p->tok.len), text);
    advance(p);
    return true;
}

static bool register_operand(struct ptx_parser *p, struct ptx_opd *o, const struct ptx_local *l,
                             uint32_t index) {
    o->kind = OPD_REG;
    o->reg = l->first + index * l->vec;
    if (l->vec == 1)
        return parse_selector(p, o);
    int comp = component(p);
    if (comp >= 0) {
        if ((uint32_t)comp >= l->vec)
            return fail(p, p->tok.at, "'%.100s' has %u components", l->name, l->vec);
        o->reg += (uint32_t)comp;
        advance(p);
        return true;
    }
    uint32_t mark = p->opds.len;
    for (uint32_t k = 0; k < l->vec; k++)
        vec_push(&p->opds, (struct ptx_opd){.kind = OPD_REG, .comp = -1, .reg = o->reg + k, .at = o->at});
    o->kind = OPD_VECTOR;
    o->elems = keep_operands(p, mark, &o->nelems);
    return true;
}

static bool special_register(struct ptx_parser *p, struct ptx_opd *o, uint16_t id) {
    o->kind = OPD_SREG;
    o->sreg = id;
    if (p->tok.kind != TOK_WORD)
        return true;
    o->comp = (int8_t)component(p);
    if (o->comp < 0)
        return unexpected(p, "a component .x, .y, .z or .w");
    advance(p);
    return true;
}

/* A name: a register or variable in scope, a special register, something of the module, or a later label. */
static bool parse_name(struct ptx_parser *p, const struct ptx_inst *i, struct ptx_opd *o) {
    struct token name = p->tok;
    const char *text = tok_text(p, &name);
    uint32_t index = 0;
    advance(p);
    if (name.len == 1 && text[0] == '_') {
        o->kind = OPD_SINK;
        return true;
    }
    const struct ptx_local *l = local_find(p, text, name.len, &index);
    if (l && (l->kind == LOCAL_REG || l->kind == LOCAL_RANGE))
        return register_operand(p, o, l, index);
    uintptr_t sreg = text[0] == '%' && !l ? (uintptr_t)map_getn(&p->sregs, text + 1, name.len - 1) : 0;
    if (sreg)
        return special_register(p, o, (uint16_t)(sreg - 1));
    const struct ptx_symbol *s = l || p->in_branch ? NULL : symbol_find(p, text, name.len);
    if (l && l->kind == LOCAL_VAR)
        o->var = l->var;
    else if (s && s->var)
        o->var = s->var;
    if (o->var) {
        o->kind = OPD_VAR;
        return at_punct(p, '[') ? parse_subscript(p, i, o) : parse_offset(p, &o->imm);
    }
    o->kind = s && s->func ? OPD_FUNC : OPD_NONE;
    o->func = s ? s->func : NULL;
    if (o->kind == OPD_NONE)
        o->nelems = name.len; /* resolved when its scope closes */
    return text[0] != '%' || o->kind == OPD_FUNC ? parse_offset(p, &o->imm)
                                                 : undeclared(p, name.at, name.len);
}

static bool parse_simple_operand(struct ptx_parser *p, struct ptx_inst *i, struct ptx_opd *o) {
    *o = (struct ptx_opd){.comp = -1, .at = p->tok.at};
    if (at_punct(p, '{') || (at_punct(p, '(') && i->op == PTXOP_CALL)) {
        int close = at_punct(p, '{') ? '}' : ')';
        o->kind = close == '}' ? OPD_VECTOR : OPD_LIST;
        advance(p);
        return (close == ')' && accept(p, ')')) || parse_elements(p, i, o, close, p->opds.len);
    }
    if (at_punct(p, '['))
        return parse_address(p, i, o);
    if ((at_punct(p, '!') || at_punct(p, '-')) && peek_token(p).kind == TOK_IDENT) {
        struct lexer before = p->lx;
        struct token sign = p->tok;
        advance(p);
        if (at_const(p)) { /* -WARP_SZ */
            p->lx = before;
            p->tok = sign;
            return parse_constant(p, o);
        }
        o->neg = true;
        return parse_name(p, i, o);
    }
    if (at_const(p))
        return parse_constant(p, o);
    if (p->tok.kind == TOK_IDENT)
        return parse_name(p, i, o);
    return unexpected(p, "an operand");
}

/* An operand, or two joined by '|': a second destination. */
static bool parse_operand(struct ptx_parser *p, struct ptx_inst *i, struct ptx_opd *o) {
    if (p->nesting >= PTX_MAX_DEPTH)
        return fail(p, p->tok.at, "operands are nested too deeply");
    p->nesting++;
    bool ok = parse_simple_operand(p, i, o);
    if (ok && at_punct(p, '|')) {
        uint32_t mark = p->opds.len, at = o->at;
        struct ptx_opd second;
        vec_push(&p->opds, *o);
        advance(p);
        ok = parse_simple_operand(p, i, &second);
        vec_push(&p->opds, second);
        *o = (struct ptx_opd){.kind = OPD_PAIR, .comp = -1, .at = at};
        if (ok)
            o->elems = keep_operands(p, mark, &o->nelems);
    }
    p->nesting--;
    return ok;
}

bool parse_operands(struct ptx_parser *p, struct ptx_inst *i) {
    uint32_t mark = p->opds.len;
    if (at_punct(p, ';'))
        return true;
    do {
        struct ptx_opd o;
        if (p->opds.len - mark == PTX_MAX_OPDS)
            return fail(p, p->tok.at, "an instruction has at most %d operands", PTX_MAX_OPDS);
        if (!parse_operand(p, i, &o))
            return false;
        vec_push(&p->opds, o);
    } while (accept(p, ','));
    uint32_t n;
    i->opds = keep_operands(p, mark, &n);
    i->nopds = (uint8_t)n;
    return true;
}
