/* Executors of a64_int.def. */
#include "cpu/exec.h"
#include "cpu/forms.h"

#define X(reg) ((T)c->x[i->reg])

static inline uint32_t rotate32(uint32_t v, uint32_t by) {
    return v >> (by & 31) | v << (-by & 31);
}

static inline uint64_t rotate64(uint64_t v, uint32_t by) {
    return v >> (by & 63) | v << (-by & 63);
}

static inline uint32_t extract32(uint32_t a, uint32_t b, uint32_t by) {
    return (uint32_t)(((uint64_t)a << 32 | b) >> by);
}

static inline uint64_t extract64(uint64_t a, uint64_t b, uint32_t by) {
    return (uint64_t)(((u128)a << 64 | b) >> by);
}

static inline uint32_t bits_signed32(uint32_t a, uint32_t left, uint32_t right) {
    return (uint32_t)((int32_t)(a << left) >> right);
}

static inline uint64_t bits_signed64(uint64_t a, uint32_t left, uint32_t right) {
    return (uint64_t)((int64_t)(a << left) >> right);
}

static inline uint32_t reverse_bits32(uint32_t v) {
    v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
    v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(v);
}

static inline uint64_t reverse_bits64(uint64_t v) {
    return (uint64_t)reverse_bits32((uint32_t)v) << 32 | reverse_bits32((uint32_t)(v >> 32));
}

static inline uint32_t leading_zeros32(uint32_t v) {
    return v ? (uint32_t)__builtin_clz(v) : 32;
}

static inline uint64_t leading_zeros64(uint64_t v) {
    return v ? (uint64_t)__builtin_clzll(v) : 64;
}

static inline uint32_t divide_signed32(uint32_t a, uint32_t b) {
    return !b ? 0 : b == UINT32_MAX ? 0 - a : (uint32_t)((int32_t)a / (int32_t)b);
}

static inline uint64_t divide_signed64(uint64_t a, uint64_t b) {
    return !b ? 0 : b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static inline uint32_t shift_signed32(uint32_t a, uint32_t by) {
    return (uint32_t)((int32_t)a >> by);
}

static inline uint64_t shift_signed64(uint64_t a, uint64_t by) {
    return (uint64_t)((int64_t)a >> by);
}

static inline uint64_t multiply_signed(uint64_t a, uint64_t b) {
    return (uint64_t)((int64_t)(int32_t)a * (int32_t)b);
}

#define BY_WIDTH(name, a)    _Generic((a), uint32_t : name##32, uint64_t : name##64)
#define rotate(a, by)        BY_WIDTH(rotate, a)(a, (uint32_t)(by))
#define extract(a, b, by)    BY_WIDTH(extract, a)(a, b, by)
#define bits_signed(a, l, r) BY_WIDTH(bits_signed, a)(a, l, r)
#define reverse_bits(a)      BY_WIDTH(reverse_bits, a)(a)
#define leading_zeros(a)     BY_WIDTH(leading_zeros, a)(a)
#define divide_signed(a, b)  BY_WIDTH(divide_signed, a)(a, b)
#define shift_signed(a, by)  BY_WIDTH(shift_signed, a)(a, (T)(by))

enum { CRC32_IEEE = 0, CRC32_CASTAGNOLI = 1 };

/* A cyclic redundancy check of the lowest bytes of v, bit by bit. */
static uint32_t crc32_bytes(int which, uint32_t crc, uint64_t v, uint32_t bytes) {
    uint32_t poly = which == CRC32_IEEE ? 0xedb88320u : 0x82f63b78u;
    for (uint32_t k = 0; k < bytes; k++) {
        crc ^= (uint32_t)(v >> 8 * k) & 0xff;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? poly : 0);
    }
    return crc;
}

/* ---- templates: an executor of one width, named by the operation ---- */

#define ONE(id, suffix, type, decls, ...)                                                                    \
    EXEC(id##_##suffix) {                                                                                    \
        typedef type T;                                                                                      \
        decls;                                                                                               \
        c->x[i->rd] = (T)(__VA_ARGS__);                                                                      \
        NEXT;                                                                                                \
    }
#define BOTH(id, decls, ...)                                                                                 \
    ONE(id, w, uint32_t, decls, __VA_ARGS__)                                                                 \
    ONE(id, x, uint64_t, decls, __VA_ARGS__)

#define T_SETX(id, ...)                                                                                      \
    ONE(id, x, uint64_t, (void)0, __VA_ARGS__)                                                               \
    EXECS(id, id##_x)
#define T_SETW(id, ...)                                                                                      \
    BOTH(id, (void)0, __VA_ARGS__)                                                                           \
    EXECS(id, id##_w, id##_x)
#define T_RI(id, ...)                                                                                        \
    BOTH(id, T a = X(rn); T b = (T)i->imm, __VA_ARGS__)                                                      \
    EXECS(id, id##_w, id##_x)
#define T_R1(id, ...)                                                                                        \
    BOTH(id, T a = X(rn), __VA_ARGS__)                                                                       \
    EXECS(id, id##_w, id##_x)
#define T_R1W(id, ...)                                                                                       \
    ONE(id, w, uint32_t, T a = X(rn), __VA_ARGS__)                                                           \
    EXECS(id, id##_w)
#define T_R1X(id, ...)                                                                                       \
    ONE(id, x, uint64_t, T a = X(rn), __VA_ARGS__)                                                           \
    EXECS(id, id##_x)
#define T_R2(id, ...)                                                                                        \
    BOTH(id, T a = X(rn); T b = X(rm), __VA_ARGS__)                                                          \
    EXECS(id, id##_w, id##_x)
#define T_R2W(id, ...)                                                                                       \
    ONE(id, w, uint32_t, T a = X(rn); T b = X(rm), __VA_ARGS__)                                              \
    EXECS(id, id##_w)
#define T_R2X(id, ...)                                                                                       \
    ONE(id, x, uint64_t, T a = X(rn); T b = X(rm), __VA_ARGS__)                                              \
    EXECS(id, id##_x)
#define T_R3(id, ...)                                                                                        \
    BOTH(id, T a = X(rn); T b = X(rm); T d = X(ra), __VA_ARGS__)                                             \
    EXECS(id, id##_w, id##_x)
#define T_R3X(id, ...)                                                                                       \
    ONE(id, x, uint64_t, T a = X(rn); T b = X(rm); T d = X(ra), __VA_ARGS__)                                 \
    EXECS(id, id##_x)
#define T_RS(id, ...)                                                                                        \
    BOTH(id##_no, T a = X(rn); T b = X(rm), __VA_ARGS__)                                                     \
    BOTH(id##_lsl, T a = X(rn); T b = X(rm) << i->aux, __VA_ARGS__)                                          \
    BOTH(id##_lsr, T a = X(rn); T b = X(rm) >> i->aux, __VA_ARGS__)                                          \
    BOTH(id##_asr, T a = X(rn); T b = shift_signed(X(rm), i->aux), __VA_ARGS__)                              \
    BOTH(id##_ror, T a = X(rn); T b = rotate(X(rm), i->aux), __VA_ARGS__)                                    \
    EXECS(id, id##_no_w, id##_lsl_w, id##_lsr_w, id##_asr_w, id##_ror_w, id##_no_x, id##_lsl_x, id##_lsr_x,  \
          id##_asr_x, id##_ror_x)
#define T_RX(id, ...)                                                                                        \
    BOTH(id##_u, T a = X(rn); T b = (T)(c->x[i->rm] << i->ra >> i->ra << i->aux), __VA_ARGS__)               \
    BOTH(id##_s, T a = X(rn);                                                                                \
         T b = (T)((uint64_t)((int64_t)(c->x[i->rm] << i->ra) >> i->ra) << i->aux), __VA_ARGS__)             \
    EXECS(id, id##_u_w, id##_s_w, id##_u_x, id##_s_x)

#define CCMP(id, suffix, type, second, ...)                                                                  \
    EXEC(id##_##suffix) {                                                                                    \
        typedef type T;                                                                                      \
        T a = X(rn), b = (T)(second);                                                                        \
        if (holds(c, i))                                                                                     \
            (void)(__VA_ARGS__);                                                                             \
        else                                                                                                 \
            c->nzcv = i->ra;                                                                                 \
        NEXT;                                                                                                \
    }
#define T_CCMP(id, second, ...)                                                                              \
    CCMP(id, w, uint32_t, second, __VA_ARGS__)                                                               \
    CCMP(id, x, uint64_t, second, __VA_ARGS__)                                                               \
    EXECS(id, id##_w, id##_x)

/* ---- branches ---- */

/* A branch that was taken: what the block still had to execute is given back. */
#define TAKE                                                                                                 \
    do {                                                                                                     \
        c->left += i->ra;                                                                                    \
        if (unlikely(!i->to))                                                                                \
            return cpu_jump(c, (struct a64_inst *)i, (uint64_t)i->imm);                                      \
        GO(i->to);                                                                                           \
    } while (0)

#define BRANCH(id, suffix, type, ...)                                                                        \
    EXEC(id##_##suffix) {                                                                                    \
        typedef type T;                                                                                      \
        (void)sizeof(T);                                                                                     \
        if (__VA_ARGS__)                                                                                     \
            TAKE;                                                                                            \
        NEXT;                                                                                                \
    }
#define T_BRANCH(id, ...)                                                                                    \
    BRANCH(id, x, uint64_t, __VA_ARGS__)                                                                     \
    EXECS(id, id##_x)
#define T_BRANCH_T(id, ...)                                                                                  \
    BRANCH(id, w, uint32_t, __VA_ARGS__)                                                                     \
    BRANCH(id, x, uint64_t, __VA_ARGS__)                                                                     \
    EXECS(id, id##_w, id##_x)
#define T_CALL(id, ...)                                                                                      \
    EXEC(id##_x) {                                                                                           \
        c->x[A64_LR] = pc_of(c, i) + 4;                                                                      \
        TAKE;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)
/* To an address in a register: probably where it led the last time, or to a block that was looked for not
 * long ago. */
#define T_JUMP(id, link)                                                                                     \
    EXEC(id##_x) {                                                                                           \
        uint64_t to = c->x[i->rn];                                                                           \
        if (link)                                                                                            \
            c->x[A64_LR] = pc_of(c, i) + 4;                                                                  \
        if (likely(i->to && i->to->pc == to))                                                                \
            GO(i->to);                                                                                       \
        struct block *b = c->jumps[to >> 2 & (JUMPS - 1)];                                                   \
        if (likely(b && b->pc == to))                                                                        \
            GO(b);                                                                                           \
        return cpu_jump(c, (struct a64_inst *)i, to);                                                        \
    }                                                                                                        \
    EXECS(id, id##_x)

/* ---- the system ---- */

#define T_DO(id, ...)                                                                                        \
    EXEC(id##_x) {                                                                                           \
        __VA_ARGS__;                                                                                         \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)
#define T_NEXT_PC(id, unused)                                                                                \
    EXEC(id##_x) {                                                                                           \
        return cpu_jump(c, NULL, pc_of(c, i) + 4);                                                           \
    }                                                                                                        \
    EXECS(id, id##_x)
#define T_SYSTEM(id, function)                                                                               \
    EXEC(id##_x) {                                                                                           \
        return function(c, i);                                                                               \
    }                                                                                                        \
    EXECS(id, id##_x)

EXEC(do_svc) {
    return cpu_leave(c, i, CPU_SYSCALL);
}

EXEC(do_brk) {
    return cpu_fault(c, i, FAULT_BREAKPOINT, 0);
}

EXEC(do_undefined) {
    return cpu_fault(c, i, FAULT_UNDEFINED, 0);
}

EXEC(do_code_changed) {
    c->stale = true;
    return cpu_jump(c, NULL, pc_of(c, i) + 4);
}

EXEC(read_system_register) {
    uint64_t v = 0;
    switch ((enum a64_sysreg_id)i->aux) {
    case SYS_NZCV:
        v = (uint64_t)c->nzcv << 28;
        break;
    case SYS_FPCR:
        v = c->fp.fpcr;
        break;
    case SYS_FPSR:
        v = cpu_fpsr(c);
        break;
    case SYS_TPIDR:
        v = c->tpidr;
        break;
    case SYS_CTR: /* lines of 64 bytes; caches that need cleaning for new code */
        v = 0x84448004;
        break;
    case SYS_DCZID: /* DC ZVA clears 64 bytes */
        v = 4;
        break;
    case SYS_CNTFRQ:
        v = 1000000000;
        break;
    case SYS_CNTVCT:
        v = cpu_counter(c);
        break;
    default:
        break;
    }
    c->x[i->rd] = v;
    NEXT;
}

EXEC(write_system_register) {
    uint64_t v = c->x[i->rd];
    switch ((enum a64_sysreg_id)i->aux) {
    case SYS_NZCV:
        c->nzcv = v >> 28 & 15;
        break;
    case SYS_FPCR:
        cpu_set_fpcr(c, (uint32_t)v);
        break;
    case SYS_FPSR:
        cpu_set_fpsr(c, (uint32_t)v);
        break;
    default:
        c->tpidr = v;
        break;
    }
    NEXT;
}

EXEC(clear_line) {
    uint64_t at = c->x[i->rd] & ~63ull;
    NEED_ACCESS(at, 64, PERM_WRITE);
    memset(c->mem + at, 0, 64);
    NEXT;
}

/* Marks of regions stop whoever wants to know. */
EXEC(hint) {
    if (unlikely(c->marks) && (i->imm == MARK_BEGIN || i->imm == MARK_END)) {
        c->mark = (uint8_t)i->imm;
        return cpu_leave(c, i, CPU_MARK);
    }
    NEXT;
}
#define T_HINT(id, unused) EXECS(id, hint)

#define T_MSR(id, unused) EXECS(id, write_system_register)
#define T_MRS(id, unused) EXECS(id, read_system_register)
#define T_ZVA(id, unused) EXECS(id, clear_line)

#define A64(id, name, encoding, form, arg, class, flags, template, ...) T_##template(id, __VA_ARGS__)
#include "cpu/a64_int.def"
