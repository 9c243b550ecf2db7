// The matrix Q of magnetic resonance image reconstruction: at each point of space, a sum over the samples of
// k-space.
//
// One thread for each point. The samples pass through constant memory, as many as fit for each launch; all
// threads read the same sample at a time.
#include "device.h"

#define TWO_PI      6.2831853071795864769f
#define MAX_SAMPLES 1024

struct mriq_sample {
    float kx, ky, kz, magnitude;
};
__constant__ mriq_sample mriq_samples[MAX_SAMPLES];

// Squared magnitudes of the samples' phases, 512 threads in a block.
KERNEL mriq_phi_mag(const float *re, const float *im, float *magnitude, int n) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        magnitude[i] = re[i] * re[i] + im[i] * im[i];
}

DEVICE_FN void mriq_add(const mriq_sample &k, float x, float y, float z, float &re, float &im) {
    float angle = TWO_PI * (k.kx * x + k.ky * y + k.kz * z);
    re += k.magnitude * __cosf(angle);
    im += k.magnitude * __sinf(angle);
}

// Adds what `samples` samples contribute, two at a time, 256 threads in a block; the points fill the blocks.
KERNEL mriq_q(int samples, const float *x, const float *y, const float *z, float *q_re, float *q_im) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    float px = x[i], py = y[i], pz = z[i], re = q_re[i], im = q_im[i];
    int s = 0;
    if (samples % 2)
        mriq_add(mriq_samples[s++], px, py, pz, re, im);
#pragma unroll 1
    for (; s < samples; s += 2) {
        mriq_add(mriq_samples[s], px, py, pz, re, im);
        mriq_add(mriq_samples[s + 1], px, py, pz, re, im);
    }
    q_re[i] = re;
    q_im[i] = im;
}
