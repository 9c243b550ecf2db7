/* Loops over lanes, compiled twice: for every host, and for those with wide vectors, picked at run time.
 *
 *   static WIDE_PART uint32_t sum(const uint32_t *v) { ... the loop ... }
 *   WIDE_TOO(uint32_t, lanes_sum, (const uint32_t *v), sum, v)
 *
 * defines lanes_sum, which does what sum does; WIDE_HERE the same, for its own file alone. */
#ifndef REPRISE_BASE_WIDE_H
#define REPRISE_BASE_WIDE_H

#define WIDE_PART inline __attribute__((always_inline))
#ifdef __x86_64__
#define WIDE         __attribute__((target("avx2")))
#define HOST_IS_WIDE __builtin_cpu_supports("avx2")
#else
#define WIDE
#define HOST_IS_WIDE 0
#endif

#define WIDE_BOTH(linkage, type, name, parameters, part, ...)                                                \
    static WIDE type name##_wide parameters {                                                                \
        return part(__VA_ARGS__);                                                                            \
    }                                                                                                        \
    linkage type name parameters {                                                                           \
        return HOST_IS_WIDE ? name##_wide(__VA_ARGS__) : part(__VA_ARGS__);                                  \
    }
#define WIDE_TOO(type, name, parameters, part, ...) WIDE_BOTH(, type, name, parameters, part, __VA_ARGS__)
#define WIDE_HERE(type, name, parameters, part, ...)                                                         \
    WIDE_BOTH(static, type, name, parameters, part, __VA_ARGS__)

#endif
