/* Conversions of single values between any two types, in integer arithmetic: the same on every host, whatever
 * its rounding mode. Executors use it where they have nothing faster; it is also what they are tested
 * against. */
#ifndef REPRISE_EXEC_CONVERT_H
#define REPRISE_EXEC_CONVERT_H

#include "isa/isa.h"

/* The value v of type m->stype as m->dtype: rounding m->rnd, to an integral value if m->rint, then ftz, sat,
 * relu and CVT_SATFINITE. Bits of v above its type do not matter; results narrower than 32 bits are extended
 * to 32, by their sign if the type has one. Packed types convert each part. */
uint64_t convert_value(const struct imods *m, uint64_t v);
/* cvt.f16x2.f32 and relatives: hi and lo, both f32, packed as m->dtype. */
uint32_t convert_pack(const struct imods *m, uint32_t hi, uint32_t lo);

#endif
