/* One instruction: guard, opcode, the words behind it, operands. */
#include <string.h>

#include "ptx/parser.h"

/* Matrix shapes come in hundreds; those without an entry of their own are one modifier. */
static bool is_shape(const char *s, size_t len) {
    static const char letters[] = "mnk";
    size_t i = 0;
    for (int k = 0; k < 3; k++) {
        if (i == len || s[i++] != letters[k])
            return false;
        size_t digits = i;
        while (i < len && s[i] >= '0' && s[i] <= '9')
            i++;
        if (i == digits)
            return false;
    }
    return i == len;
}

/* Types, then modifiers. */
static const char *next_suffix(void *ctx, uint32_t i) {
    (void)ctx;
    return i < PTX_TYPE_COUNT ? ptx_type_words[i] : ptx_mod_words[i - PTX_TYPE_COUNT];
}

bool add_word(struct ptx_parser *p, struct ptx_inst *i, const struct token *t) {
    const char *word = tok_text(p, t) + 1;
    size_t len = t->len - 1;
    uintptr_t type = (uintptr_t)map_getn(&p->types, word, len);
    if (type) {
        if (i->ntypes == PTX_MAX_TYPES)
            return fail(p, t->at, "too many types");
        i->types[i->ntypes++] = (uint8_t)(type - 1);
        return true;
    }
    uintptr_t mod = (uintptr_t)map_getn(&p->mods, word, len);
    if (!mod && is_shape(word, len))
        mod = MOD_WGMMA_SHAPE + 1;
    if (!mod)
        return fail(p, t->at, "unknown modifier '.%.*s'%s", shown_len(len), word,
                    did_you_mean(p, word, len, next_suffix, NULL));
    mod--;
    i->mods[mod / 64] |= (uint64_t)1 << mod % 64;
    if (i->nmods < PTX_MAX_ORDER)
        i->order[i->nmods++] = (uint16_t)mod;
    return true;
}

/* The bank in ld.const[1].u32 of PTX 1.x; it must touch the word, or it would be an address. */
static bool skip_bank(struct ptx_parser *p, const struct ptx_inst *i, const struct token *word) {
    if (!at_punct(p, '[') || p->tok.at != word->at + word->len || !ptx_has(i, MOD_CONST))
        return true;
    return parse_bank(p);
}

/* @p or @!p */
static bool parse_guard(struct ptx_parser *p, struct ptx_inst *i) {
    struct token name;
    uint32_t index;
    i->guarded = true;
    i->guard_neg = accept(p, '!');
    if (!expect_ident(p, "a predicate after '@'", &name))
        return false;
    const struct ptx_local *l = local_find(p, tok_text(p, &name), name.len, &index);
    if (!l)
        return undeclared(p, name.at, name.len);
    if ((l->kind != LOCAL_REG && l->kind != LOCAL_RANGE) || p->regs.at[l->first].type != PTX_PRED)
        return fail(p, name.at, "'%.*s' is not a predicate register", shown_len(name.len),
                    tok_text(p, &name));
    i->guard = l->first + index * l->vec;
    return true;
}

bool parse_instruction(struct ptx_parser *p) {
    struct ptx_inst i = {.dbg_file = p->dbg_file, .dbg_line = p->dbg_line, .dbg_site = p->dbg_site};
    struct token op;
    if (accept(p, '@') && !parse_guard(p, &i))
        return false;
    if (!expect_ident(p, "an instruction", &op))
        return false;
    i.at = op.at;
    i.line = op.line;
    const char *text = tok_text(p, &op);
    uintptr_t id = (uintptr_t)map_getn(&p->opcodes, text, op.len);
    if (!id)
        return fail(p, op.at, "unknown instruction '%.*s'%s", shown_len(op.len), text,
                    did_you_mean(p, text, op.len, next_word, (void *)ptx_opcode_words));
    i.op = (enum ptx_opcode)(id - 1);
    p->in_branch = i.op == PTXOP_BRA || i.op == PTXOP_BRX;
    while (p->tok.kind == TOK_WORD) {
        struct token word = p->tok;
        if (!add_word(p, &i, &word))
            return false;
        advance(p);
        if (!skip_bank(p, &i, &word))
            return false;
    }
    if (!parse_operands(p, &i) || !expect(p, ';', "the instruction"))
        return false;
    vec_push(&p->insts, i);
    return true;
}
