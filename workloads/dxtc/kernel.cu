// DXT1 compression of an image: a block of 64 threads encodes 4x4 pixels as two colours and 16 indices.
//
// Sixteen threads load the pixels and sort them along the principal axis of their colours. A good encoding
// then cuts the sorted row into runs, one for each colour between the two end colours; all cuts are listed in
// memory. The threads share the list, fit the end colours to each cut by least squares, and keep the cut with
// the least error; the best of the 64 writes the result.
#include "device.h"

#define THREADS 64
#define PIXELS  16
#define CUTS3   160
#define CUTS4   992
#define LARGE   1e30f

// How colours lie between the ends: one half-way, or two at thirds. All sums of least squares are multiplied
// by `parts`, 4 or 9, so that products of shares are integers. For a pixel with index 0..3: the share of the
// first end colour, and the products of the shares of both in the bytes of one word: first by first, second
// by second, first by second. Of sixteen pixels none exceeds a byte.
struct dxtc_scheme {
    float parts, each; // each: 1 / parts
    float share[4];
    unsigned products[4];
};
#define PRODUCTS(first, second) ((first) * (first) << 16 | (second) * (second) << 8 | (first) * (second))
__constant__ dxtc_scheme dxtc_three = {4.0f,
                                       1.0f / 4.0f,
                                       {4.0f, 0.0f, 2.0f, 0.0f},
                                       {PRODUCTS(2, 0), PRODUCTS(0, 2), PRODUCTS(1, 1), PRODUCTS(0, 2)}};
__constant__ dxtc_scheme dxtc_four = {9.0f,
                                      1.0f / 9.0f,
                                      {9.0f, 0.0f, 6.0f, 3.0f},
                                      {PRODUCTS(3, 0), PRODUCTS(0, 3), PRODUCTS(2, 1), PRODUCTS(1, 2)}};
// How much each of red, green and blue counts in the error.
__constant__ float dxtc_metric[3] = {1.0f, 1.0f, 1.0f};

struct candidate {
    float error;
    unsigned cut;      // index of pixel i of the sorted row in bits 2i and 2i + 1
    unsigned from, to; // end colours, 5 bits red, 6 green, 5 blue
    bool four;
};

DEVICE_FN float3 operator+(float3 a, float3 b) {
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}
DEVICE_FN float3 operator-(float3 a, float3 b) {
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}
DEVICE_FN float3 operator*(float3 a, float b) {
    return make_float3(a.x * b, a.y * b, a.z * b);
}
DEVICE_FN float dxtc_dot(float3 a, float3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// Rounds to 5, 6 and 5 bits; `grid` gets the colour these stand for.
DEVICE_FN unsigned dxtc_round(float3 v, float3 *grid) {
    int r = __float2int_rn(__saturatef(v.x) * 31.0f), g = __float2int_rn(__saturatef(v.y) * 63.0f),
        b = __float2int_rn(__saturatef(v.z) * 31.0f);
    *grid = make_float3(r * (1.0f / 31.0f), g * (1.0f / 63.0f), b * (1.0f / 31.0f));
    return r << 11 | g << 5 | b;
}

// The end colours that suit a cut best, and their error less the sum of the squares of the colours.
DEVICE_FN void dxtc_fit(const float3 *sorted, float3 sum, const dxtc_scheme &scheme, unsigned cut, bool four,
                        candidate *best) {
    unsigned products = 0;
    float3 from_sum = make_float3(0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        unsigned index = cut >> (2 * i) & 3;
        from_sum = from_sum + sorted[i] * scheme.share[index];
        products += scheme.products[index];
    }
    float from2 = (float)(products >> 16), to2 = (float)(products >> 8 & 0xff);
    float from_to = (float)(products & 0xff);
    float determinant = from2 * to2 - from_to * from_to;
    if (determinant == 0.0f) // all pixels have one index
        return;
    float scale = __fdividef(1.0f, determinant);
    float3 to_sum = sum * scheme.parts - from_sum, a, b;
    unsigned from = dxtc_round((from_sum * to2 - to_sum * from_to) * scale, &a);
    unsigned to = dxtc_round((to_sum * from2 - from_sum * from_to) * scale, &b);
    float3 e = make_float3(a.x * a.x * from2 + b.x * b.x * to2 +
                               2.0f * (a.x * b.x * from_to - a.x * from_sum.x - b.x * to_sum.x),
                           a.y * a.y * from2 + b.y * b.y * to2 +
                               2.0f * (a.y * b.y * from_to - a.y * from_sum.y - b.y * to_sum.y),
                           a.z * a.z * from2 + b.z * b.z * to2 +
                               2.0f * (a.z * b.z * from_to - a.z * from_sum.z - b.z * to_sum.z));
    float error = dxtc_dot(e, make_float3(dxtc_metric[0], dxtc_metric[1], dxtc_metric[2])) * scheme.each;
    if (error < best->error)
        *best = {error, cut, from, to, four};
}

// The direction in which 16 colours spread most: power iteration on their covariance (xx xy xz yy yz zz).
DEVICE_FN float3 dxtc_axis(const float *c) {
    float3 v = make_float3(1.0f, 1.0f, 1.0f);
    for (int i = 0; i < 8; i++) {
        float3 p = make_float3(v.x * c[0] + v.y * c[1] + v.z * c[2], v.x * c[1] + v.y * c[3] + v.z * c[4],
                               v.x * c[2] + v.y * c[4] + v.z * c[5]);
        float largest = fmaxf(fmaxf(fabsf(p.x), fabsf(p.y)), fabsf(p.z));
        v = largest > 0.0f ? p * __fdividef(1.0f, largest) : v;
    }
    return v;
}

// Puts the pixels' colours into `sorted` in order of their place on the axis; rank[i] is where pixel i went.
DEVICE_FN void dxtc_sort(const float3 *pixel, float3 *sorted, int *rank) {
    __shared__ float covariance[PIXELS][6];
    __shared__ float place[PIXELS];
    int tid = threadIdx.x;
    if (tid < PIXELS) {
        float3 sum = make_float3(0.0f, 0.0f, 0.0f);
        for (int i = 0; i < PIXELS; i++)
            sum = sum + pixel[i];
        float3 d = pixel[tid] - sum * (1.0f / PIXELS);
        float *c = covariance[tid];
        c[0] = d.x * d.x;
        c[1] = d.x * d.y;
        c[2] = d.x * d.z;
        c[3] = d.y * d.y;
        c[4] = d.y * d.z;
        c[5] = d.z * d.z;
    }
    __syncthreads();
    for (int half = PIXELS / 2; half > 0; half /= 2) {
        if (tid < half)
            for (int k = 0; k < 6; k++)
                covariance[tid][k] += covariance[tid + half][k];
        __syncthreads();
    }
    if (tid < PIXELS)
        place[tid] = dxtc_dot(pixel[tid], dxtc_axis(covariance[0]));
    __syncthreads();
    if (tid < PIXELS) {
        int before = 0;
        for (int i = 0; i < PIXELS; i++)
            before += place[i] < place[tid] || (place[i] == place[tid] && i < tid);
        rank[tid] = before;
        sorted[before] = pixel[tid];
    }
    __syncthreads();
}

// Number of the thread whose error is the least.
DEVICE_FN int dxtc_winner(float error) {
    __shared__ float errors[THREADS];
    __shared__ int threads[THREADS];
    int tid = threadIdx.x;
    errors[tid] = error;
    threads[tid] = tid;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (tid < half && errors[tid + half] < errors[tid]) {
            errors[tid] = errors[tid + half];
            threads[tid] = threads[tid + half];
        }
        __syncthreads();
    }
    return threads[0];
}

// The order of the end colours tells the decoder whether there are one or two colours between them.
DEVICE_FN uint2 dxtc_encode(candidate best, const int *rank) {
    unsigned indices = 0;
    for (int i = 0; i < PIXELS; i++)
        indices |= (best.cut >> (2 * rank[i]) & 3) << (2 * i);
    bool swap = best.four ? best.from < best.to : best.from > best.to;
    if (swap) // indices 0 and 1 change places; 2 and 3 too where both are between the ends
        indices ^= best.four ? 0x55555555 : ~(indices >> 1) & 0x55555555;
    if (best.from == best.to)
        indices = 0;
    unsigned from = swap ? best.to : best.from, to = swap ? best.from : best.to;
    return make_uint2(from | to << 16, indices);
}

KERNEL dxtc_compress(const unsigned *image, const unsigned *cuts, uint2 *result) {
    __shared__ float3 pixel[PIXELS], sorted[PIXELS];
    __shared__ int rank[PIXELS];
    int tid = threadIdx.x;
    if (tid < PIXELS) {
        unsigned c = image[blockIdx.x * PIXELS + tid];
        pixel[tid] = make_float3((c & 0xff) * (1.0f / 255.0f), (c >> 8 & 0xff) * (1.0f / 255.0f),
                                 (c >> 16 & 0xff) * (1.0f / 255.0f));
    }
    __syncthreads();
    dxtc_sort(pixel, sorted, rank);

    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int i = 0; i < PIXELS; i++)
        sum = sum + sorted[i];
    candidate best = {LARGE, 0, 0, 0, false};
    for (int i = tid; i < CUTS3; i += THREADS)
        dxtc_fit(sorted, sum, dxtc_three, cuts[i], false, &best);
    for (int i = tid; i < CUTS4; i += THREADS)
        dxtc_fit(sorted, sum, dxtc_four, cuts[CUTS3 + i], true, &best);
    if (tid == dxtc_winner(best.error))
        result[blockIdx.x] = dxtc_encode(best, rank);
}
