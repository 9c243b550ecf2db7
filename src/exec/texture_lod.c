/* The level of detail of mipmapped textures, in 256ths.
 *
 * From gradients it is the logarithm of a length. What an H200 computes was worked out from its results: a
 * vector's length is about its largest component, plus 11/32 of the middle and 1/4 of the least one; of the
 * two gradients, their sum and their difference, the latter two times 11/16, the longest counts; components
 * have 9 bits behind the first one, and the logarithm comes from a table. Nineteen of twenty results are its
 * very own, the others differ by one or two 256ths. The footprint of anisotropic filtering is left out. */
#include <math.h>

#include "base/ieee.h"
#include "exec/texture.h"

/* 256 times the logarithm of 1 + k / 256. */
static const uint8_t logarithms[256] = {
    0,   2,   4,   5,   6,   8,   9,   11,  12,  13,  15,  16,  18,  19,  20,  22,  23,  24,  26,  27,
    28,  30,  31,  32,  34,  35,  36,  38,  39,  40,  42,  43,  44,  45,  47,  48,  49,  50,  52,  53,
    54,  55,  57,  58,  59,  60,  62,  63,  64,  65,  66,  68,  69,  70,  71,  72,  74,  75,  76,  77,
    78,  79,  81,  82,  83,  84,  85,  86,  88,  89,  90,  91,  92,  93,  94,  95,  97,  98,  99,  100,
    101, 102, 103, 104, 105, 106, 107, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121,
    122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 135, 136, 137, 137, 138, 139, 140, 141,
    142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159, 160, 161,
    162, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 173, 174, 175, 176, 177, 178, 179,
    180, 181, 181, 182, 183, 184, 185, 186, 187, 188, 188, 189, 190, 191, 192, 193, 194, 195, 195, 196,
    197, 198, 199, 200, 200, 201, 202, 203, 204, 205, 205, 206, 207, 208, 209, 210, 210, 211, 212, 213,
    214, 214, 215, 216, 217, 218, 218, 219, 220, 221, 222, 222, 223, 224, 225, 226, 226, 227, 228, 229,
    229, 230, 231, 232, 233, 233, 234, 235, 236, 236, 237, 238, 239, 239, 240, 241, 242, 242, 243, 244,
    245, 245, 246, 247, 248, 248, 249, 250, 251, 251, 252, 253, 253, 254, 255, 255};

enum { FAR = 1 << 16 }; /* beyond every level */

static int32_t fixed(double v) {
    return v >= FAR ? FAR : v > -FAR ? (int32_t)v : -FAR; /* nothing, too, is far below */
}

static int32_t biased(const struct rp_tex_desc *t, int32_t lod) {
    return lod + fixed(trunc((double)t->lod_bias * 256));
}

void tex_lods(const struct rp_tex_desc *t, const uint32_t *level, int32_t *lod) {
    for (unsigned l = 0; l < WARP_LANES; l++)
        lod[l] = biased(t, fixed(floor((double)float_of(level[l]) * 256)));
}

/* The first bit and nine more. */
static float short_float(float f) {
    return float_of(bits_of_float(f) & ~((1u << 14) - 1));
}

static float length(const float v[3]) {
    float a = fabsf(v[0]), b = fabsf(v[1]), c = fabsf(v[2]);
    float most = fmaxf(a, fmaxf(b, c)), least = fminf(a, fminf(b, c)), middle = a + b + c - most - least;
    return most + middle * 0.34375f + least * 0.25f;
}

static int32_t logarithm(float f) {
    uint32_t v = bits_of_float(f);
    return f > 0 ? ((int32_t)(v >> 23) - 127) * 256 + logarithms[v >> 15 & 0xff] : -FAR;
}

void tex_lods_of_gradients(const struct rp_tex_desc *t, unsigned dims, const uint32_t *const dx[3],
                           const uint32_t *const dy[3], int32_t *lod) {
    for (unsigned l = 0; l < WARP_LANES; l++) {
        float x[3] = {0}, y[3] = {0}, sum[3], difference[3];
        for (unsigned k = 0; k < 3; k++) {
            float scale = t->normalized_coords ? (float)tex_extent(t, k) : 1;
            if (k < dims) {
                x[k] = short_float(float_of(dx[k][l]) * scale);
                y[k] = short_float(float_of(dy[k][l]) * scale);
            }
            sum[k] = short_float(x[k] + y[k]);
            difference[k] = short_float(x[k] - y[k]);
        }
        float alone = fmaxf(length(x), length(y)), together = fmaxf(length(sum), length(difference));
        lod[l] = biased(t, logarithm(fmaxf(alone, together * 0.6875f)));
    }
}
