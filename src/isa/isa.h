/* The machine: operations, modifiers and the facts about them that everything else is derived from.
 *
 * A warp has up to 255 general registers of 32 lanes x 32 bits (RZ reads zero) and seven predicate registers
 * of 32 bits (PT reads true). 64-bit values live in aligned pairs, vectors in aligned groups. An instruction
 * occupies 8 bytes of the instruction address space, has a guard predicate, at most one operand that is an
 * immediate or a constant-bank word, and memory operands of the form [R + imm]. */
#ifndef REPRISE_ISA_ISA_H
#define REPRISE_ISA_ISA_H

#include <stdbool.h>
#include <stdint.h>

#include "reprise.h"

enum { WARP_LANES = 32, INST_BYTES = 8, MAX_GPR = 255, NUM_PRED = 7, REG_RZ = 255, PRED_PT = 7 };

enum op {
#define OP(id, ...) OP_##id,
#include "isa/ops.def"
#undef OP
    OP_COUNT
};

enum { MAX_SOURCE_WORDS = 20 }; /* of an instruction: those of a matrix product */

enum op_form {
#define FORM(id, ...) FORM_##id,
#include "isa/forms.def"
#undef FORM
    FORM_COUNT
};

enum op_unit { UNIT_SP, UNIT_SFU, UNIT_DP, UNIT_TENSOR, UNIT_MEM, UNIT_TEX, UNIT_CTRL, UNIT_COUNT };
enum op_latency {
    LAT_MOV,
    LAT_ALU,
    LAT_IMUL,
    LAT_FP,
    LAT_SFU,
    LAT_DP,
    LAT_CVT,
    LAT_MMA,
    LAT_MOVM,
    LAT_MEMORY,
    LAT_CONST,
    LAT_TEX,
    LAT_CTRL,
    LAT_COUNT
};
enum op_energy {
    EN_MOV,
    EN_LOGIC,
    EN_SHIFT,
    EN_IADD,
    EN_IMUL,
    EN_IMAD,
    EN_FADD,
    EN_FMUL,
    EN_FFMA,
    EN_SFU,
    EN_DADD,
    EN_DMUL,
    EN_DFMA,
    EN_CVT,
    EN_MMA,
    EN_LDST,
    EN_ATOM,
    EN_TEX,
    EN_CTRL,
    EN_COUNT
};

enum op_flags {
    OPF_COMMUTES = 1 << 0, /* the first two sources may be swapped */
    OPF_SIGNED = 1 << 1,   /* m.sgn matters */
    OPF_MODE = 1 << 2,     /* m.mode matters */
    OPF_FMOD = 1 << 3,     /* float sources may carry neg and abs; m.rnd, m.ftz, m.sat matter */
    OPF_COPY = 1 << 4,     /* plain copy */
    OPF_LANE = 1 << 5,     /* result depends on which thread computes it */
    OPF_LOAD = 1 << 6,
    OPF_STORE = 1 << 7,
    OPF_ATOMIC = 1 << 8,
    OPF_EFFECT = 1 << 9, /* must not be removed, duplicated or moved across another effect */
    OPF_CROSS = 1 << 10, /* reads other lanes */
    OPF_END = 1 << 11,   /* may end a basic block */
    OPF_MACRO = 1 << 12, /* the compiler replaces it by a sequence of others (opt/expand.c) */
};

/* One row of the operation table. */
struct op_info {
    const char *name;
    uint8_t form, unit, latency, energy;
    uint16_t flags;
};
extern const struct op_info op_info[OP_COUNT];

enum { WORDS_VAR = 255 };
/* One row of the form table; WORDS_VAR where the instruction decides. */
struct form_info {
    uint8_t dst, pdst, nsrc, src[4], psrc;
};
extern const struct form_info form_info[FORM_COUNT];

/* Value types of conversions and memory data. */
enum mtype {
    MT_U8,
    MT_S8,
    MT_U16,
    MT_S16,
    MT_U32,
    MT_S32,
    MT_U64,
    MT_S64,
    MT_F16,
    MT_BF16,
    MT_F32,
    MT_F64,
    MT_TF32,
    MT_F16X2,
    MT_BF16X2,
    MT_E4M3X2,
    MT_E5M2X2,
    MT_B128,
    MT_E4M3, /* from here on: elements of matrices alone */
    MT_E5M2,
    MT_S4,
    MT_U4,
    MT_B1,
    MT_COUNT
};
/* Bytes of a value of type t. */
uint32_t mtype_size(enum mtype t);
const char *mtype_name(enum mtype t);

/* CMP_* form a set: a comparison is true when the relation of its operands is in the set. */
enum cmp { CMP_LT = 1, CMP_EQ = 2, CMP_GT = 4, CMP_UN = 8 };
enum rounding { RND_RN, RND_RZ, RND_RM, RND_RP, RND_RNA };
enum bool_op { BOOL_AND, BOOL_OR, BOOL_XOR };
enum mem_space { MS_GENERIC, MS_GLOBAL, MS_SHARED, MS_LOCAL, MS_CONST };
enum atom_op {
    ATOM_ADD,
    ATOM_MIN,
    ATOM_MAX,
    ATOM_INC,
    ATOM_DEC,
    ATOM_AND,
    ATOM_OR,
    ATOM_XOR,
    ATOM_EXCH,
    ATOM_CAS,
    ATOM_COUNT
};
enum mufu { MUFU_RCP, MUFU_RSQ, MUFU_SQRT, MUFU_LG2, MUFU_EX2, MUFU_SIN, MUFU_COS, MUFU_TANH, MUFU_COUNT };
enum minmax_mode { MINMAX_NAN = 1, MINMAX_XORSIGN = 2 };
enum shf_mode { SHF_RIGHT = 1, SHF_WRAP = 2 };
enum shfl_mode { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };
enum vote_mode { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };
enum match_mode { MATCH_ANY, MATCH_ALL };
enum redux_mode { REDUX_ADD, REDUX_MIN, REDUX_MAX, REDUX_AND, REDUX_OR, REDUX_XOR };
enum bar_mode {
    BAR_SYNC,
    BAR_ARRIVE,
    BAR_RED_AND,
    BAR_RED_OR,
    BAR_RED_POPC,
    BAR_CLUSTER_ARRIVE,
    BAR_CLUSTER_WAIT
};
enum isspace_mode {
    ISSPACE_OWN,
    ISSPACE_CLUSTER
}; /* shared memory: the block's own, or any of the cluster's */
enum testp_mode {
    TESTP_FINITE,
    TESTP_INFINITE,
    TESTP_NUMBER,
    TESTP_NOTANUMBER,
    TESTP_NORMAL,
    TESTP_SUBNORMAL
};
enum fdiv_mode { FDIV_APPROX, FDIV_FULL };
enum ext_mode { EXT_U8, EXT_S8, EXT_U16, EXT_S16 }; /* SEXT */
enum prmt_mode { PRMT_NONE, PRMT_F4E, PRMT_B4E, PRMT_RC8, PRMT_ECL, PRMT_ECR, PRMT_RC16 };
enum wrap_mode { MODE_CLAMP, MODE_WRAP };                     /* BMSK, SZEXT */
enum dp_mode { DP_A_SIGNED = 1, DP_B_SIGNED = 2, DP_HI = 4 }; /* DP4A, DP2A; HI: upper bytes of b */
enum flo_mode { FLO_SHIFTAMT = 1 };
enum hset_mode { HSET_ONE, HSET_MASK }; /* true is 1.0 or all ones in each half */
enum cvt_mode {
    CVT_SATFINITE = 1
}; /* F2F, F2FP to f16, bf16, tf32: overflow gives the largest finite number */

/* VIDEO: one scalar video instruction, d = op2(op(a.asel, b.bsel), c) or the result merged into part dsel of
 * c. m.mode = VIDEO_MODE(op, asel, bsel, dsel, op2, wrap), m.lut = set of enum video_lut, m.sat, and m.cmp
 * for VSET. dsel other than SEL_ALL means merge; op2 is then VOP2_NONE. Without either, c does not matter. */
enum video_op {
    VID_ADD,
    VID_SUB,
    VID_ABSDIFF,
    VID_MIN,
    VID_MAX,
    VID_SHL,
    VID_SHR,
    VID_SET,
    VID_MAD,
    VID_COUNT
};
enum video_sel { SEL_ALL, SEL_B0, SEL_B1, SEL_B2, SEL_B3, SEL_H0, SEL_H1 };
enum video_op2 { VOP2_NONE, VOP2_ADD, VOP2_MIN, VOP2_MAX };
enum video_lut {
    VLUT_A_SIGNED = 1,
    VLUT_B_SIGNED = 2,
    VLUT_D_SIGNED = 4, /* .s32 of atype, btype, dtype */
    VLUT_SHR7 = 8,
    VLUT_SHR15 = 16,
    VLUT_PO = 32, /* VID_MAD: scale, plus one */
    VLUT_NEG_AB = 64,
    VLUT_NEG_C = 128 /* VID_MAD: exactly one of a, b negated; c negated */
};
#define VIDEO_MODE(op, asel, bsel, dsel, op2, wrap)                                                          \
    ((uint16_t)((op) | (asel) << 4 | (bsel) << 7 | (dsel) << 10 | (op2) << 13 | (wrap) << 15))

/* SIMD2: op on each half or byte of a and b. m.mode = SIMD_MODE(op, bytes, mask, add): lanes outside mask
 * come from c; with add the lanes in mask are summed into c instead. m.lut: VLUT_*_SIGNED, m.sat, m.relu
 * (negative lanes become 0), m.cmp for SIMD_SET. Operand selectors (.h10, .b7654, ...) are PRMTs before it;
 * add.u16x2 and relatives have the full mask. */
enum simd_op { SIMD_ADD, SIMD_SUB, SIMD_AVRG, SIMD_ABSDIFF, SIMD_MIN, SIMD_MAX, SIMD_SET, SIMD_COUNT };
#define SIMD_MODE(op, bytes, mask, add) ((uint16_t)((op) | (bytes) << 3 | (mask) << 4 | (add) << 8))

enum ldgsts_mode { LDGSTS_PLAIN, LDGSTS_BULK, LDGSTS_BULK_OUT };
enum enq_mode { ENQ_ADDR, ENQ_DATA }; /* DATA: what lies there is fetched, too */
/* MARK: what is said. Numbers: of CHECK the regions, as bits, that use the value, of START the region, of
 * THRESHOLD the bits of a float. */
enum mark_mode {
    MARK_CHECK_F32,
    MARK_CHECK_INT, /* the source was loaded, and is compared between lanes */
    MARK_PIXELS,    /* the source is made of bytes, each a component of a pixel */
    MARK_START,
    MARK_END,
    MARK_THRESHOLD,
    MARK_COUNT
};
enum mbar_mode {
    MBAR_INIT,
    MBAR_INVAL,
    MBAR_ARRIVE,
    MBAR_ARRIVE_DROP,
    MBAR_TEST_WAIT,
    MBAR_EXPECT_TX,
    MBAR_COUNT_PENDING
};
enum sys_call {
#define SYSCALL(id, name, print) SYS_##id,
#include "isa/syscalls.def"
#undef SYSCALL
    SYS_COUNT
};
enum tex_geom { TEX_1D, TEX_2D, TEX_3D, TEX_A1D, TEX_A2D, TEX_CUBE, TEX_ACUBE };
enum tex_mode {
    TEXM_PLAIN,
    TEXM_LEVEL,
    TEXM_GRAD,
    TEXM_GATHER
}; /* m.mode of TEX; GATHER: component in m.lut */
enum txq_mode {
    TXQ_WIDTH,
    TXQ_HEIGHT,
    TXQ_DEPTH,
    TXQ_CHANNEL_TYPE,
    TXQ_CHANNEL_ORDER,
    TXQ_LEVELS,
    TXQ_SAMPLES,
    TXQ_ARRAY,
    TXQ_NORMALIZED,
    TXQ_FILTER,
    TXQ_ADDR0,
    TXQ_ADDR1,
    TXQ_ADDR2
};
enum surf_clamp { SURF_TRAP, SURF_CLAMP, SURF_ZERO };

/* How an access or a fence orders others, and for whom: m.order, m.scope. */
enum mem_order { ORDER_WEAK, ORDER_VOLATILE, ORDER_RELAXED, ORDER_ACQUIRE, ORDER_RELEASE, ORDER_ACQ_REL };
enum mem_scope { SCOPE_GPU, SCOPE_BLOCK, SCOPE_SYSTEM };

/* Special registers that S2R reads (m.mode); sizes and parameters of the launch are constant-bank words
 * instead. */
enum mreg {
    SR_TID_X,
    SR_TID_Y,
    SR_TID_Z,
    SR_CTAID_X,
    SR_CTAID_Y,
    SR_CTAID_Z,
    SR_LANEID,
    SR_WARPID,
    SR_NWARPID,
    SR_SMID,
    SR_NSMID,
    SR_GRIDID,
    SR_LANEMASK_EQ,
    SR_LANEMASK_LT,
    SR_LANEMASK_LE,
    SR_LANEMASK_GT,
    SR_LANEMASK_GE,
    SR_CLOCK_LO,
    SR_CLOCK_HI,
    SR_GLOBALTIMER_LO,
    SR_GLOBALTIMER_HI,
    SR_ACTIVEMASK,
    SR_DYN_SMEM,
    SR_DYN_SIZE,
    SR_TOTAL_SMEM,
    SR_CLUSTER_CTAID_X,
    SR_CLUSTER_CTAID_Y,
    SR_CLUSTER_CTAID_Z,
    SR_CLUSTER_CTARANK,
    SR_CLUSTERID_X,
    SR_CLUSTERID_Y,
    SR_CLUSTERID_Z,
    SR_ZERO,
    SR_COUNT
};

/* Constant banks. Bank 0: launch facts (PARAM_BLOCK: address of the parameters in memory), then parameters;
 * 2: literals of the kernel; 3: the module's .const space; 4: addresses of the module's symbols; 5: none, but
 * the place in a memory operand of an address that a mechanism supplies from a queue, lane by lane. */
enum {
    BANK_PARAM = 0,
    BANK_LITERAL = 2,
    BANK_CONST = 3,
    BANK_SYMBOL = 4,
    BANK_QUEUE = 5,
    BANK_COUNT = 6,
    PARAM_NTID = 0x00,
    PARAM_NCTAID = 0x0c,
    PARAM_BLOCK = 0x20,
    PARAM_ENVREG = 0x28,
    PARAM_CLUSTER = 0x30,  /* blocks of a cluster along each axis */
    PARAM_NCLUSTER = 0x3c, /* clusters of the grid along each axis */
    PARAM_CLUSTER_SIZE = 0x48,
    PARAM_CLUSTER_EXPLICIT = 0x4c, /* 1: the launch asked for clusters */
    PARAM_BASE = 0x140,
    SYMBOL_CONST_BASE = 0,
    SYMBOL_FIRST = 8 /* slots of 8 bytes; the first is the address of the .const space */
};

/* Generic addresses of shared and local memory lie in windows: these low words under the high word WINDOW_HI
 * (or alone, with 32-bit addresses). What lies between LOCAL_END and WINDOW_END is the driver's, as on real
 * GPUs, where it is mapped below what programs allocate; allocations start at WINDOW_END. */
enum {
    WINDOW_HI = RP_REGION >> 32, /* where device memory begins */
    SHARED_WINDOW = 0x01000000,
    LOCAL_WINDOW = 0x02000000,
    LOCAL_END = 0x03000000,
    WINDOW_END = 0x04000000
};

/* The shared window has slices: the first one is the block's own shared memory, slice r + 1 that of the block
 * of rank r in its cluster. */
enum { SHARED_SLICE = 1 << 19, CLUSTER_MAX = 16 };

/* What a pointer to the module's function number index holds. */
#define FUNC_ADDR(index) (0x100u + (uint32_t)(index)*16u)

/* Modifiers of an instruction; zero where they do not apply. */
struct imods {
    uint16_t mode; /* LOP3 table, PRMT/SHFL/VOTE/... mode, MUFU function, S2R register: see enums above */
    uint8_t rnd;   /* enum rounding */
    uint8_t cmp;   /* set of enum cmp */
    uint8_t bop;   /* enum bool_op */
    uint8_t space; /* enum mem_space */
    uint8_t size;  /* memory element bytes: 1, 2, 4, 8, 16 */
    uint8_t vec;   /* memory elements per lane: 1, 2, 4, 8 */
    uint8_t dtype, stype;     /* enum mtype: conversions, atomics (dtype), 16-bit float kind (dtype), texture
                                 result/coordinate */
    uint8_t aop;              /* enum atom_op */
    uint8_t geom;             /* enum tex_geom */
    uint8_t lut;              /* TEXM_GATHER component, surface clamp, small extras */
    bool ftz, sat, sgn, rint; /* rint: round to integral value; for LD sgn: sign-extend */
    bool relu;                /* HFMA2, F2FP: negative results become 0 */
    bool a64;                 /* address operand has 64 bits */
    bool vol;                 /* volatile, or ordered stronger than weak: never merged, reordered or reused */
    uint8_t order, scope;     /* enum mem_order, mem_scope: of memory accesses and fences */
    bool aligned;             /* BAR: all threads of a warp must come together */
    bool uni;                 /* branch known uniform */
    bool noftz;               /* atomics: keep subnormals */
    bool fuse;                /* FADD, FMUL, DADD, DMUL without a rounding word: may be contracted */
};

#endif
