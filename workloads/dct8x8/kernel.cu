// Discrete cosine transform of 8x8 tiles, quantisation, and back; in two ways.
//
// dct_matrix, dct_quantize and dct_matrix_inverse: a block of 8x8 threads for each tile, the transform as two
// products with the 8x8 matrix in constant memory. dct_vectors and its inverse: a block of 8x4x2 threads for
// 32x16 pixels in shared memory, each thread transforming one row of a tile and then one column by the
// factored transform.
#include "device.h"

#define N 8

// dct_basis[u * 8 + x]: sample x of basis function u, orthonormal.
__constant__ float dct_basis[N * N];
// Step sizes of the coefficients, in rows of vertical frequency.
__constant__ short dct_steps[N * N];

KERNEL dct_matrix(float *out, int pitch, texture_t image) {
    __shared__ float pixels[N * N];
    __shared__ float half[N * N];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = (int)blockIdx.x * N + tx, y = (int)blockIdx.y * N + ty;
    pixels[ty * N + tx] = texture_2d(image, (float)x + 0.5f, (float)y + 0.5f);
    __syncthreads();

    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < N; i++)
        sum += dct_basis[ty * N + i] * pixels[i * N + tx];
    half[ty * N + tx] = sum;
    __syncthreads();

    sum = 0.0f;
#pragma unroll
    for (int i = 0; i < N; i++)
        sum += half[ty * N + i] * dct_basis[tx * N + i];
    out[y * pitch + x] = sum;
}

KERNEL dct_matrix_inverse(float *out, int pitch, texture_t coefficients) {
    __shared__ float given[N * N];
    __shared__ float half[N * N];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = (int)blockIdx.x * N + tx, y = (int)blockIdx.y * N + ty;
    given[ty * N + tx] = texture_2d(coefficients, (float)x + 0.5f, (float)y + 0.5f);
    __syncthreads();

    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < N; i++)
        sum += dct_basis[i * N + ty] * given[i * N + tx];
    half[ty * N + tx] = sum;
    __syncthreads();

    sum = 0.0f;
#pragma unroll
    for (int i = 0; i < N; i++)
        sum += half[ty * N + i] * dct_basis[i * N + tx];
    out[y * pitch + x] = sum;
}

// Rounds every coefficient to a multiple of its step.
KERNEL dct_quantize(float *coefficients, int pitch) {
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = (int)blockIdx.x * N + tx, y = (int)blockIdx.y * N + ty;
    float step = (float)dct_steps[ty * N + tx];
    float *c = &coefficients[y * pitch + x];
    *c = rintf(*c / step) * step;
}

// Half the cosines of k pi / 16.
#define C1 0.49039264f
#define C2 0.46193977f
#define C3 0.41573481f
#define C4 0.35355339f
#define C5 0.27778512f
#define C6 0.19134172f
#define C7 0.09754516f

// Eight elements `step` apart, transformed in place: sums feed the even coefficients, differences the odd
// ones.
DEVICE_FN void forward8(float *v, int step) {
    float s0 = v[0] + v[7 * step], d0 = v[0] - v[7 * step];
    float s1 = v[step] + v[6 * step], d1 = v[step] - v[6 * step];
    float s2 = v[2 * step] + v[5 * step], d2 = v[2 * step] - v[5 * step];
    float s3 = v[3 * step] + v[4 * step], d3 = v[3 * step] - v[4 * step];
    float t0 = s0 + s3, t1 = s1 + s2, t2 = s0 - s3, t3 = s1 - s2;
    v[0] = C4 * (t0 + t1);
    v[2 * step] = C2 * t2 + C6 * t3;
    v[4 * step] = C4 * (t0 - t1);
    v[6 * step] = C6 * t2 - C2 * t3;
    v[step] = C1 * d0 + C3 * d1 + C5 * d2 + C7 * d3;
    v[3 * step] = C3 * d0 - C7 * d1 - C1 * d2 - C5 * d3;
    v[5 * step] = C5 * d0 - C1 * d1 + C7 * d2 + C3 * d3;
    v[7 * step] = C7 * d0 - C5 * d1 + C3 * d2 - C1 * d3;
}

DEVICE_FN void inverse8(float *v, int step) {
    float c0 = v[0], c1 = v[step], c2 = v[2 * step], c3 = v[3 * step];
    float c4 = v[4 * step], c5 = v[5 * step], c6 = v[6 * step], c7 = v[7 * step];
    float p = C4 * (c0 + c4), m = C4 * (c0 - c4), q = C2 * c2 + C6 * c6, r = C6 * c2 - C2 * c6;
    float e0 = p + q, e1 = m + r, e2 = m - r, e3 = p - q;
    float o0 = C1 * c1 + C3 * c3 + C5 * c5 + C7 * c7;
    float o1 = C3 * c1 - C7 * c3 - C1 * c5 - C5 * c7;
    float o2 = C5 * c1 - C1 * c3 + C7 * c5 + C3 * c7;
    float o3 = C7 * c1 - C5 * c3 + C3 * c5 - C1 * c7;
    v[0] = e0 + o0;
    v[7 * step] = e0 - o0;
    v[step] = e1 + o1;
    v[6 * step] = e1 - o1;
    v[2 * step] = e2 + o2;
    v[5 * step] = e2 - o2;
    v[3 * step] = e3 + o3;
    v[4 * step] = e3 - o3;
}

#define PART_WIDTH  32
#define PART_HEIGHT 16
#define PART_PITCH  (PART_WIDTH + 1)

// What both vector kernels share: 32x16 pixels through shared memory, rows first, then columns.
template <bool FORWARD> DEVICE_FN void transform_part(float *out, const float *in, int pitch) {
    __shared__ float part[PART_HEIGHT * PART_PITCH];
    int column = (int)(threadIdx.y * N + threadIdx.x), top = (int)threadIdx.z * N;
    int at = ((int)blockIdx.y * PART_HEIGHT + top) * pitch + (int)blockIdx.x * PART_WIDTH + column;
    float *mine = part + top * PART_PITCH + column;
#pragma unroll
    for (int i = 0; i < N; i++)
        mine[i * PART_PITCH] = in[at + i * pitch];
    __syncthreads();
    float *row = part + (top + (int)threadIdx.x) * PART_PITCH + (int)threadIdx.y * N;
    if (FORWARD)
        forward8(row, 1);
    else
        inverse8(row, 1);
    __syncthreads();
    if (FORWARD)
        forward8(mine, PART_PITCH);
    else
        inverse8(mine, PART_PITCH);
#pragma unroll
    for (int i = 0; i < N; i++)
        out[at + i * pitch] = mine[i * PART_PITCH];
}

KERNEL dct_vectors(float *out, const float *in, int pitch) {
    transform_part<true>(out, in, pitch);
}

KERNEL dct_vectors_inverse(float *out, const float *in, int pitch) {
    transform_part<false>(out, in, pitch);
}
