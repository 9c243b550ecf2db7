/* The disassembler. Every modifier that changes what an instruction does is printed; names come from tables.
 */
#include "ir/facts.h"
#include "isa/mma.h"

#define NAMES(...)                                                                                           \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

/* Names of m.mode for operations that have a list of modes. */
static const struct mode_names {
    const char *const *names;
    uint32_t n;
} mode_names[OP_COUNT] = {
    [OP_PRMT] = {NAMES("", ".F4E", ".B4E", ".RC8", ".ECL", ".ECR", ".RC16")},
    [OP_SHF] = {NAMES(".L", ".R", ".L.W", ".R.W")},
    [OP_IADD3] = {NAMES("", ".-PP", ".P-P", ".--P", ".PP-", ".-P-", ".P--", ".---")},
    [OP_FLO] = {NAMES("", ".SH")},
    [OP_ENQ] = {NAMES(".ADDR", ".DATA")},
    [OP_MARK] = {NAMES(".CHECK.F32", ".CHECK.INT", ".PIXELS", ".START", ".END", ".THRESHOLD")},
    [OP_BMSK] = {NAMES(".C", ".W")},
    [OP_SZEXT] = {NAMES(".C", ".W")},
    [OP_SEXT] = {NAMES(".U8", ".S8", ".U16", ".S16")},
    [OP_FMIN] = {NAMES("", ".NAN", ".XORSIGN", ".NAN.XORSIGN")},
    [OP_FMAX] = {NAMES("", ".NAN", ".XORSIGN", ".NAN.XORSIGN")},
    [OP_HMIN2] = {NAMES("", ".NAN", ".XORSIGN", ".NAN.XORSIGN")},
    [OP_HMAX2] = {NAMES("", ".NAN", ".XORSIGN", ".NAN.XORSIGN")},
    [OP_FDIVA] = {NAMES("", ".FULL")},
    [OP_FAPX] = {NAMES(".RCP", ".RSQ", ".SQRT", ".LG2", ".EX2", ".SIN", ".COS", ".TANH")},
    [OP_MUFU] = {NAMES(".RCP", ".RSQ", ".SQRT", ".LG2", ".EX2", ".SIN", ".COS", ".TANH")},
    [OP_MUFU64H] = {NAMES(".RCP", ".RSQ", ".SQRT", ".LG2", ".EX2", ".SIN", ".COS", ".TANH")},
    [OP_HMUFU] = {NAMES(".RCP", ".RSQ", ".SQRT", ".LG2", ".EX2", ".SIN", ".COS", ".TANH")},
    [OP_FTESTP] = {NAMES(".FINITE", ".INF", ".NUM", ".NAN", ".NORM", ".SUBNORM")},
    [OP_DTESTP] = {NAMES(".FINITE", ".INF", ".NUM", ".NAN", ".NORM", ".SUBNORM")},
    [OP_SHFL] = {NAMES(".UP", ".DOWN", ".BFLY", ".IDX")},
    [OP_VOTE] = {NAMES(".ALL", ".ANY", ".EQ", ".BALLOT")},
    [OP_MATCH] = {NAMES(".ANY", ".ALL")},
    [OP_REDUX] = {NAMES(".SUM", ".MIN", ".MAX", ".AND", ".OR", ".XOR")},
    [OP_BAR] = {NAMES(".SYNC", ".ARV", ".RED.AND", ".RED.OR", ".RED.POPC", ".CLUSTER.ARV", ".CLUSTER.WAIT")},
    [OP_LDGSTS] = {NAMES("", ".BULK", ".BULK.OUT")},
    [OP_MBAR] = {NAMES(".INIT", ".INVAL", ".ARRIVE", ".ARRIVE.DROP", ".TEST", ".EXPECT.TX", ".PENDING")},
    [OP_TEX] = {NAMES("", ".LL", ".DD", ".GATHER")},
    [OP_LDSM] = {NAMES("", ".T")},
    [OP_STSM] = {NAMES("", ".T")},
    [OP_TXQ] = {NAMES(".WIDTH", ".HEIGHT", ".DEPTH", ".TYPE", ".ORDER", ".LEVELS", ".SAMPLES", ".ARRAY",
                      ".NORM", ".FILTER", ".ADDR0", ".ADDR1", ".ADDR2")},
};

static const char *const special_names[SR_COUNT] = {
    [SR_TID_X] = "SR_TID.X",
    [SR_TID_Y] = "SR_TID.Y",
    [SR_TID_Z] = "SR_TID.Z",
    [SR_CTAID_X] = "SR_CTAID.X",
    [SR_CTAID_Y] = "SR_CTAID.Y",
    [SR_CTAID_Z] = "SR_CTAID.Z",
    [SR_LANEID] = "SR_LANEID",
    [SR_WARPID] = "SR_WARPID",
    [SR_NWARPID] = "SR_NWARPID",
    [SR_SMID] = "SR_SMID",
    [SR_NSMID] = "SR_NSMID",
    [SR_GRIDID] = "SR_GRIDID",
    [SR_LANEMASK_EQ] = "SR_EQMASK",
    [SR_LANEMASK_LT] = "SR_LTMASK",
    [SR_LANEMASK_LE] = "SR_LEMASK",
    [SR_LANEMASK_GT] = "SR_GTMASK",
    [SR_LANEMASK_GE] = "SR_GEMASK",
    [SR_CLOCK_LO] = "SR_CLOCKLO",
    [SR_CLOCK_HI] = "SR_CLOCKHI",
    [SR_GLOBALTIMER_LO] = "SR_GLOBALTIMERLO",
    [SR_GLOBALTIMER_HI] = "SR_GLOBALTIMERHI",
    [SR_ACTIVEMASK] = "SR_ACTIVEMASK",
    [SR_DYN_SMEM] = "SR_DYNSMEM",
    [SR_DYN_SIZE] = "SR_DYNSIZE",
    [SR_TOTAL_SMEM] = "SR_TOTALSMEM",
    [SR_CLUSTER_CTAID_X] = "SR_CLUSTERCTAID.X",
    [SR_CLUSTER_CTAID_Y] = "SR_CLUSTERCTAID.Y",
    [SR_CLUSTER_CTAID_Z] = "SR_CLUSTERCTAID.Z",
    [SR_CLUSTER_CTARANK] = "SR_CLUSTERCTARANK",
    [SR_CLUSTERID_X] = "SR_CLUSTERID.X",
    [SR_CLUSTERID_Y] = "SR_CLUSTERID.Y",
    [SR_CLUSTERID_Z] = "SR_CLUSTERID.Z",
    [SR_ZERO] = "SRZ",
};

/* Comparisons as sets of {less, equal, greater, unordered}. */
static const char *const cmp_names[16] = {"F",   "LT",  "EQ",  "LE",  "GT",  "NE",  "GE",  "NUM",
                                          "NAN", "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", "T"};
static const char *const rnd_names[] = {"", ".RZ", ".RM", ".RP", ".RNA"};
static const char *const bool_names[] = {".AND", ".OR", ".XOR"};
static const char *const space_names[] = {"", ".GLOBAL", ".SHARED", ".LOCAL", ".CONST"};
static const char *const atom_names[ATOM_COUNT] = {".ADD", ".MIN", ".MAX", ".INC",  ".DEC",
                                                   ".AND", ".OR",  ".XOR", ".EXCH", ".CAS"};
static const char *const geom_names[] = {".1D",       ".2D",   ".3D",        ".ARRAY.1D",
                                         ".ARRAY.2D", ".CUBE", ".ARRAY.CUBE"};

#define PICK(names, k) ((k) < sizeof(names) / sizeof *(names) ? (names)[k] : ".?")

struct printer {
    struct str *out;
    bool virt; /* registers are virtual */
    const char *sep;
};

static const char *const syscall_names[] = {
#define SYSCALL(id, name, print) print,
#include "isa/syscalls.def"
#undef SYSCALL
};

static void print_mode(struct str *out, const struct inst *i) {
    if (i->op == OP_SYSCALL) {
        str_printf(out, "%s", PICK(syscall_names, i->m.mode));
        return;
    }
    const struct mode_names *t = &mode_names[i->op];
    if (t->n)
        str_printf(out, "%s", i->m.mode < t->n ? t->names[i->m.mode] : ".?");
    else if ((op_info[i->op].flags & OPF_MODE) && i->op != OP_LOP3)
        str_printf(out, ".M%x", i->m.mode);
}

static void print_data_mods(struct str *out, const struct inst *i) {
    static const char *const narrow[2][2] = {{".U8", ".S8"}, {".U16", ".S16"}};
    const struct imods *m = &i->m;
    if (i->op != OP_LDC)
        str_printf(out, "%s", PICK(space_names, m->space));
    if (m->a64)
        str_printf(out, ".E");
    if (op_info[i->op].flags & OPF_ATOMIC) {
        if (i->op != OP_MBAR)
            str_printf(out, "%s.%s", PICK(atom_names, m->aop),
                       m->dtype < MT_COUNT ? mtype_name(m->dtype) : "?");
        if (m->noftz)
            str_printf(out, ".NOFTZ");
    } else if (m->size == 1 || m->size == 2) {
        str_printf(out, "%s", narrow[m->size - 1][m->sgn]);
    } else if (m->size > 4) {
        str_printf(out, ".%u", m->size * 8);
    }
    if (m->vec > 1)
        str_printf(out, ".V%u", m->vec);
    if (m->vol)
        str_printf(out, ".STRONG");
}

static void print_tex_mods(struct str *out, const struct inst *i) {
    const struct imods *m = &i->m;
    static const char *const clamps[] = {".TRAP", ".CLAMP", ".ZERO"};
    if (i->op == OP_TXQ)
        return;
    str_printf(out, "%s", PICK(geom_names, m->geom));
    if (i->op == OP_TEX) {
        str_printf(out, ".%s.%s", m->dtype < MT_COUNT ? mtype_name(m->dtype) : "?",
                   m->stype < MT_COUNT ? mtype_name(m->stype) : "?");
        if (m->mode == TEXM_GATHER)
            str_printf(out, ".%c", "RGBA"[m->lut & 3]);
        if (m->vec < 4)
            str_printf(out, m->vec == 1 ? ".R" : ".RG");
        return;
    }
    str_printf(out, "%s", PICK(clamps, m->lut));
    if (i->op == OP_SURED)
        str_printf(out, "%s.%s", PICK(atom_names, m->aop), m->dtype < MT_COUNT ? mtype_name(m->dtype) : "?");
    str_printf(out, ".%u", m->size * 8);
    if (m->vec > 1)
        str_printf(out, ".V%u", m->vec);
}

/* Modifiers of computing operations. */
static void print_value_mods(struct str *out, const struct inst *i) {
    const struct imods *m = &i->m;
    uint16_t flags = op_info[i->op].flags;
    uint8_t form = op_info[i->op].form;
    bool half = i->op >= OP_HADD2 && i->op <= OP_HMUFU;
    if (form == FORM_FN_CVT)
        str_printf(out, ".%s.%s", m->dtype < MT_COUNT ? mtype_name(m->dtype) : "?",
                   m->stype < MT_COUNT ? mtype_name(m->stype) : "?");
    else if ((half || i->op == OP_HSETP2 || i->op == OP_F2FP) && m->dtype < MT_COUNT)
        str_printf(out, ".%s", mtype_name(m->dtype));
    if ((form == FORM_FN_SETP1 || form == FORM_FN_SETP2 || i->op == OP_HSET2) && m->cmp < 16)
        str_printf(out, ".%s", cmp_names[m->cmp]);
    if (flags & OPF_SIGNED)
        str_printf(out, "%s", m->sgn ? "" : ".U32");
    print_mode(out, i);
    if (m->rint)
        str_printf(out, ".INT");
    str_printf(out, "%s%s%s%s", PICK(rnd_names, m->rnd), m->ftz ? ".FTZ" : "", m->sat ? ".SAT" : "",
               m->relu ? ".RELU" : "");
    if (form == FORM_FN_SETP1 || form == FORM_FN_SETP2 || form == FORM_FN_PLOP || i->op == OP_HSET2)
        str_printf(out, "%s", PICK(bool_names, m->bop));
    if (i->op == OP_ISSPACE)
        str_printf(out, "%s%s", PICK(space_names, m->space), m->mode == ISSPACE_CLUSTER ? ".CLUSTER" : "");
}

/* The shape as real machine code has it, and the types of result, A and, where it is another, B. */
static void print_mma_mods(struct str *out, const struct inst *i) {
    const struct imods *m = &i->m;
    if (i->op == OP_MMA)
        str_printf(out, "%s.%u8%u", m->mode & MMA_SPARSE ? ".SP" : "", mma_m(m->mode), mma_k(m->mode));
    str_printf(out, ".%s.%s", m->dtype < MT_COUNT ? mtype_name(m->dtype) : "?",
               m->stype < MT_COUNT ? mtype_name(m->stype) : "?");
    if (m->lut != m->stype)
        str_printf(out, ".%s", m->lut < MT_COUNT ? mtype_name(m->lut) : "?");
    if (m->stype == MT_B1)
        str_printf(out, "%s", m->mode & MMA_AND ? ".AND" : ".XOR");
    str_printf(out, "%s%s%s%s", PICK(rnd_names, m->rnd), m->sat ? ".SAT" : "",
               m->mode & MMA_A_COL ? ".ACOL" : "", m->mode & MMA_B_ROW ? ".BROW" : "");
}

static void print_mods(struct str *out, const struct inst *i) {
    switch (op_info[i->op].form) {
    case FORM_MEM:
        print_mode(out, i);
        print_data_mods(out, i);
        break;
    case FORM_TEX:
        print_mode(out, i);
        print_tex_mods(out, i);
        break;
    case FORM_MMA:
        print_mma_mods(out, i);
        break;
    case FORM_WARP:
    case FORM_CTRL:
        print_mode(out, i);
        if (i->op == OP_REDUX && !i->m.sgn)
            str_printf(out, ".U32");
        if (i->m.uni)
            str_printf(out, ".UNI");
        break;
    default:
        if (i->op != OP_S2R)
            print_value_mods(out, i);
    }
}

static void sep(struct printer *p) {
    str_printf(p->out, "%s", p->sep);
    p->sep = ", ";
}

static void print_pred(struct printer *p, const struct popd *o) {
    if (o->neg)
        str_printf(p->out, "!");
    if (o->id == VPRED_PT)
        str_printf(p->out, "PT");
    else
        str_printf(p->out, "%s%u", p->virt ? "VP" : "P", o->id);
}

static void print_opd(struct printer *p, const struct opd *o) {
    const char *bar = o->mod & OMOD_ABS ? "|" : "";
    str_printf(p->out, "%s%s", o->mod & OMOD_NEG ? "-" : "", bar);
    switch (o->kind) {
    case O_REG:
        if (o->v == VREG_RZ)
            str_printf(p->out, "RZ");
        else if (p->virt)
            str_printf(p->out, "V%u.%u", o->v, o->word);
        else
            str_printf(p->out, "R%u", o->v);
        break;
    case O_IMM:
        str_printf(p->out, "0x%x", o->v);
        break;
    case O_CONST:
        if (o->bank == BANK_QUEUE) {
            str_printf(p->out, "DEQ");
            break;
        }
        str_printf(p->out, "c[0x%x][0x%x]", o->bank, o->v);
        break;
    default:
        str_printf(p->out, "-");
    }
    str_printf(p->out, "%s", bar);
}

static void print_address(struct printer *p, const struct inst *i, const struct opd *o) {
    if (i->op == OP_LDC)
        str_printf(p->out, "c[0x%x]", i->m.mode);
    str_printf(p->out, "[");
    bool bare = o->kind == O_REG && o->v == VREG_RZ && i->imm && !i->frame;
    if (!bare)
        print_opd(p, o);
    if (i->imm)
        str_printf(p->out, "%s%s0x%x", bare ? "" : "+", i->imm < 0 ? "-" : "",
                   i->imm < 0 ? 0u - (uint32_t)i->imm : (uint32_t)i->imm);
    if (i->frame)
        str_printf(p->out, "+FRAME");
    str_printf(p->out, "]");
}

static void print_sources(struct printer *p, const struct inst *i) {
    bool mem = op_info[i->op].form == FORM_MEM;
    for (uint32_t s = 0; s < i->nsrc && s < 4; s++) {
        if (i->src[s].kind == O_NONE)
            continue;
        sep(p);
        if (mem && s == 0)
            print_address(p, i, &i->src[s]);
        else
            print_opd(p, &i->src[s]);
    }
    if (i->frame && !mem) {
        sep(p);
        str_printf(p->out, "FRAME");
    } else if (i->imm && !mem) {
        sep(p);
        str_printf(p->out, "0x%x", (uint32_t)i->imm);
    }
}

static void print_operands(struct printer *p, const struct inst *i) {
    const struct form_info *form = &form_info[op_info[i->op].form];
    p->sep = " ";
    if (i->dst.kind == O_REG) {
        sep(p);
        print_opd(p, &i->dst);
    }
    /* Predicate results are shown where the form always has them, elsewhere only when used. */
    bool always = !form->dst;
    for (uint32_t k = 0; k < form->pdst; k++)
        if (always || i->pdst[k].id != VPRED_PT) {
            sep(p);
            print_pred(p, &i->pdst[k]);
        }
    if (i->op == OP_S2R) {
        sep(p);
        str_printf(p->out, "%s", PICK(special_names, i->m.mode));
    }
    print_sources(p, i);
    if (i->op == OP_MMA && i->m.mode & MMA_SPARSE) {
        sep(p);
        str_printf(p->out, "0x%x", mma_selector(i->m.mode));
    }
    if (i->op == OP_LOP3) {
        sep(p);
        str_printf(p->out, "0x%02x", i->m.mode);
    }
    uint8_t shape = op_info[i->op].form;
    bool carry = shape == FORM_FN_CARRY, compare = shape == FORM_FN_SETP1 || shape == FORM_FN_SETP2;
    bool optional = shape == FORM_WARP || shape == FORM_CTRL;
    for (uint32_t k = 0; k < form->psrc; k++) {
        const struct popd *s = &i->psrc[k];
        if (s->id == VPRED_PT && ((carry && s->neg) || (optional && !s->neg && i->op != OP_VOTE)))
            continue;
        if (k && compare && i->op != OP_ISETPX && s->id == VPRED_PT && !s->neg)
            continue;
        sep(p);
        print_pred(p, s);
    }
}

static void print_inst(struct str *out, const struct inst *i, bool virt, bool linked) {
    struct printer p = {.out = out, .virt = virt};
    if (i->guard.id != VPRED_PT || i->guard.neg) {
        str_printf(out, "@");
        print_pred(&p, &i->guard);
        str_printf(out, " ");
    }
    str_printf(out, "%s", i->op < OP_COUNT ? op_info[i->op].name : "?");
    if (i->op >= OP_COUNT)
        return;
    print_mods(out, i);
    print_operands(&p, i);
    if (i->op == OP_BRA) {
        sep(&p);
        str_printf(out, linked ? "0x%04x" : "B%u", linked ? i->target * INST_BYTES : i->target);
    } else if (i->op == OP_CALL) {
        sep(&p);
        str_printf(out, "F%u", i->target);
    } else if (i->op == OP_BRX) {
        sep(&p);
        str_printf(out, "T%u", i->target);
    }
    if (linked && (i->op == OP_BRA || i->op == OP_BRX) && i->rpc != NO_RPC)
        str_printf(out, " (0x%04x)", i->rpc * INST_BYTES);
    str_printf(out, " ;");
}

void ir_print_inst(struct str *out, const struct inst *i) {
    print_inst(out, i, false, true);
}

static void print_edges(struct str *out, const struct block *b) {
    str_printf(out, " ->");
    for (uint32_t s = 0; s < b->succ.len; s++)
        str_printf(out, " B%u", b->succ.at[s]);
    if (b->depth)
        str_printf(out, " depth %u", b->depth);
    if (b->ipdom != NO_BLOCK)
        str_printf(out, " join B%u", b->ipdom);
    str_printf(out, "\n");
}

void ir_print_fn(struct str *out, const struct fn *f) {
    str_printf(out, "%s %s:\n", f->entry ? "entry" : "function", f->name ? f->name : "?");
    for (uint32_t b = 0; b < f->blocks.len; b++) {
        str_printf(out, "B%u:", b);
        print_edges(out, &f->blocks.at[b]);
        for (uint32_t k = 0; k < f->blocks.at[b].insts.len; k++) {
            str_printf(out, "    ");
            print_inst(out, &f->blocks.at[b].insts.at[k], !f->allocated, false);
            str_printf(out, "\n");
        }
    }
    for (uint32_t t = 0; t < f->tables.len; t++) {
        str_printf(out, "T%u:", t);
        for (uint32_t k = 0; k < f->tables.at[t].n; k++)
            str_printf(out, " B%u", f->tables.at[t].blocks[k]);
        str_printf(out, "\n");
    }
}

enum { NOTE_COLUMN = 56 };

void ir_print_program(struct str *out, const struct program *p) {
    for (uint32_t k = 0; k < p->ncode; k++) {
        for (uint32_t n = 0; n < p->fns.len; n++)
            if (p->fn_entry[n] == k)
                str_printf(out, "%s:\n", p->fns.at[n]->name ? p->fns.at[n]->name : "?");
        uint32_t start = out->len;
        str_printf(out, "/*%04x*/  ", k * INST_BYTES);
        ir_print_inst(out, &p->code[k]);
        const char *note = note_of(p, &p->code[k]);
        if (note)
            str_printf(out, "%*s# %s",
                       (int)(NOTE_COLUMN > out->len - start ? NOTE_COLUMN - (out->len - start) : 1), "",
                       note);
        str_printf(out, "\n");
    }
    for (uint32_t t = 0; t < p->tables.len; t++) {
        str_printf(out, "T%u:", t);
        for (uint32_t k = 0; k < p->tables.at[t].n; k++)
            str_printf(out, " 0x%04x", p->tables.at[t].at[k] * INST_BYTES);
        str_printf(out, "\n");
    }
    for (uint32_t n = 0; n < p->streams.len; n++) {
        str_printf(out, "; a stream beside %s\n", p->name);
        ir_print_program(out, p->streams.at[n]);
    }
}
