// Fast Walsh transform by radix-4 steps, and the product of two transforms.
//
// A step combines four elements that lie `stride` apart. While a transform is longer than shared memory
// holds, each step is a pass over global memory by blocks of 256 threads; the rest is done by one block for
// each piece, all steps in shared memory, a quarter as many threads as elements.
#include "device.h"

// The four-point transform of elements a, b, c, d.
DEVICE_FN void butterfly4(float &a, float &b, float &c, float &d) {
    float t = a;
    a = a + c;
    c = t - c;
    t = b;
    b = b + d;
    d = t - d;
    t = a;
    a = a + b;
    b = t - b;
    t = c;
    c = c + d;
    d = t - d;
}

// A whole transform of 1 << log2n elements in shared memory; one block for each piece.
KERNEL walsh_piece(float *out, const float *in, int log2n) {
    extern __shared__ float data[];
    int n = 1 << log2n, base = (int)(blockIdx.x << log2n), tid = threadIdx.x;
    for (int i = tid; i < n; i += blockDim.x)
        data[i] = in[base + i];

#pragma unroll 1
    for (int stride = n >> 2; stride > 0; stride >>= 2) {
        int low = tid & (stride - 1);
        int i0 = ((tid - low) << 2) + low, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
        __syncthreads();
        butterfly4(data[i0], data[i1], data[i2], data[i3]);
    }

    if (log2n & 1) {
        __syncthreads();
        for (int i = tid; i < n / 2; i += blockDim.x) {
            float a = data[2 * i], b = data[2 * i + 1];
            data[2 * i] = a + b;
            data[2 * i + 1] = a - b;
        }
    }
    __syncthreads();
    for (int i = tid; i < n; i += blockDim.x)
        out[base + i] = data[i];
}

// One radix-4 step of transforms four grid rows' threads long; blockIdx.y is the transform.
KERNEL walsh_step(float *out, const float *in, int stride) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), n = (int)(blockDim.x * gridDim.x * 4);
    in += (int)blockIdx.y * n;
    out += (int)blockIdx.y * n;
    int low = i & (stride - 1);
    int i0 = ((i - low) << 2) + low, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
    float a = in[i0], b = in[i1], c = in[i2], d = in[i3];
    butterfly4(a, b, c, d);
    out[i0] = a;
    out[i1] = b;
    out[i2] = c;
    out[i3] = d;
}

// a *= b / n, element by element.
KERNEL walsh_modulate(float *a, const float *b, int n) {
    int threads = (int)(blockDim.x * gridDim.x);
    float scale = 1.0f / (float)n;
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += threads)
        a[i] *= b[i] * scale;
}
