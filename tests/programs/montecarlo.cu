// Monte-Carlo with generators of its own: PCG32 (64-bit multiply), xorwow, and a Mersenne-like lagged table
// in shared memory; counts of hits are integers and therefore exact.
#include "test.h"

struct pcg32 {
    unsigned long long state, inc;
    __host__ __device__ pcg32(unsigned long long seed, unsigned long long stream)
        : state(0), inc(stream << 1 | 1) {
        next();
        state += seed;
        next();
    }
    __host__ __device__ unsigned next() {
        unsigned long long old = state;
        state = old * 6364136223846793005ull + inc;
        unsigned xs = unsigned(((old >> 18) ^ old) >> 27), rot = unsigned(old >> 59);
        return xs >> rot | xs << (-rot & 31);
    }
};

struct xorwow {
    unsigned x[5], d;
    __host__ __device__ explicit xorwow(unsigned seed) : d(seed) {
        for (int i = 0; i < 5; i++)
            x[i] = seed = seed * 1664525u + 1013904223u;
    }
    __host__ __device__ unsigned next() {
        unsigned t = x[0] ^ (x[0] >> 2);
        x[0] = x[1], x[1] = x[2], x[2] = x[3], x[3] = x[4];
        x[4] = (x[4] ^ (x[4] << 4)) ^ (t ^ (t << 1));
        return (d += 362437) + x[4];
    }
};

template <class Rng> __host__ __device__ unsigned hits(Rng rng, int samples) {
    unsigned inside = 0;
    for (int i = 0; i < samples; i++) {
        unsigned long long x = rng.next() >> 1, y = rng.next() >> 1;
        inside += x * x + y * y < 1ull << 62;
    }
    return inside;
}

__global__ void pi_kernel(unsigned *out, int samples) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = hits(pcg32(42, i), samples) + hits(xorwow(i), samples);
}

__global__ void lagged(unsigned *out, int rounds) {
    __shared__ unsigned table[624];
    int t = threadIdx.x;
    for (int i = t; i < 624; i += blockDim.x)
        table[i] = (i + blockIdx.x * 7919u) * 2654435761u;
    unsigned acc = 0;
    for (int r = 0; r < rounds; r++)
        for (int base = 0; base < 624; base += 208) {
            int i = base + t;
            __syncthreads();
            unsigned y = 0, far = 0;
            if (t < 208) {
                y = (table[i] & 0x80000000u) | (table[(i + 1) % 624] & 0x7fffffffu);
                far = table[(i + 397) % 624];
            }
            __syncthreads();
            if (t < 208) {
                table[i] = far ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
                unsigned v = table[i];
                v ^= v >> 11;
                v ^= v << 7 & 0x9d2c5680u;
                v ^= v << 15 & 0xefc60000u;
                acc += v ^ (v >> 18);
            }
        }
    out[blockIdx.x * blockDim.x + t] = acc;
}

int main(int argc, char **argv) {
    int samples = size_arg(argc, argv, 100), n = 16 * 128;
    dev_array<unsigned> out(n), mix(8 * 224);
    pi_kernel<<<16, 128>>>(out, samples);
    lagged<<<8, 224>>>(mix, samples / 20 + 1);
    SYNC();
    std::vector<unsigned> got = out.get();
    unsigned total = 0;
    bool ok = true;
    for (int i = 0; i < n; i++) {
        total += got[i];
        ok = ok && got[i] == hits(pcg32(42, i), samples) + hits(xorwow(i), samples);
    }
    verdict("counts", ok);
    print_sum("counts", got);
    printf("pi %.2f\n", 4.0 * total / (2.0 * n * samples));
    print_sum("lagged", mix.get());
    return finish();
}
