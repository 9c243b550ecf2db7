// Fourier transforms of 512 complex points: a block of 64 threads makes one, eight points a thread.
//
// 512 = 8 * 8 * 8: with point n = 64 n0 + 8 n1 + n2 and frequency k = k0 + 8 k1 + 64 k2, three passes of
// eight-point transforms in registers run over n0, n1 and n2. Between passes the points are turned by their
// twiddle factors and change threads through shared memory, real and imaginary parts one after the other.
// Rows of eight times eight are padded so that neither the writes nor the reads of a warp meet in a bank.
#include "device.h"

#define THREADS 64
#define RADIX   8
#define POINTS  (THREADS * RADIX)
#define PAD_1   (THREADS + 8)
#define PAD_2   (THREADS + 4)
#define TWO_PI  6.28318530718f

DEVICE_FN float2 operator+(float2 a, float2 b) {
    return make_float2(a.x + b.x, a.y + b.y);
}
DEVICE_FN float2 operator-(float2 a, float2 b) {
    return make_float2(a.x - b.x, a.y - b.y);
}
DEVICE_FN float2 operator*(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// e^(i angle)
DEVICE_FN float2 fft_turn(float angle) {
    return make_float2(__cosf(angle), __sinf(angle));
}

// a becomes a + b, b becomes (a - b) w.
DEVICE_FN void fft_butterfly(float2 *a, float2 *b, float2 w) {
    float2 difference = *a - *b;
    *a = *a + *b;
    *b = difference * w;
}

// Eight points in place; frequency k comes to lie where k has its three bits reversed. The sign of the
// exponent is `sign`.
DEVICE_FN void fft_eight(float2 *a, float sign) {
    const float root = 0.70710678f;
    float2 one = make_float2(1.0f, 0.0f), quarter = make_float2(0.0f, sign);
    fft_butterfly(&a[0], &a[4], one);
    fft_butterfly(&a[1], &a[5], make_float2(root, sign * root));
    fft_butterfly(&a[2], &a[6], quarter);
    fft_butterfly(&a[3], &a[7], make_float2(-root, sign * root));
#pragma unroll
    for (int half = 0; half < RADIX; half += 4) {
        fft_butterfly(&a[half], &a[half + 2], one);
        fft_butterfly(&a[half + 1], &a[half + 3], quarter);
        fft_butterfly(&a[half], &a[half + 1], one);
        fft_butterfly(&a[half + 2], &a[half + 3], one);
    }
}

DEVICE_FN int fft_reversed(int k) {
    return (k & 1) << 2 | (k & 2) | k >> 2;
}

// Frequency k of eight is turned by k times the angle.
DEVICE_FN void fft_twiddle(float2 *a, float angle) {
#pragma unroll
    for (int k = 1; k < RADIX; k++)
        a[fft_reversed(k)] = a[fft_reversed(k)] * fft_turn(angle * k);
}

// Frequency k goes to write[k * write_step]; point i comes from read[i * read_step].
DEVICE_FN void fft_exchange(float2 *a, float *write, int write_step, const float *read, int read_step) {
#pragma unroll
    for (int k = 0; k < RADIX; k++)
        write[k * write_step] = a[fft_reversed(k)].x;
    __syncthreads();
    float real[RADIX];
#pragma unroll
    for (int i = 0; i < RADIX; i++)
        real[i] = read[i * read_step];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < RADIX; k++)
        write[k * write_step] = a[fft_reversed(k)].y;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < RADIX; i++)
        a[i] = make_float2(real[i], read[i * read_step]);
    __syncthreads();
}

DEVICE_FN void fft_transform(float2 *data, float sign) {
    __shared__ float points[RADIX * PAD_1];
    int tid = threadIdx.x, high = tid >> 3, low = tid & 7;
    data += blockIdx.x * POINTS + tid;
    float2 a[RADIX];
#pragma unroll
    for (int i = 0; i < RADIX; i++)
        a[i] = data[i * THREADS];

    // thread (n1, n2) over n0; then (k0, n2) takes over
    fft_eight(a, sign);
    fft_twiddle(a, sign * (TWO_PI / POINTS) * tid);
    fft_exchange(a, points + high * PAD_1 + low, RADIX, points + tid, PAD_1);
    // thread (k0, n2) over n1; then (k1, k0) takes over
    fft_eight(a, sign);
    fft_twiddle(a, sign * (TWO_PI / THREADS) * low);
    fft_exchange(a, points + low * PAD_2 + high, RADIX, points + tid, PAD_2);
    // thread (k1, k0) over n2
    fft_eight(a, sign);
#pragma unroll
    for (int k = 0; k < RADIX; k++)
        data[k * THREADS] = a[fft_reversed(k)];
}

KERNEL fft_forward(float2 *data) {
    fft_transform(data, -1.0f);
}

// Without the division by 512.
KERNEL fft_inverse(float2 *data) {
    fft_transform(data, 1.0f);
}
