// Particle filter that follows an object through a video: one thread for each particle, blocks of 512.
//
// For each frame: particles move by a model of the motion with random deviations and are weighed by how much
// the pixels of a disc around them look like the object rather than the background; weights are summed,
// normalised and accumulated (by a single thread); each particle is then replaced by one drawn in proportion
// to the weights, found by walking along the accumulated ones.
#include "device.h"

#define THREADS 512
#define MODULUS 2147483647

// A linear congruential generator for each particle; uniform in [0, 1].
DEVICE_FN float particle_uniform(int *seed) {
    *seed = (int)(1103515245u * (unsigned)*seed + 12345u) % MODULUS;
    return fabsf((float)*seed / (float)MODULUS);
}

DEVICE_FN float particle_normal(int *seed) {
    float u = particle_uniform(seed), v = particle_uniform(seed);
    float cosine = cosf(6.28318530718f * v), radius = sqrtf(-2.0f * logf(u));
    return radius * cosine;
}

// To the nearest integer; places are not negative.
DEVICE_FN int particle_round(float v) {
    int whole = (int)v;
    return v - whole < 0.5f ? whole : whole + 1;
}

// Moves the particles that were drawn last (drawn_x, drawn_y) and weighs them; each block leaves its sum.
KERNEL particle_likelihood(float *x, float *y, const float *drawn_x, const float *drawn_y, float *weight,
                           float *partial_sums, const int *disc, int disc_points, const unsigned char *video,
                           int *seeds, int particles, int height, int frames, int frame, int pixels) {
    __shared__ float sums[THREADS];
    int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
    float w = 0.0f;
    if (i < particles) {
        int seed = seeds[i];
        float px = drawn_x[i] + 1.0f + 5.0f * particle_normal(&seed);
        float py = drawn_y[i] - 2.0f + 2.0f * particle_normal(&seed);
        seeds[i] = seed;
        x[i] = px;
        y[i] = py;
        float likelihood = 0.0f;
        for (int p = 0; p < disc_points; p++) {
            int column = particle_round(px) + disc[2 * p], row = particle_round(py) + disc[2 * p + 1];
            int at = abs(column * height * frames + row * frames + frame);
            if (at >= pixels)
                at = 0;
            float object = (float)video[at] - 228.0f, background = (float)video[at] - 100.0f;
            likelihood += (background * background - object * object) / 50.0f;
        }
        likelihood = likelihood / (float)disc_points - 300.0f;
        w = expf(likelihood) / (float)particles;
        weight[i] = w;
    }
    sums[tid] = w;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s >>= 1) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        partial_sums[blockIdx.x] = sums[0];
}

// One thread adds the blocks' sums into the first.
KERNEL particle_sum(float *partial_sums, int blocks) {
    if (blockIdx.x * blockDim.x + threadIdx.x == 0) {
        float sum = 0.0f;
        for (int b = 0; b < blocks; b++)
            sum += partial_sums[b];
        partial_sums[0] = sum;
    }
}

KERNEL particle_normalize(float *weight, const float *partial_sums, int particles) {
    __shared__ float sum;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        sum = partial_sums[0];
    __syncthreads();
    if (i < particles)
        weight[i] /= sum;
}

// One thread accumulates the weights and chooses where the regular comb of draws begins.
KERNEL particle_accumulate(const float *weight, float *cumulative, float *comb, int *seeds, int particles) {
    if (blockIdx.x * blockDim.x + threadIdx.x == 0) {
        float sum = 0.0f;
        for (int i = 0; i < particles; i++) {
            sum += weight[i];
            cumulative[i] = sum;
        }
        comb[0] = 1.0f / (float)particles * particle_uniform(&seeds[0]);
    }
}

KERNEL particle_draw(const float *x, const float *y, const float *cumulative, const float *comb,
                     float *drawn_x, float *drawn_y, int particles) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= particles)
        return;
    float tooth = comb[0] + (float)i / (float)particles;
    int index = particles - 1;
    for (int k = 0; k < particles; k++)
        if (cumulative[k] >= tooth) {
            index = k;
            break;
        }
    drawn_x[i] = x[index];
    drawn_y[i] = y[index];
}
