/* Annotations: what a program says of itself, for mechanisms that use it (include/reprise_approx.h).
 *
 * They are strings of .pragma directives, which the vendor's assembler passes over:
 *
 *     reprise check f32|s32|u32 REGIONS REGISTER   lanes that loaded REGISTER are compared, for these regions
 * (bits) reprise pixels REGISTER                      REGISTER is made of bytes, each a component of a pixel
 *     reprise start REGION, reprise end            what may be approximated
 *     reprise threshold NUMBER                     below which values are alike
 *
 * Each is an instruction of opcode ANNOTATION with the operands mode (enum mark_mode), number, register. So
 * is "nounroll", which the loop that begins there says of itself; it has no operands. */
#include <stdlib.h>
#include <string.h>

#include "base/ieee.h"
#include "isa/isa.h"
#include "ptx/parser.h"

enum { MAX_TEXT = 200, MAX_REGION = 31 };

static const struct annotation {
    const char *words;
    uint8_t mode;
    bool number, reg;
} annotations[] = {
    {"check f32", MARK_CHECK_F32, true, true},  {"check s32", MARK_CHECK_INT, true, true},
    {"check u32", MARK_CHECK_INT, true, true},  {"pixels", MARK_PIXELS, false, true},
    {"start", MARK_START, true, false},         {"end", MARK_END, false, false},
    {"threshold", MARK_THRESHOLD, true, false},
};

/* The rest of text behind the words, or NULL. */
static const char *behind(const char *text, const char *words) {
    size_t n = strlen(words);
    return !strncmp(text, words, n) && (!text[n] || text[n] == ' ') ? text + n : NULL;
}

static const char *next_annotation(void *ctx, uint32_t i) {
    (void)ctx;
    return i < sizeof annotations / sizeof *annotations ? annotations[i].words : NULL;
}

static bool find_register(struct ptx_parser *p, const struct token *t, const char *name, struct ptx_opd *o) {
    uint32_t index, len = (uint32_t)strcspn(name, " ");
    const struct ptx_local *l = len ? local_find(p, name, len, &index) : NULL;
    if (!l || (l->kind != LOCAL_REG && l->kind != LOCAL_RANGE))
        return fail(p, t->at, "annotation: '%.*s' is not a register", shown_len(len), name);
    o->reg = l->first + index * l->vec;
    enum ptx_type type = p->regs.at[o->reg].type;
    if (type == PTX_PRED || ptx_type_size(type) > 4)
        return fail(p, t->at, "annotation: '%.*s' has not up to 32 bits", shown_len(len), name);
    o->kind = OPD_REG;
    return true;
}

static bool find_number(struct ptx_parser *p, const struct token *t, const struct annotation *a,
                        const char **rest, struct ptx_opd *o) {
    char *end;
    if (a->mode == MARK_THRESHOLD) {
        float th = strtof(*rest, &end);
        if (end == *rest || !(th >= 0))
            return fail(p, t->at, "annotation: a threshold is a number that is not negative");
        o->imm = bits_of_float(th);
    } else {
        o->imm = strtoul(*rest, &end, 0);
        if (end == *rest || o->imm > UINT32_MAX || (a->mode == MARK_START && o->imm > MAX_REGION))
            return fail(p, t->at, "annotation: '%s' wants the number of a region, up to %d%s", a->words,
                        MAX_REGION, a->mode == MARK_START ? "" : ", as a bit");
    }
    *rest = end + strspn(end, " ");
    return true;
}

/* The header's functions are inlined: an annotation is where the program calls them. */
static void push_annotation(struct ptx_parser *p, const struct token *t, struct ptx_opd *opds, uint32_t n) {
    const struct ptx_site *s = p->dbg_site ? &p->m->sites.at[p->dbg_site - 1] : NULL;
    vec_push(&p->insts, ((struct ptx_inst){.op = PTXOP_ANNOTATION,
                                           .nopds = (uint8_t)n,
                                           .opds = opds,
                                           .at = t->at,
                                           .line = t->line,
                                           .dbg_file = s ? s->file : p->dbg_file,
                                           .dbg_line = s ? s->line : p->dbg_line}));
}

bool parse_annotation(struct ptx_parser *p, const struct token *t) {
    static const char ours[] = "\"reprise ", no_unroll[] = "\"nounroll\"";
    const char *text = tok_text(p, t);
    if (t->len == sizeof no_unroll - 1 && !strncmp(text, no_unroll, t->len)) {
        push_annotation(p, t, NULL, 0);
        return true;
    }
    if (t->len < sizeof ours || strncmp(text, ours, sizeof ours - 1))
        return true;
    char words[MAX_TEXT];
    uint32_t len = t->len - (uint32_t)sizeof ours; /* without the last quote */
    len = len < MAX_TEXT - 1 ? len : MAX_TEXT - 1;
    memcpy(words, text + sizeof ours - 1, len);
    words[len] = 0;
    for (uint32_t k = 0; k < sizeof annotations / sizeof *annotations; k++) {
        const struct annotation *a = &annotations[k];
        const char *rest = behind(words, a->words);
        if (!rest)
            continue;
        rest += strspn(rest, " ");
        struct ptx_opd *o = arena_array(&p->m->arena, struct ptx_opd, 3);
        o[0] = (struct ptx_opd){.kind = OPD_INT, .imm = a->mode, .at = t->at};
        o[1] = (struct ptx_opd){.kind = OPD_INT, .at = t->at};
        o[2] = (struct ptx_opd){.kind = OPD_NONE, .at = t->at};
        if ((a->number && !find_number(p, t, a, &rest, &o[1])) ||
            (a->reg && !find_register(p, t, rest, &o[2])))
            return false;
        push_annotation(p, t, o, 3);
        return true;
    }
    return fail(p, t->at, "unknown annotation '%.*s'%s", shown_len(len), words,
                did_you_mean(p, words, len, next_annotation, NULL));
}
