// The Sobel edge filter of an image of bytes, in two ways.
//
// sobel_texture: a block for each row of the image, every thread reading its nine pixels through a texture.
// sobel_shared: blocks of 16x4 threads stage 4 rows of 4 x 80 pixels and a border in shared memory; each
// thread makes four neighbouring pixels at a time from eighteen bytes and stores them as one word.
#include "device.h"
#include "reprise_approx.h"

#define RADIUS 1

// Pixels around (m, m): u upper, m middle, l lower; l left, m middle, r right.
DEVICE_FN uchar sobel(uchar ul, uchar um, uchar ur, uchar ml, uchar mr, uchar ll, uchar lm, uchar lr,
                      float scale) {
    short across = (short)(ur + 2 * mr + lr - ul - 2 * ml - ll);
    short down = (short)(ul + 2 * um + ur - ll - 2 * lm - lr);
    short sum = (short)(scale * (float)(abs((int)across) + abs((int)down)));
    if (sum < 0)
        return 0;
    return sum > 255 ? 255 : (uchar)sum;
}

// checked: neighbouring threads are compared.
template <bool checked = false> DEVICE_FN uchar fetch(texture_t image, float x, float y) {
    unsigned v = texture_2d_uint(image, x, y);
    if (checked)
        approx_load(v);
    return (uchar)v;
}

// Coordinates are floats, and so is what is added to them.
KERNEL sobel_texture(uchar *out, int pitch, int width, float scale, texture_t image) {
    approx_threshold(8);
    float y = (float)blockIdx.x;
    uchar *row = out + blockIdx.x * pitch;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float x = (float)i;
#ifdef REPRISE_APPROX_OFF
        uchar p00 = fetch(image, x - 1, y - 1), p01 = fetch(image, x, y - 1),
              p02 = fetch(image, x + 1, y - 1);
        uchar p10 = fetch(image, x - 1, y), p12 = fetch(image, x + 1, y);
        uchar p20 = fetch(image, x - 1, y + 1), p21 = fetch(image, x, y + 1),
              p22 = fetch(image, x + 1, y + 1);
#else
        // One pixel of each row is compared, at the left, at the right and in between, so that the columns
        // beside a group of threads are looked at, too: an edge there is in the results of the outer ones.
        uchar p00 = fetch<true>(image, x - 1, y - 1), p12 = fetch<true>(image, x + 1, y),
              p21 = fetch<true>(image, x, y + 1);
        start_approx();
        uchar p01 = fetch(image, x, y - 1), p02 = fetch(image, x + 1, y - 1);
        uchar p10 = fetch(image, x - 1, y);
        uchar p20 = fetch(image, x - 1, y + 1), p22 = fetch(image, x + 1, y + 1);
#endif
        uchar edge = sobel(p00, p01, p02, p10, p12, p20, p21, p22, scale);
        approx_pixels((unsigned short)edge);
        row[i] = edge;
        end_approx();
    }
}

// Stages rows v of the tile's pixels from `first` on, four for each step of a thread.
DEVICE_FN void stage(uchar *row, int words, int u, int v, texture_t image) {
    for (int i = threadIdx.x; i < words; i += blockDim.x) {
        row[4 * i] = fetch(image, (float)(u + 4 * i), (float)v);
        row[4 * i + 1] = fetch(image, (float)(u + 4 * i + 1), (float)v);
        row[4 * i + 2] = fetch(image, (float)(u + 4 * i + 2), (float)v);
        row[4 * i + 3] = fetch(image, (float)(u + 4 * i + 3), (float)v);
    }
}

// `words` is the tile's width in groups of four pixels, shared_pitch the bytes of a staged row.
KERNEL sobel_shared(uchar4 *out, int pitch, int words, int shared_pitch, int width, int height, float scale,
                    texture_t image) {
    extern __shared__ uchar tile[];
    int tx = threadIdx.x, ty = threadIdx.y;
    int u = 4 * (int)blockIdx.x * words, v = (int)(blockIdx.y * blockDim.y) + ty;
    int at = ty * shared_pitch;

    stage(tile + at, words + 2 * RADIUS, u - RADIUS, v - RADIUS, image);
    if (ty < 2 * RADIUS)
        stage(tile + at + (int)blockDim.y * shared_pitch, words + 2 * RADIUS, u - RADIUS,
              v - RADIUS + (int)blockDim.y, image);
    __syncthreads();

    for (int i = tx; i < words; i += blockDim.x) {
        const uchar *top = tile + at + 4 * i, *middle = top + shared_pitch, *bottom = middle + shared_pitch;
        uchar p00 = top[0], p01 = top[1], p02 = top[2], p10 = middle[0], p11 = middle[1], p12 = middle[2];
        uchar p20 = bottom[0], p21 = bottom[1], p22 = bottom[2];
        uchar4 o;
        o.x = sobel(p00, p01, p02, p10, p12, p20, p21, p22, scale);
        p00 = top[3], p10 = middle[3], p20 = bottom[3];
        o.y = sobel(p01, p02, p00, p11, p10, p21, p22, p20, scale);
        p01 = top[4], p11 = middle[4], p21 = bottom[4];
        o.z = sobel(p02, p00, p01, p12, p11, p22, p20, p21, scale);
        p02 = top[5], p12 = middle[5], p22 = bottom[5];
        o.w = sobel(p00, p01, p02, p10, p12, p20, p21, p22, scale);
        if (u / 4 + i < width / 4 && v < height)
            out[v * (pitch / 4) + u / 4 + i] = o;
    }
}
