/* Instructions as assembly language, as disassemblers write it when told not to use aliases. */
#include <math.h>
#include <string.h>

#include "cpu/forms.h"

static const char *const conditions[] = {"eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc",
                                         "hi", "ls", "ge", "lt", "gt", "le", "al", "nv"};
static const char *const extensions[] = {"uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx"};
static const char *const shifts[] = {"lsl", "lsr", "asr", "ror"};
static const char element_letter[] = "bhsd";

#define F(letter) FIELD(f, letter)

static void general(struct str *o, uint32_t n, bool wide, bool sp) {
    if (n == 31)
        str_printf(o, "%s", sp ? (wide ? "sp" : "wsp") : wide ? "xzr" : "wzr");
    else
        str_printf(o, "%c%u", wide ? 'x' : 'w', n);
}

/* A vector of elements of 1 << z bytes in so many bytes. */
static void vector(struct str *o, uint32_t n, uint32_t z, uint32_t bytes) {
    str_printf(o, "v%u.%u%c", n, bytes >> z, z == 4 ? 'q' : element_letter[z]);
}

static void vectors(struct str *o, uint32_t first, uint32_t count, uint32_t z, uint32_t bytes) {
    str_printf(o, "{");
    bool range = count > 2 && first + count <= 32; /* written as a range unless it wraps */
    for (uint32_t k = 0; k < count; k++) {
        if (range && k && k + 1 < count)
            continue;
        str_printf(o, "%s", !k ? "" : range ? "-" : ", ");
        if (bytes)
            vector(o, (first + k) & 31, z, bytes);
        else
            str_printf(o, "v%u.%c", (first + k) & 31, element_letter[z]);
    }
    str_printf(o, "}");
}

static void argument_register(struct str *o, const struct a64_fields *f, uint32_t n) {
    char arg = f->row->arg;
    if (arg == 'w' || arg == 'x')
        general(o, n, arg == 'x', false);
    else
        str_printf(o, "%c%u", arg, n);
}

static void reg(struct str *o, const struct a64_fields *f, const struct form_reg *r) {
    uint32_t n = FIELD(f, r->letter), z = F('z'), bytes = 8u << F('q');
    char arg = f->row->arg;
    switch (r->kind) {
    case 'R':
    case 'P':
        general(o, n, F('s'), r->kind == 'P');
        break;
    case 'W':
    case 'X':
    case 'B':
        general(o, n, r->kind != 'W', r->kind == 'B');
        break;
    case 'b':
        general(o, n, F('s'), false);
        break;
    case 'e':
    case 'i': /* an extended register is wide when it is taken whole */
        general(o, n, (F('k') & 3) == 3 && (r->kind == 'i' || F('s')), false);
        break;
    case 'r':
        general(o, n, z == 3, false);
        break;
    case 't':
        argument_register(o, f, n);
        break;
    case 'g':
        general(o, n, arg != 'w' && arg != 's', false);
        break;
    case 'u':
        if (arg == 't')
            str_printf(o, "v%u.d[1]", n);
        else
            str_printf(o, "%c%u", arg == 'w' ? 's' : arg == 'x' ? 'd' : arg, n);
        break;
    case 'c':
        str_printf(o, "%c%u", "sd?h"[f->word >> 15 & 3], n);
        break;
    case 'p':
        if (n == 31)
            str_printf(o, "#%u", F('w'));
        else
            general(o, n, true, false);
        break;
    case 'F':
        str_printf(o, "%c%u", element_letter[z], n);
        break;
    case 'G':
        str_printf(o, "%c%u", element_letter[z + 1], n);
        break;
    case 'V':
        vector(o, n, z, bytes);
        break;
    case 'L':
        vector(o, n, z + 1, 16);
        break;
    case 'H':
        vector(o, n, z + 1, bytes);
        break;
    case 'E': /* of two elements the second has the second index */
        str_printf(o, "v%u.%c[%u]", n, element_letter[z],
                   r->letter == 'n' && f->row->encoding[17] == 'j' ? F('y') : F('x'));
        break;
    case 'T':
        vectors(o, n, (uint32_t)(arg - '0'), z, bytes);
        break;
    case 'K':
        vectors(o, n, (uint32_t)(arg - '0'), z, 0);
        str_printf(o, "[%u]", F('x'));
        break;
    default: /* S */
        vectors(o, n, F('i') + 1, 0, 16);
        break;
    }
}

/* ---- what is not a register; each prints the operand between braces that has its name ---- */

typedef void print_operand(struct str *o, const struct a64_fields *f, const struct a64_inst *i);

static void print_address(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    (void)f;
    str_printf(o, "0x%llx", (unsigned long long)i->imm);
}

static void print_imm12(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    (void)i;
    str_printf(o, "#0x%x%s", F('i'), F('k') ? ", lsl #12" : "");
}

static void print_imm16(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    str_printf(o, "#0x%x", F('i'));
    if (i->aux)
        str_printf(o, ", lsl #%u", i->aux);
}

static void print_hex(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    (void)f;
    str_printf(o, "#0x%llx", (unsigned long long)i->imm);
}

static void print_imm(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    (void)f;
    str_printf(o, "#%lld", (long long)i->imm);
}

static void print_offset(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    (void)f;
    if (i->imm)
        str_printf(o, ", #%lld", (long long)i->imm);
}

static void print_i(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    (void)i;
    str_printf(o, "#%u", F('i'));
}

static void print_j(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    (void)i;
    str_printf(o, "#%u", F('j'));
}

static void print_xi(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    (void)i;
    str_printf(o, "#0x%x", F('i'));
}

static void print_xj(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    (void)i;
    str_printf(o, "#0x%x", F('j'));
}

static void print_sh(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    (void)i;
    str_printf(o, "#%u", F('w'));
}

static void print_fbits(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    (void)f;
    str_printf(o, "#%u", i->aux);
}

static void print_shift(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    (void)i;
    if (F('i') || F('k'))
        str_printf(o, ", %s #%u", shifts[F('k')], F('i'));
}

/* Beside the stack pointer the plain extension is written as a shift, or not at all. */
static void print_extend(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    bool sets_flags = f->word >> 29 & 1, plain = F('k') == (F('s') ? 3u : 2u);
    (void)i;
    if (plain && (F('n') == 31 || (F('d') == 31 && !sets_flags))) {
        if (F('i'))
            str_printf(o, ", lsl #%u", F('i'));
        return;
    }
    str_printf(o, ", %s", extensions[F('k')]);
    if (F('i'))
        str_printf(o, " #%u", F('i'));
}

static void print_index(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    if (F('k') != 3)
        str_printf(o, ", %s", extensions[F('k')]);
    else if (F('i'))
        str_printf(o, ", lsl");
    if (F('i'))
        str_printf(o, " #%u", i->aux);
}

static void print_cond(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    (void)i;
    str_printf(o, "%s", conditions[F('c')]);
}

static void print_sysreg(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    (void)f;
    str_printf(o, "%s", a64_sysregs[i->aux].name);
}

static void print_cacheop(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    (void)i;
    char a = f->row->arg;
    str_printf(o, "%s", a == 'z' ? "zva" : a == 'c' ? "cvac" : a == 'u' ? "cvau" : "civac");
}

static void print_barrier(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    static const char *const names[] = {NULL, "oshld", "oshst", "osh", NULL, "nshld", "nshst", "nsh",
                                        NULL, "ishld", "ishst", "ish", NULL, "ld",    "st",    "sy"};
    (void)i;
    if (names[F('i')])
        str_printf(o, "%s", names[F('i')]);
    else
        str_printf(o, "#0x%02x", F('i'));
}

static void print_clrex(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    (void)i;
    if (F('i') != 15)
        str_printf(o, "#0x%x", F('i'));
}

static void print_prefetch(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    static const char *const types[] = {"pld", "pli", "pst"};
    uint32_t op = F('d');
    (void)i;
    if (op >> 3 < 3 && (op >> 1 & 3) < 3)
        str_printf(o, "%sl%u%s", types[op >> 3], (op >> 1 & 3) + 1, op & 1 ? "strm" : "keep");
    else
        str_printf(o, "#0x%02x", op);
}

static void print_float(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    uint32_t e = F('i') >> 4 & 7;
    double v = ldexp(1 + (F('i') & 15) / 16.0, (int)(e ^ 4) - 3);
    (void)i;
    str_printf(o, "#%.18e", F('i') >> 7 ? -v : v);
}

static void print_movi(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    char arg = f->row->arg;
    uint32_t by = arg == 'm' ? 8 + 8 * F('k') : 8 * F('k');
    (void)i;
    str_printf(o, "#0x%x", F('w'));
    if (arg == 'm' || by)
        str_printf(o, ", %s #%u", arg == 'm' ? "msl" : "lsl", by);
}

static void print_table(struct str *o, const struct a64_fields *f, const struct a64_inst *i) {
    (void)i;
    str_printf(o, "#%u", F('h'));
}

static const struct {
    const char *name;
    print_operand *print;
} operands[] = {
    {"address", print_address},
    {"target", print_address},
    {"imm12", print_imm12},
    {"imm16", print_imm16},
    {"hex", print_hex},
    {"imm", print_imm},
    {"offset", print_offset},
    {"i", print_i},
    {"j", print_j},
    {"xi", print_xi},
    {"xj", print_xj},
    {"sh", print_sh},
    {"fbits", print_fbits},
    {"shift", print_shift},
    {"extend", print_extend},
    {"index", print_index},
    {"cond", print_cond},
    {"sysreg", print_sysreg},
    {"cacheop", print_cacheop},
    {"barrier", print_barrier},
    {"clrex", print_clrex},
    {"isb", print_clrex},
    {"prefetch", print_prefetch},
    {"float", print_float},
    {"movi", print_movi},
    {"table", print_table},
};

/* Prints the operand named at p; the text behind its brace. */
static const char *braces(struct str *o, const char *p, const struct a64_fields *f,
                          const struct a64_inst *i) {
    const char *end = strchr(p, '}');
    for (size_t k = 0; k < sizeof operands / sizeof operands[0]; k++)
        if (strlen(operands[k].name) == (size_t)(end - p) && !memcmp(operands[k].name, p, (size_t)(end - p)))
            operands[k].print(o, f, i);
    return end + 1;
}

void a64_print(struct str *out, uint32_t word, uint64_t pc) {
    enum a64_op op = a64_find(word);
    if (op == A64_OPS) {
        str_printf(out, ".inst 0x%08x", word);
        return;
    }
    const struct a64_info *row = a64_info(op);
    const struct a64_form *form = &a64_forms[row->form];
    struct a64_fields fields, *f = &fields;
    struct a64_inst i = {0};
    a64_split(row, word, pc, f);
    form->make(f, &i);
    const char *p = form->operands;
    str_printf(out, "%s", row->name);
    if (row->name[strlen(row->name) - 1] == '.')
        str_printf(out, "%s", conditions[F('c')]);
    if (*p == '2' && p++ && F('q'))
        str_printf(out, "2");
    if (op == A64_RET && F('n') == A64_LR)
        return;
    struct str text = {0};
    while (*p) {
        struct form_reg r;
        if (*p == '%') {
            p = form_next_reg(p, &r);
            reg(&text, f, &r);
        } else if (*p == '{') {
            p = braces(&text, p + 1, f, &i);
        } else {
            str_add(&text, p++, 1);
        }
    }
    if (text.len)
        str_printf(out, " %s", text.at);
    str_free(&text);
}
