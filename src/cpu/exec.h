/* What executors are made of. An executor does its instruction's work and ends in NEXT, in a branch, or in
 * one of the functions of block.c that leave the chain. */
#ifndef REPRISE_CPU_EXEC_H
#define REPRISE_CPU_EXEC_H

#include "base/ieee.h"
#include "cpu/cpu.h"

#define EXEC(name) static const struct a64_inst *name(struct cpu *c, const struct a64_inst *i)

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Each executor calls the next one as its last act, which costs a jump. Where the compiler does not make
 * jumps of such calls, the loop in cpu_run calls one after the other. */
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
#if defined(__clang__) && defined(__has_feature)
#if !__has_feature(address_sanitizer) && !__has_feature(memory_sanitizer)
#define EXEC_CHAIN 1
#endif
#else
#define EXEC_CHAIN 1
#endif
#endif

#if defined(EXEC_CHAIN) && defined(__clang__)
#define ENTER(i_) __attribute__((musttail)) return (i_)->fn(c, (i_))
#elif defined(EXEC_CHAIN)
#define ENTER(i_) return (i_)->fn(c, (i_))
#else
#define ENTER(i_) return ((void)c, (i_))
#endif
#define NEXT ENTER(i + 1)

/* The executors of an operation, by variant. */
#define EXECS(id, ...)                                                                                       \
    extern a64_fn *const a64_exec_##id[];                                                                    \
    extern const uint32_t a64_variants_##id;                                                                 \
    a64_fn *const a64_exec_##id[] = {__VA_ARGS__};                                                           \
    const uint32_t a64_variants_##id = sizeof a64_exec_##id / sizeof a64_exec_##id[0];

/* ---- leaving the chain, out of line: all return NULL, or what the loop in cpu_run goes on with ---- */

/* To the block at pc, which the branch at i (or NULL) remembers. */
const struct a64_inst *cpu_jump(struct cpu *c, struct a64_inst *i, uint64_t pc);
/* The block does not fit into the budget. */
const struct a64_inst *cpu_out_of_budget(struct cpu *c, struct block *b);
/* The instruction at i cannot be executed. */
const struct a64_inst *cpu_fault(struct cpu *c, const struct a64_inst *i, enum cpu_fault_kind kind,
                                 uint64_t address);
/* The instruction at i was executed; the CPU stops behind it. */
const struct a64_inst *cpu_leave(struct cpu *c, const struct a64_inst *i, enum cpu_stop why);
/* The CPU stops, to go on with i when it runs again. */
const struct a64_inst *cpu_pause(struct cpu *c, const struct a64_inst *i);
/* An access failed the quick check: the address at which it is allowed all the same, or NO_ADDRESS. */
uint64_t cpu_slow_access(struct cpu *c, uint64_t address, uint32_t size, uint8_t need);

/* The address of the instruction at i of the current block. */
static inline uint64_t pc_of(const struct cpu *c, const struct a64_inst *i) {
    return c->block->pc + ((uint64_t)(i - c->block->at) >> c->block->shift) * 4;
}

/* Goes to a block. */
#define GO(b_)                                                                                               \
    do {                                                                                                     \
        struct block *go_ = (b_);                                                                            \
        c->left -= go_->n;                                                                                   \
        if (unlikely(c->left < 0))                                                                           \
            return cpu_out_of_budget(c, go_);                                                                \
        c->block = go_;                                                                                      \
        ENTER(go_->at);                                                                                      \
    } while (0)

/* ---- integers ---- */

static inline uint64_t carry(const struct cpu *c) {
    return c->nzcv >> 1 & 1;
}

/* Whether the condition whose truth table is in aux holds. */
static inline bool holds(const struct cpu *c, const struct a64_inst *i) {
    return i->aux >> c->nzcv & 1;
}

static inline uint32_t add_flags32(struct cpu *c, uint32_t a, uint32_t b, uint64_t cin) {
    uint64_t wide = (uint64_t)a + b + cin;
    uint32_t r = (uint32_t)wide;
    c->nzcv =
        (r >> 31) << 3 | (uint32_t)(r == 0) << 2 | (uint32_t)(wide >> 32) << 1 | ((a ^ r) & (b ^ r)) >> 31;
    return r;
}

static inline uint64_t add_flags64(struct cpu *c, uint64_t a, uint64_t b, uint64_t cin) {
    uint64_t t, r;
    uint32_t carry_out = __builtin_add_overflow(a, b, &t);
    carry_out |= __builtin_add_overflow(t, cin, &r);
    c->nzcv = (uint32_t)(r >> 63) << 3 | (uint32_t)(r == 0) << 2 | carry_out << 1 |
              (uint32_t)(((a ^ r) & (b ^ r)) >> 63);
    return r;
}

static inline uint32_t sub_flags32(struct cpu *c, uint32_t a, uint32_t b) {
    uint32_t r = a - b;
    c->nzcv = (r >> 31) << 3 | (uint32_t)(a == b) << 2 | (uint32_t)(a >= b) << 1 | ((a ^ b) & (a ^ r)) >> 31;
    return r;
}

static inline uint64_t sub_flags64(struct cpu *c, uint64_t a, uint64_t b) {
    uint64_t r = a - b;
    c->nzcv = (uint32_t)(r >> 63) << 3 | (uint32_t)(a == b) << 2 | (uint32_t)(a >= b) << 1 |
              (uint32_t)(((a ^ b) & (a ^ r)) >> 63);
    return r;
}

static inline uint32_t and_flags32(struct cpu *c, uint32_t a, uint32_t b) {
    uint32_t r = a & b;
    c->nzcv = (r >> 31) << 3 | (uint32_t)(r == 0) << 2;
    return r;
}

static inline uint64_t and_flags64(struct cpu *c, uint64_t a, uint64_t b) {
    uint64_t r = a & b;
    c->nzcv = (uint32_t)(r >> 63) << 3 | (uint32_t)(r == 0) << 2;
    return r;
}

#define add_flags(c, a, b, cin) _Generic((a), uint32_t : add_flags32, uint64_t : add_flags64)(c, a, b, cin)
#define sub_flags(c, a, b)      _Generic((a), uint32_t : sub_flags32, uint64_t : sub_flags64)(c, a, b)
#define and_flags(c, a, b)      _Generic((a), uint32_t : and_flags32, uint64_t : and_flags64)(c, a, b)

/* ---- memory ---- */

/* The quick check: inside of the space, and both pages that may be touched allow it. Sets ea. */
static inline bool access_ok(struct cpu *c, uint64_t at, uint32_t size, uint8_t need) {
    c->ea = at;
    return likely(at < SPACE_SIZE) &&
           likely(c->perm[at >> PAGE_BITS] & c->perm[(at + size - 1) >> PAGE_BITS] & need);
}

/* No executor may let a local variable's address out: calls at its end would not be jumps then. */
#define NEED_ACCESS(at_, size_, need_)                                                                       \
    if (!access_ok(c, at_, size_, need_)) {                                                                  \
        at_ = cpu_slow_access(c, at_, size_, need_);                                                         \
        if (at_ == NO_ADDRESS)                                                                               \
            return cpu_fault(c, i, (need_) == PERM_READ ? FAULT_READ : FAULT_WRITE, c->ea);                  \
    }                                                                                                        \
    do {                                                                                                     \
    } while (0)

/* ---- floating point ----
 *
 * The host's result of an operation is the architecture's, and so are its exceptions, unless the result is a
 * NaN (whose bits differ) or just the smallest normal number (which the host may have rounded up from below
 * without calling that an underflow). Both and a few more, all numbers up to that one, are outside of one
 * range of bit patterns, shifted by the sign. In modes the host does not have the range is empty. */
static inline bool odd32(const struct cpu *c, uint32_t bits) {
    return (bits << 1) - c->odd32_base >= c->odd32_span;
}

static inline bool odd64(const struct cpu *c, uint64_t bits) {
    return (bits << 1) - c->odd64_base >= c->odd64_span;
}

/* Whether an odd result needs software after all. */
static inline bool very_odd32(const struct cpu *c, uint32_t bits) {
    uint32_t m = bits << 1;
    return c->fp_soft || m == 0x01000000 || m > 0xff000000;
}

static inline bool very_odd64(const struct cpu *c, uint64_t bits) {
    uint64_t m = bits << 1;
    return c->fp_soft || m == 0x0020000000000000 || m > 0xffe0000000000000;
}

/* An instruction that does nothing here. */
#define T_NOTHING(id, unused)                                                                                \
    EXEC(id##_x) {                                                                                           \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x, id##_x, id##_x)

#define SIGN(T) ((T)1 << (8 * sizeof(T) - 1))

#endif
