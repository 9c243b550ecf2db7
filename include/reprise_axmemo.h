/* The memoization unit of the simulated CPU, for C programs (aarch64-linux-gnu-gcc).
 *
 * A block of pure code with few inputs and a result of 4 or 8 bytes becomes
 *
 *     AX_REG_F32(x, 0, 8);                  every input, in a fixed order: table 0, 8 low bits cleared
 *     y = AX_LD_F32(&p->y, 0, 8);           or while it is loaded
 *     z = AX_LDX_F32(p->z, 2, 0, 8);        of an array: element 2, of 0 to 7, without computing its address
 *     if (!AX_LOOKUP_F32(result, 0)) {
 *         result = block(x, y);
 *         AX_UPDATE_F32(result, 0);
 *     }
 *
 * There are eight tables, 0 to 7; a table that is to serve another block, or the same block when something
 * else that it reads has changed, must be invalidated first: AX_INVALIDATE(0). Tables and numbers of bits are
 * constants. Two results go into one of 8 bytes: AX_*_F32X2.
 *
 * The instructions are words that ARM has not allocated: on other CPUs they trap. With AXMEMO_SOFTWARE
 * defined, the same program keeps its results in arrays of its own instead: software memoization, which runs
 * everywhere. With AXMEMO_NONE it is the program without memoization.
 *
 * AX_BEGIN() and AX_END() mark the part of a program that is measured (reprise cpu run --region); they are
 * hints, which do nothing on any CPU. */
#ifndef REPRISE_AXMEMO_H
#define REPRISE_AXMEMO_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define AX_BEGIN() __asm__ volatile("hint #0x7e" : : : "memory")
#define AX_END()   __asm__ volatile("hint #0x7f" : : : "memory")

#if defined AXMEMO_NONE

#define AX_LD_I32(ptr, table, n)      (*(ptr))
#define AX_LD_I64(ptr, table, n)      (*(ptr))
#define AX_LD_F32(ptr, table, n)      (*(ptr))
#define AX_LD_F64(ptr, table, n)      (*(ptr))
#define AX_LDX_F32(ptr, k, table, n)  ((ptr)[k])
#define AX_REG_I32(value, table, n)   ((void)0)
#define AX_REG_I64(value, table, n)   ((void)0)
#define AX_REG_F32(value, table, n)   ((void)0)
#define AX_REG_F64(value, table, n)   ((void)0)
#define AX_LOOKUP_I32(result, table)  false
#define AX_LOOKUP_I64(result, table)  false
#define AX_LOOKUP_F32(result, table)  false
#define AX_LOOKUP_F64(result, table)  false
#define AX_UPDATE_I32(value, table)   ((void)0)
#define AX_UPDATE_I64(value, table)   ((void)0)
#define AX_UPDATE_F32(value, table)   ((void)0)
#define AX_UPDATE_F64(value, table)   ((void)0)
#define AX_UPDATE_F32X2(value, table) ((void)0)
#define AX_UPDATE_I32X2(value, table) ((void)0)
#define AX_UPDATE_I16X4(value, table) ((void)0)
#define AX_INVALIDATE(table)          ((void)0)

#elif !defined AXMEMO_SOFTWARE

/* Register numbers by name, for words that are put together by the assembler. */
__asm__(".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30\n"
        ".equ axr_x\\n, \\n\n.equ axr_w\\n, \\n\n.equ axr_s\\n, \\n\n.equ axr_d\\n, \\n\n.endr\n"
        ".equ axr_s31, 31\n.equ axr_d31, 31\n.equ axr_xzr, 31\n.equ axr_wzr, 31\n.equ axr_sp, 31\n");

#define AX_LD_(word, type, reg, name, ptr, k, table, n)                                                      \
    ({                                                                                                       \
        type ax_v_;                                                                                          \
        const type *ax_p_ = (ptr);                                                                           \
        __asm__ volatile(".inst " word " | %c2 << 19 | %c3 << 13 | %c4 << 10 | axr_%x1 << 5 | axr_%" name    \
                         "0"                                                                                 \
                         : "=" reg(ax_v_)                                                                    \
                         : "r"(ax_p_), "i"(table), "i"(n), "i"(k), "m"(ax_p_[k]));                           \
        ax_v_;                                                                                               \
    })
#define AX_REG_(word, type, reg, name, value, table, n)                                                      \
    do {                                                                                                     \
        type ax_v_ = (value);                                                                                \
        __asm__ volatile(".inst " word " | %c1 << 19 | %c2 << 13 | axr_%" name "0 << 5"                      \
                         :                                                                                   \
                         : reg(ax_v_), "i"(table), "i"(n));                                                  \
    } while (0)
#define AX_LOOKUP_(word, reg, name, result, table)                                                           \
    ({                                                                                                       \
        bool ax_hit_;                                                                                        \
        __asm__ volatile(".inst " word " | %c2 << 19 | axr_%" name "1"                                       \
                         : "=@cceq"(ax_hit_), "+" reg(result)                                                \
                         : "i"(table));                                                                      \
        ax_hit_;                                                                                             \
    })
#define AX_UPDATE_(word, type, reg, name, value, table)                                                      \
    do {                                                                                                     \
        type ax_v_ = (value);                                                                                \
        __asm__ volatile(".inst " word " | %c1 << 19 | axr_%" name "0 << 5" : : reg(ax_v_), "i"(table));     \
    } while (0)

#define AX_LD_I32(ptr, table, n)      AX_LD_("0x22800000", int32_t, "r", "w", ptr, 0, table, n)
#define AX_LD_I64(ptr, table, n)      AX_LD_("0x22c00000", int64_t, "r", "x", ptr, 0, table, n)
#define AX_LD_F32(ptr, table, n)      AX_LD_("0x23800000", float, "w", "s", ptr, 0, table, n)
#define AX_LD_F64(ptr, table, n)      AX_LD_("0x23c00000", double, "w", "d", ptr, 0, table, n)
#define AX_LDX_F32(ptr, k, table, n)  AX_LD_("0x23800000", float, "w", "s", ptr, k, table, n)
#define AX_REG_I32(value, table, n)   AX_REG_("0x42800000", int32_t, "r", "w", value, table, n)
#define AX_REG_I64(value, table, n)   AX_REG_("0x42c00000", int64_t, "r", "x", value, table, n)
#define AX_REG_F32(value, table, n)   AX_REG_("0x43800000", float, "w", "s", value, table, n)
#define AX_REG_F64(value, table, n)   AX_REG_("0x43c00000", double, "w", "d", value, table, n)
#define AX_LOOKUP_I32(result, table)  AX_LOOKUP_("0x62800000", "r", "w", result, table)
#define AX_LOOKUP_I64(result, table)  AX_LOOKUP_("0x62c00000", "r", "x", result, table)
#define AX_LOOKUP_F32(result, table)  AX_LOOKUP_("0x63800000", "w", "s", result, table)
#define AX_LOOKUP_F64(result, table)  AX_LOOKUP_("0x63c00000", "w", "d", result, table)
#define AX_UPDATE_I32(value, table)   AX_UPDATE_("0x82800000", int32_t, "r", "w", value, table)
#define AX_UPDATE_I64(value, table)   AX_UPDATE_("0x82c00000", int64_t, "r", "x", value, table)
#define AX_UPDATE_F32(value, table)   AX_UPDATE_("0x83800000", float, "w", "s", value, table)
#define AX_UPDATE_F64(value, table)   AX_UPDATE_("0x83c00000", double, "w", "d", value, table)
/* Eight bytes that are two numbers, which the quality monitor compares each for itself. */
#define AX_UPDATE_F32X2(value, table) AX_UPDATE_("0x82c04000", int64_t, "r", "x", value, table)
#define AX_UPDATE_I32X2(value, table) AX_UPDATE_("0x82c06000", int64_t, "r", "x", value, table)
/* Four numbers of 16 bits in fixed point, of which one that differs by one is not wrong. */
#define AX_UPDATE_I16X4(value, table) AX_UPDATE_("0x82c08000", int64_t, "r", "x", value, table)
#define AX_INVALIDATE(table)          __asm__ volatile(".inst 0xa2000000 | %c0 << 19" : : "i"(table))

#else

#include <stddef.h>
#include <sys/mman.h>

/* A CRC by a table of 256 words, and for each table of results an array of 2^AXMEMO_BITS of them, of which
 * the CRC chooses one: no key is compared. An entry of zeros is empty, so that fresh memory is an empty
 * table; results are stored with bits flipped that no result has. */
#ifndef AXMEMO_BITS
#define AXMEMO_BITS 28
#endif

static uint32_t ax_crc_table_[256];
static uint32_t ax_crc_[8];
static void *ax_array_[8];
static size_t ax_size_[8];

__attribute__((constructor)) static void ax_start_(void) {
    for (uint32_t k = 0; k < 256; k++) {
        uint32_t c = k;
        for (int bit = 0; bit < 8; bit++)
            c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
        ax_crc_table_[k] = c;
    }
    for (int k = 0; k < 8; k++)
        ax_crc_[k] = 0xffffffffu;
}

/* Each byte takes three instructions: one to cut it off, a load, and one with a shift to put it in. */
static inline __attribute__((always_inline)) void ax_input_(uint64_t value, unsigned bytes, unsigned table,
                                                            unsigned n) {
    uint32_t c = ax_crc_[table];
    value = value >> n << n;
    for (unsigned k = 0; k < bytes; k++) {
        if (k % 4 == 0)
            c ^= (uint32_t)(value >> 8 * k);
        c = c >> 8 ^ ax_crc_table_[c & 0xff];
    }
    ax_crc_[table] = c;
}

static inline void *ax_entry_(unsigned table, size_t bytes) {
    if (!ax_array_[table]) {
        ax_size_[table] = bytes << AXMEMO_BITS;
        ax_array_[table] = mmap(NULL, ax_size_[table], PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    return (char *)ax_array_[table] + bytes * (ax_crc_[table] & ((1u << AXMEMO_BITS) - 1));
}

/* The entry stays the current one until the update. */
static void *ax_current_[8];

#define AX_EMPTY32_ 0x7fc0dead
#define AX_EMPTY64_ 0x7ff8deadbeef0001
#define AX_INPUT_(T, U, value, table, n)                                                                     \
    do {                                                                                                     \
        T ax_v_ = (value);                                                                                   \
        U ax_bits_;                                                                                          \
        memcpy(&ax_bits_, &ax_v_, sizeof ax_bits_);                                                          \
        ax_input_(ax_bits_, sizeof ax_bits_, table, n);                                                      \
    } while (0)
#define AX_LOAD_(T, U, ptr, table, n)                                                                        \
    ({                                                                                                       \
        T ax_w_ = *(ptr);                                                                                    \
        AX_INPUT_(T, U, ax_w_, table, n);                                                                    \
        ax_w_;                                                                                               \
    })
#define AX_FIND_(U, empty, result, table)                                                                    \
    ({                                                                                                       \
        U *ax_e_ = ax_entry_(table, sizeof(U)), ax_bits_ = *ax_e_ ^ (U)(empty);                              \
        bool ax_hit_ = *ax_e_ != 0;                                                                          \
        ax_current_[table] = ax_e_;                                                                          \
        ax_crc_[table] = 0xffffffffu;                                                                        \
        if (ax_hit_)                                                                                         \
            memcpy(&(result), &ax_bits_, sizeof ax_bits_);                                                   \
        ax_hit_;                                                                                             \
    })
#define AX_KEEP_(T, U, empty, value, table)                                                                  \
    do {                                                                                                     \
        T ax_v_ = (value);                                                                                   \
        U ax_bits_;                                                                                          \
        memcpy(&ax_bits_, &ax_v_, sizeof ax_bits_);                                                          \
        *(U *)ax_current_[table] = ax_bits_ ^ (U)(empty);                                                    \
    } while (0)

#define AX_LD_I32(ptr, table, n)      AX_LOAD_(int32_t, uint32_t, ptr, table, n)
#define AX_LD_I64(ptr, table, n)      AX_LOAD_(int64_t, uint64_t, ptr, table, n)
#define AX_LD_F32(ptr, table, n)      AX_LOAD_(float, uint32_t, ptr, table, n)
#define AX_LD_F64(ptr, table, n)      AX_LOAD_(double, uint64_t, ptr, table, n)
#define AX_LDX_F32(ptr, k, table, n)  AX_LOAD_(float, uint32_t, &(ptr)[k], table, n)
#define AX_REG_I32(value, table, n)   AX_INPUT_(int32_t, uint32_t, value, table, n)
#define AX_REG_I64(value, table, n)   AX_INPUT_(int64_t, uint64_t, value, table, n)
#define AX_REG_F32(value, table, n)   AX_INPUT_(float, uint32_t, value, table, n)
#define AX_REG_F64(value, table, n)   AX_INPUT_(double, uint64_t, value, table, n)
#define AX_LOOKUP_I32(result, table)  AX_FIND_(uint32_t, AX_EMPTY32_, result, table)
#define AX_LOOKUP_I64(result, table)  AX_FIND_(uint64_t, AX_EMPTY64_, result, table)
#define AX_LOOKUP_F32(result, table)  AX_FIND_(uint32_t, AX_EMPTY32_, result, table)
#define AX_LOOKUP_F64(result, table)  AX_FIND_(uint64_t, AX_EMPTY64_, result, table)
#define AX_UPDATE_I32(value, table)   AX_KEEP_(int32_t, uint32_t, AX_EMPTY32_, value, table)
#define AX_UPDATE_I64(value, table)   AX_KEEP_(int64_t, uint64_t, AX_EMPTY64_, value, table)
#define AX_UPDATE_F32(value, table)   AX_KEEP_(float, uint32_t, AX_EMPTY32_, value, table)
#define AX_UPDATE_F64(value, table)   AX_KEEP_(double, uint64_t, AX_EMPTY64_, value, table)
#define AX_UPDATE_F32X2(value, table) AX_UPDATE_I64(value, table)
#define AX_UPDATE_I32X2(value, table) AX_UPDATE_I64(value, table)
#define AX_UPDATE_I16X4(value, table) AX_UPDATE_I64(value, table)
/* Fresh memory is an empty table. */
#define AX_INVALIDATE(table)                                                                                 \
    do {                                                                                                     \
        if (ax_array_[table])                                                                                \
            madvise(ax_array_[table], ax_size_[table], MADV_DONTNEED);                                       \
    } while (0)

#endif

/* Two numbers in eight bytes, and back. */
static inline __attribute__((unused)) int64_t ax_pack_f32(float a, float b) {
    uint32_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return (int64_t)((uint64_t)y << 32 | x);
}

static inline __attribute__((unused)) void ax_unpack_f32(int64_t v, float *a, float *b) {
    uint32_t x = (uint32_t)v, y = (uint32_t)((uint64_t)v >> 32);
    memcpy(a, &x, sizeof x);
    memcpy(b, &y, sizeof y);
}

#endif
