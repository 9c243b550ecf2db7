/* Names for instructions of extensions that this CPU lacks, so that a program that needs them can be told
 * what it needs. */
#include <stddef.h>

#include "cpu/a64.h"

static const struct {
    const char *name, *encoding; /* as in a64.def; x is any bit */
} lacking[] = {
#define LACKING(name, encoding) {name, encoding},
#include "cpu/a64_lacking.def"
#undef LACKING
};

const char *a64_lacking(uint32_t word) {
    for (size_t k = 0; k < sizeof lacking / sizeof lacking[0]; k++) {
        bool same = true;
        for (int bit = 0; bit < 32 && same; bit++) {
            char want = lacking[k].encoding[bit];
            same = want == 'x' || (uint32_t)(want - '0') == (word >> (31 - bit) & 1);
        }
        if (same)
            return lacking[k].name;
    }
    return NULL;
}
