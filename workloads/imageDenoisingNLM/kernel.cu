// Non-local means: every pixel becomes the mean of the pixels around it, weighted by how alike their
// surroundings are.
//
// One thread for each pixel, blocks of 16x16. For each pixel of a window, a patch around it is compared with
// the patch around the thread's own pixel, all through a texture of colours; nothing is staged in shared
// memory.
#include "device.h"

#define WEIGHT_THRESHOLD 0.10f
#define LIKE_THRESHOLD   0.10f

DEVICE_FN float distance2(float4 a, float4 b) {
    float x = b.x - a.x, y = b.y - a.y, z = b.z - a.z;
    return x * x + y * y + z * z;
}

DEVICE_FN float blend(float a, float b, float t) {
    return a + (b - a) * t;
}

DEVICE_FN unsigned pack(float r, float g, float b) {
    return (unsigned)(b * 255.0f) << 16 | (unsigned)(g * 255.0f) << 8 | (unsigned)(r * 255.0f);
}

// The loops count in floats, as their counters are coordinates.
template <int WINDOW, int PATCH>
DEVICE_FN void denoise(unsigned *out, int width, int height, float noise, float keep, texture_t image) {
    int ix = (int)(blockDim.x * blockIdx.x + threadIdx.x), iy = (int)(blockDim.y * blockIdx.y + threadIdx.y);
    const float window_area = (2 * WINDOW + 1) * (2 * WINDOW + 1);
    float x = (float)ix + 0.5f, y = (float)iy + 0.5f;
    if (ix >= width || iy >= height)
        return;
    float like = 0.0f, weights = 0.0f, r = 0.0f, g = 0.0f, b = 0.0f;
    for (float i = -WINDOW; i <= WINDOW; i++)
        for (float j = -WINDOW; j <= WINDOW; j++) {
            float weight = 0.0f;
            for (float n = -PATCH; n <= PATCH; n++)
                for (float m = -PATCH; m <= PATCH; m++)
                    weight += distance2(texture_2d_float4(image, x + j + m, y + i + n),
                                        texture_2d_float4(image, x + m, y + n));
            weight = __expf(-(weight * noise + (i * i + j * j) * (1.0f / window_area)));
            float4 there = texture_2d_float4(image, x + j, y + i);
            r += there.x * weight;
            g += there.y * weight;
            b += there.z * weight;
            weights += weight;
            like += weight > WEIGHT_THRESHOLD ? 1.0f / window_area : 0.0f;
        }

    // Where few pixels are alike, more of the pixel itself is kept.
    float mean = 1.0f / weights, part = like > LIKE_THRESHOLD ? keep : 1.0f - keep;
    float4 here = texture_2d_float4(image, x, y);
    out[width * iy + ix] =
        pack(blend(r * mean, here.x, part), blend(g * mean, here.y, part), blend(b * mean, here.z, part));
}

KERNEL nlm_denoise(unsigned *out, int width, int height, float noise, float keep, texture_t image) {
    denoise<3, 3>(out, width, height, noise, keep, image);
}

// A ninth of the window and of the patch, for the smallest size.
KERNEL nlm_denoise_narrow(unsigned *out, int width, int height, float noise, float keep, texture_t image) {
    denoise<1, 1>(out, width, height, noise, keep, image);
}
