/* Executors of a64_memo.def. Without a unit nothing hits and nothing is kept: a program computes everything.
 */
#include "cpu/exec.h"
#include "cpu/memo.h"

/* Fields that make left in the instruction: ra the table, rm the bits to be cleared or the kind of data, aux
 * bytes. */
#define LOAD_FROM(size)                                                                                      \
    ({                                                                                                       \
        uint64_t value_ = 0;                                                                                 \
        memcpy(&value_, c->mem + at, size);                                                                  \
        value_;                                                                                              \
    })
#define BY_SIZE(M, id, ...)                                                                                  \
    M(id, b, 1, __VA_ARGS__)                                                                                 \
    M(id, h, 2, __VA_ARGS__)                                                                                 \
    M(id, s, 4, __VA_ARGS__)                                                                                 \
    M(id, d, 8, __VA_ARGS__)                                                                                 \
    EXECS(id, id##_b, id##_h, id##_s, id##_d)

#define LD_CRC(id, suffix, size, dst)                                                                        \
    EXEC(id##_##suffix) {                                                                                    \
        uint64_t at = c->x[i->rn] + (uint64_t)i->imm;                                                        \
        NEED_ACCESS(at, size, PERM_READ);                                                                    \
        uint64_t v = LOAD_FROM(size);                                                                        \
        dst = v;                                                                                             \
        if (c->memo)                                                                                         \
            memo_input(c->memo, i->ra, v, size, i->rm);                                                      \
        NEXT;                                                                                                \
    }
#define T_LD_CRC(id, dst) BY_SIZE(LD_CRC, id, dst)

#define REG_CRC(id, suffix, size, src)                                                                       \
    EXEC(id##_##suffix) {                                                                                    \
        if (c->memo)                                                                                         \
            memo_input(c->memo, i->ra, src, size, i->rm);                                                    \
        NEXT;                                                                                                \
    }
#define T_REG_CRC(id, src) BY_SIZE(REG_CRC, id, src)

/* The flags say whether it hit: EQ or NE. */
enum { HIT = 4, MISS = 0 };

static bool look(struct cpu *c, const struct a64_inst *i, uint32_t bytes) {
    c->nzcv = c->memo && memo_lookup(c->memo, i->ra, bytes, c->x[A64_SP], &c->memo_data) ? HIT : MISS;
    return c->nzcv == HIT;
}

#define LOOKUP(id, suffix, size, dst)                                                                        \
    EXEC(id##_##suffix) {                                                                                    \
        if (look(c, i, size))                                                                                \
            dst = size == 4 ? (uint32_t)c->memo_data : c->memo_data;                                         \
        NEXT;                                                                                                \
    }
#define T_LOOKUP(id, dst)                                                                                    \
    LOOKUP(id, s, 4, dst)                                                                                    \
    LOOKUP(id, d, 8, dst)                                                                                    \
    EXECS(id, NULL, NULL, id##_s, id##_d)

#define UPDATE(id, suffix, size, src)                                                                        \
    EXEC(id##_##suffix) {                                                                                    \
        if (c->memo)                                                                                         \
            memo_update(c->memo, i->ra, size == 4 ? (uint32_t)(src) : (src), size, c->x[A64_SP], i->rm);     \
        NEXT;                                                                                                \
    }
#define T_UPDATE(id, src)                                                                                    \
    UPDATE(id, s, 4, src)                                                                                    \
    UPDATE(id, d, 8, src)                                                                                    \
    EXECS(id, NULL, NULL, id##_s, id##_d)

#define T_INVALIDATE(id, unused)                                                                             \
    EXEC(id##_x) {                                                                                           \
        if (c->memo)                                                                                         \
            memo_invalidate(c->memo, i->ra);                                                                 \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)

#define A64(id, name, encoding, form, arg, class, flags, template, ...) T_##template(id, __VA_ARGS__)
#include "cpu/a64_memo.def"
