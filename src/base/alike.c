#include "base/alike.h"

#include <math.h>

enum { EXP_MAX = 255 };

/* The constants are those that give the error the text states; the ones it prints (FF, F6, DF) do not. */
uint32_t alike_reciprocal(uint32_t fraction) {
    if (fraction <= 16)
        return 0xff - 2 * fraction;
    if (fraction <= 96)
        return 0xf0 - fraction;
    return 0xbf - (fraction >> 1);
}

uint32_t alike_threshold(double threshold) {
    double steps = ceil(threshold * 32768);
    return steps < 65536 ? (uint32_t)steps : 65536;
}

bool alike_floats(uint32_t a, uint32_t b, uint32_t threshold, bool finite) {
    uint32_t ea = a >> 23 & EXP_MAX, eb = b >> 23 & EXP_MAX;
    bool zeros = !((a | b) << 1);
    if (!ea || !eb || (finite && (ea == EXP_MAX || eb == EXP_MAX)))
        return threshold && (a == b || zeros);
    if ((a ^ b) >> 31 || ea > eb + 1 || eb > ea + 1)
        return false;
    uint32_t ma = 0x80 | (a >> 16 & 0x7f), mb = 0x80 | (b >> 16 & 0x7f); /* 1.f, the top eight bits */
    uint32_t divisor = ea < eb ? mb : ma;
    ma >>= ea < eb;
    mb >>= eb < ea;
    uint32_t diff = ma > mb ? ma - mb : mb - ma;
    return diff * alike_reciprocal(divisor & 0x7f) < threshold;
}
