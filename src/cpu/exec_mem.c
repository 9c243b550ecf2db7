/* Executors of a64_mem.def. A load or store that faults has changed nothing, bases and exclusive state
 * included. */
#include "cpu/exec.h"

#define LOAD_FROM(T, at)                                                                                     \
    ({                                                                                                       \
        T value_;                                                                                            \
        memcpy(&value_, c->mem + (at), sizeof(T));                                                           \
        value_;                                                                                              \
    })
#define STORE_TO(T, at, v)                                                                                   \
    do {                                                                                                     \
        T value_ = (T)(v);                                                                                   \
        memcpy(c->mem + (at), &value_, sizeof(T));                                                           \
    } while (0)

/* What is done at the address at. */
#define DO_LDX(T)                                                                                            \
    NEED_ACCESS(at, sizeof(T), PERM_READ);                                                                   \
    c->x[i->rd] = (uint64_t)(int64_t)LOAD_FROM(T, at)
#define DO_LDW(T)                                                                                            \
    NEED_ACCESS(at, sizeof(T), PERM_READ);                                                                   \
    c->x[i->rd] = (uint32_t)LOAD_FROM(T, at)
#define DO_STX(T)                                                                                            \
    NEED_ACCESS(at, sizeof(T), PERM_WRITE);                                                                  \
    STORE_TO(T, at, c->x[i->rd])
#define DO_LDV(T)                                                                                            \
    NEED_ACCESS(at, sizeof(T), PERM_READ);                                                                   \
    c->v[i->rd].q = LOAD_FROM(T, at)
#define DO_STV(T)                                                                                            \
    NEED_ACCESS(at, sizeof(T), PERM_WRITE);                                                                  \
    STORE_TO(T, at, c->v[i->rd].q)
#define DO_LDPX(T)                                                                                           \
    NEED_ACCESS(at, 2 * sizeof(T), PERM_READ);                                                               \
    T first = LOAD_FROM(T, at);                                                                              \
    T second = LOAD_FROM(T, at + sizeof(T));                                                                 \
    c->x[i->rd] = (uint64_t)(int64_t)first;                                                                  \
    c->x[i->ra] = (uint64_t)(int64_t)second
#define DO_STPX(T)                                                                                           \
    NEED_ACCESS(at, 2 * sizeof(T), PERM_WRITE);                                                              \
    STORE_TO(T, at, c->x[i->rd]);                                                                            \
    STORE_TO(T, at + sizeof(T), c->x[i->ra])
#define DO_LDPV(T)                                                                                           \
    NEED_ACCESS(at, 2 * sizeof(T), PERM_READ);                                                               \
    c->v[i->rd].q = LOAD_FROM(T, at);                                                                        \
    c->v[i->ra].q = LOAD_FROM(T, at + sizeof(T))
#define DO_STPV(T)                                                                                           \
    NEED_ACCESS(at, 2 * sizeof(T), PERM_WRITE);                                                              \
    STORE_TO(T, at, c->v[i->rd].q);                                                                          \
    STORE_TO(T, at + sizeof(T), c->v[i->ra].q)

/* ---- addressing ---- */

#define PLAIN(id, what)                                                                                      \
    EXEC(id##_x) {                                                                                           \
        uint64_t at = c->x[i->rn] + (uint64_t)i->imm;                                                        \
        what;                                                                                                \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)
#define POST(id, what)                                                                                       \
    EXEC(id##_x) {                                                                                           \
        uint64_t base = c->x[i->rn], at = base;                                                              \
        what;                                                                                                \
        c->x[i->rn] = base + (uint64_t)i->imm;                                                               \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)
#define PRE(id, what)                                                                                        \
    EXEC(id##_x) {                                                                                           \
        uint64_t base = c->x[i->rn] + (uint64_t)i->imm, at = base;                                           \
        what;                                                                                                \
        c->x[i->rn] = base;                                                                                  \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)
#define INDEX_BY(id, suffix, index, what)                                                                    \
    EXEC(id##_##suffix) {                                                                                    \
        uint64_t at = c->x[i->rn] + ((index) << i->aux);                                                     \
        what;                                                                                                \
        NEXT;                                                                                                \
    }
#define INDEX(id, what)                                                                                      \
    INDEX_BY(id, uxtw, (uint64_t)(uint32_t)c->x[i->rm], what)                                                \
    INDEX_BY(id, sxtw, (uint64_t)(int64_t)(int32_t)c->x[i->rm], what)                                        \
    INDEX_BY(id, lsl, c->x[i->rm], what)                                                                     \
    EXECS(id, id##_uxtw, id##_sxtw, id##_lsl)

#define T_LDX(id, T)       PLAIN(id, DO_LDX(T))
#define T_POST_LDX(id, T)  POST(id, DO_LDX(T))
#define T_PRE_LDX(id, T)   PRE(id, DO_LDX(T))
#define T_INDEX_LDX(id, T) INDEX(id, DO_LDX(T))
#define T_LDW(id, T)       PLAIN(id, DO_LDW(T))
#define T_POST_LDW(id, T)  POST(id, DO_LDW(T))
#define T_PRE_LDW(id, T)   PRE(id, DO_LDW(T))
#define T_INDEX_LDW(id, T) INDEX(id, DO_LDW(T))
#define T_STX(id, T)       PLAIN(id, DO_STX(T))
#define T_POST_STX(id, T)  POST(id, DO_STX(T))
#define T_PRE_STX(id, T)   PRE(id, DO_STX(T))
#define T_INDEX_STX(id, T) INDEX(id, DO_STX(T))
#define T_LDV(id, T)       PLAIN(id, DO_LDV(T))
#define T_POST_LDV(id, T)  POST(id, DO_LDV(T))
#define T_PRE_LDV(id, T)   PRE(id, DO_LDV(T))
#define T_INDEX_LDV(id, T) INDEX(id, DO_LDV(T))
#define T_STV(id, T)       PLAIN(id, DO_STV(T))
#define T_POST_STV(id, T)  POST(id, DO_STV(T))
#define T_PRE_STV(id, T)   PRE(id, DO_STV(T))
#define T_INDEX_STV(id, T) INDEX(id, DO_STV(T))
#define T_LDPX(id, T)      PLAIN(id, DO_LDPX(T))
#define T_POST_LDPX(id, T) POST(id, DO_LDPX(T))
#define T_PRE_LDPX(id, T)  PRE(id, DO_LDPX(T))
#define T_STPX(id, T)      PLAIN(id, DO_STPX(T))
#define T_POST_STPX(id, T) POST(id, DO_STPX(T))
#define T_PRE_STPX(id, T)  PRE(id, DO_STPX(T))
#define T_LDPV(id, T)      PLAIN(id, DO_LDPV(T))
#define T_POST_LDPV(id, T) POST(id, DO_LDPV(T))
#define T_PRE_LDPV(id, T)  PRE(id, DO_LDPV(T))
#define T_STPV(id, T)      PLAIN(id, DO_STPV(T))
#define T_POST_STPV(id, T) POST(id, DO_STPV(T))
#define T_PRE_STPV(id, T)  PRE(id, DO_STPV(T))

/* ---- exclusive: a store succeeds when the address is that of the last exclusive load and its contents are
 * still the same ---- */

#define NEED_ALIGNED(size)                                                                                   \
    if (unlikely(at % (size)))                                                                               \
    return cpu_fault(c, i, FAULT_ALIGN, at)

#define T_LDXR(id, T)                                                                                        \
    EXEC(id##_x) {                                                                                           \
        uint64_t at = c->x[i->rn];                                                                           \
        NEED_ALIGNED(sizeof(T));                                                                             \
        NEED_ACCESS(at, sizeof(T), PERM_READ);                                                               \
        c->exclusive = at;                                                                                   \
        c->exclusive_value[0] = LOAD_FROM(T, at);                                                            \
        c->x[i->rd] = c->exclusive_value[0];                                                                 \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)
#define T_STXR(id, T)                                                                                        \
    EXEC(id##_x) {                                                                                           \
        uint64_t at = c->x[i->rn];                                                                           \
        NEED_ALIGNED(sizeof(T));                                                                             \
        NEED_ACCESS(at, sizeof(T), PERM_WRITE);                                                              \
        bool ok = at == c->exclusive && LOAD_FROM(T, at) == (T)c->exclusive_value[0];                        \
        if (ok)                                                                                              \
            STORE_TO(T, at, c->x[i->rd]);                                                                    \
        c->exclusive = NO_ADDRESS;                                                                           \
        c->x[i->rm] = !ok;                                                                                   \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)
#define T_LDXP(id, T)                                                                                        \
    EXEC(id##_x) {                                                                                           \
        uint64_t at = c->x[i->rn];                                                                           \
        NEED_ALIGNED(2 * sizeof(T));                                                                         \
        NEED_ACCESS(at, 2 * sizeof(T), PERM_READ);                                                           \
        c->exclusive = at;                                                                                   \
        c->exclusive_value[0] = LOAD_FROM(T, at);                                                            \
        c->exclusive_value[1] = LOAD_FROM(T, at + sizeof(T));                                                \
        c->x[i->rd] = c->exclusive_value[0];                                                                 \
        c->x[i->ra] = c->exclusive_value[1];                                                                 \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)
#define T_STXP(id, T)                                                                                        \
    EXEC(id##_x) {                                                                                           \
        uint64_t at = c->x[i->rn];                                                                           \
        NEED_ALIGNED(2 * sizeof(T));                                                                         \
        NEED_ACCESS(at, 2 * sizeof(T), PERM_WRITE);                                                          \
        bool ok = at == c->exclusive && LOAD_FROM(T, at) == (T)c->exclusive_value[0] &&                      \
                  LOAD_FROM(T, at + sizeof(T)) == (T)c->exclusive_value[1];                                  \
        if (ok) {                                                                                            \
            STORE_TO(T, at, c->x[i->rd]);                                                                    \
            STORE_TO(T, at + sizeof(T), c->x[i->ra]);                                                        \
        }                                                                                                    \
        c->exclusive = NO_ADDRESS;                                                                           \
        c->x[i->rm] = !ok;                                                                                   \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)

/* ---- structures: element e of structure s is element s of register e; or registers follow one another ----
 */

static inline void move_structures(struct cpu *c, const struct a64_inst *i, uint64_t at, uint32_t regs,
                                   uint32_t per, uint32_t size, bool load) {
    uint32_t n = i->aux / size;
    for (uint32_t first = 0; first < regs; first += per)
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t r = 0; r < per; r++) {
                uint8_t *lane = &c->v[(i->rd + first + r) & 31].b[k * size];
                if (load)
                    memcpy(lane, c->mem + at, size);
                else
                    memcpy(c->mem + at, lane, size);
                at += size;
            }
    if (load && i->aux == 8)
        for (uint32_t r = 0; r < regs; r++)
            c->v[(i->rd + r) & 31].d[1] = 0;
}

#define WRITE_BACK c->x[i->rn] += c->x[i->rm] + (uint64_t)i->imm

#define MULTIPLE(id, suffix, regs, per, size, need)                                                          \
    EXEC(id##_##suffix) {                                                                                    \
        uint64_t at = c->x[i->rn];                                                                           \
        NEED_ACCESS(at, (regs)*i->aux, need);                                                                \
        move_structures(c, i, at, regs, per, size, need == PERM_READ);                                       \
        WRITE_BACK;                                                                                          \
        NEXT;                                                                                                \
    }
#define MULTIPLES(id, regs, per, need)                                                                       \
    MULTIPLE(id, b, regs, per, 1, need)                                                                      \
    MULTIPLE(id, h, regs, per, 2, need)                                                                      \
    MULTIPLE(id, s, regs, per, 4, need)                                                                      \
    MULTIPLE(id, d, regs, per, 8, need)                                                                      \
    EXECS(id, id##_b, id##_h, id##_s, id##_d)
#define T_LDM(id, regs, per) MULTIPLES(id, regs, per, PERM_READ)
#define T_STM(id, regs, per) MULTIPLES(id, regs, per, PERM_WRITE)

#define LANE(id, regs, T, need, ...)                                                                         \
    EXEC(id##_x) {                                                                                           \
        uint64_t at = c->x[i->rn];                                                                           \
        NEED_ACCESS(at, (regs) * sizeof(T), need);                                                           \
        for (uint32_t r = 0; r < (regs); r++, at += sizeof(T)) {                                             \
            uint8_t *lane = &c->v[(i->rd + r) & 31].b[i->aux * sizeof(T)];                                   \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
        WRITE_BACK;                                                                                          \
        NEXT;                                                                                                \
    }                                                                                                        \
    EXECS(id, id##_x)
#define T_LDL(id, regs, T) LANE(id, regs, T, PERM_READ, memcpy(lane, c->mem + at, sizeof(T)))
#define T_STL(id, regs, T) LANE(id, regs, T, PERM_WRITE, memcpy(c->mem + at, lane, sizeof(T)))

#define SPREAD(id, suffix, regs, T)                                                                          \
    EXEC(id##_##suffix) {                                                                                    \
        uint64_t at = c->x[i->rn];                                                                           \
        NEED_ACCESS(at, (regs) * sizeof(T), PERM_READ);                                                      \
        for (uint32_t r = 0; r < (regs); r++, at += sizeof(T)) {                                             \
            union vreg v = {0};                                                                              \
            for (uint32_t k = 0; k < i->aux; k += sizeof(T))                                                 \
                memcpy(&v.b[k], c->mem + at, sizeof(T));                                                     \
            c->v[(i->rd + r) & 31] = v;                                                                      \
        }                                                                                                    \
        WRITE_BACK;                                                                                          \
        NEXT;                                                                                                \
    }
#define T_LDR(id, regs)                                                                                      \
    SPREAD(id, b, regs, uint8_t)                                                                             \
    SPREAD(id, h, regs, uint16_t)                                                                            \
    SPREAD(id, s, regs, uint32_t)                                                                            \
    SPREAD(id, d, regs, uint64_t)                                                                            \
    EXECS(id, id##_b, id##_h, id##_s, id##_d)

#define A64(id, name, encoding, form, arg, class, flags, template, ...) T_##template(id, __VA_ARGS__)
#include "cpu/a64_mem.def"
