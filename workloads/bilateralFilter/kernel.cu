// Bilateral filter: every pixel becomes the mean of the pixels around it, weighted by nearness in place and
// in colour.
//
// One thread for each pixel, blocks of 16x16; colours through a texture, the weights of distance in constant
// memory, those of colour by an exponential.
#include "device.h"
#include "reprise_approx.h"

#define MAX_RADIUS 31

__constant__ float gaussian[2 * MAX_RADIUS + 1];

DEVICE_FN float likeness(float4 a, float4 b, float spread) {
    float x = b.x - a.x, y = b.y - a.y, z = b.z - a.z;
    return __expf(-(x * x + y * y + z * z) / (2.0f * spread * spread));
}

DEVICE_FN unsigned level(float v) {
    return (unsigned)(__saturatef(fabsf(v)) * 255.0f);
}

KERNEL bilateral_filter(unsigned *out, int width, int height, float spread, int radius, texture_t image) {
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= width || y >= height)
        return;
    float sum = 0.0f;
    float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float4 centre = texture_2d_float4(image, (float)x, (float)y);
    approx_load(centre.x);
    start_approx();
    for (int i = -radius; i <= radius; i++)
#pragma unroll 1
        for (int j = -radius; j <= radius; j++) {
            float4 there = texture_2d_float4(image, (float)(x + j), (float)(y + i));
            float weight = gaussian[i + radius] * gaussian[j + radius] * likeness(there, centre, spread);
            total.x += weight * there.x;
            total.y += weight * there.y;
            total.z += weight * there.z;
            total.w += weight * there.w;
            sum += weight;
        }
    unsigned mean = level(total.w / sum) << 24 | level(total.z / sum) << 16 | level(total.y / sum) << 8 |
                    level(total.x / sum);
    approx_pixels(mean);
    out[y * width + x] = mean;
    end_approx();
}
