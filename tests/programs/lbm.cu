// Lattice-Boltzmann flow around an obstacle, nine velocities, structure of arrays; and a kernel that keeps
// more values alive than its register limit allows, so that they spill.
#include "test.h"

const int Q = 9;
__constant__ int cx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ int opposite[Q] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
__constant__ float weight[Q] = {4.0f / 9,  1.0f / 9,  1.0f / 9,  1.0f / 9, 1.0f / 9,
                                1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};

__global__ void step(const float *in, float *out, const unsigned char *wall, int w, int h, float omega) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= w)
        return;
    int cell = y * w + x, size = w * h;
    float f[Q], rho = 0, ux = 0, uy = 0;
#pragma unroll
    for (int q = 0; q < Q; q++) {
        int sx = (x - cx[q] + w) % w, sy = (y - cy[q] + h) % h, from = sy * w + sx;
        f[q] = wall[from] ? in[opposite[q] * size + cell] : in[q * size + from];
        rho += f[q];
        ux = __fadd_rn(ux, __fmul_rn(f[q], float(cx[q])));
        uy = __fadd_rn(uy, __fmul_rn(f[q], float(cy[q])));
    }
    ux = __fdiv_rn(ux, rho);
    uy = __fdiv_rn(uy, rho);
    float square = __fmul_rn(1.5f, fmaf(ux, ux, __fmul_rn(uy, uy)));
#pragma unroll
    for (int q = 0; q < Q; q++) {
        float along = __fadd_rn(__fmul_rn(float(cx[q]), ux), __fmul_rn(float(cy[q]), uy));
        float shape = fmaf(__fmul_rn(4.5f, along), along, fmaf(3.0f, along, __fsub_rn(1.0f, square)));
        float even = __fmul_rn(__fmul_rn(weight[q], rho), shape);
        out[q * size + cell] = wall[cell] ? f[q] : fmaf(omega, __fsub_rn(even, f[q]), f[q]);
    }
}

// Sixty doubles stay alive across the loop.
__global__ void __maxnreg__(40) crowded(const double *in, double *out, int rounds) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    double v[60];
#pragma unroll
    for (int k = 0; k < 60; k++)
        v[k] = in[(t + k * 7) % 256];
    for (int r = 0; r < rounds; r++) {
        double carry = v[59];
#pragma unroll
        for (int k = 59; k > 0; k--)
            v[k] = fma(v[k - 1], 0.5, __dmul_rn(v[k], 0.25));
        v[0] = carry;
    }
    double sum = 0;
#pragma unroll
    for (int k = 0; k < 60; k++)
        sum = __dadd_rn(sum, v[k]);
    out[t] = sum;
}

int main(int argc, char **argv) {
    int w = size_arg(argc, argv, 96), h = w / 2, size = w * h, steps = 10;
    std::vector<float> f(Q * size);
    std::vector<unsigned char> wall(size);
    random_source rng(51);
    for (int q = 0; q < Q; q++)
        for (int i = 0; i < size; i++)
            f[q * size + i] = (q == 1 ? 0.3f : 0.1f) + rng.unit() * 0.01f;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            wall[y * w + x] =
                y == 0 || y == h - 1 || (x - w / 4) * (x - w / 4) + (y - h / 2) * (y - h / 2) < h * h / 36;
    dev_array<float> a(f), b(Q * size);
    dev_array<unsigned char> dwall(wall);
    for (int s = 0; s < steps; s += 2) {
        step<<<dim3(div_up(w, 64), h), 64>>>(a, b, dwall, w, h, 0.8f);
        step<<<dim3(div_up(w, 64), h), 64>>>(b, a, dwall, w, h, 0.8f);
    }
    SYNC();
    print_sum("flow", a.get());
    double mass = 0;
    for (float v : a.get())
        mass += v;
    printf("mass %.2f\n", mass);

    std::vector<double> in(256), want(512), v(60);
    for (double &x : in)
        x = rng.unit();
    dev_array<double> din(in), dout(512);
    int rounds = 20;
    crowded<<<4, 128>>>(din, dout, rounds);
    SYNC();
    for (int t = 0; t < 512; t++) {
        for (int k = 0; k < 60; k++)
            v[k] = in[(t + k * 7) % 256];
        for (int r = 0; r < rounds; r++) {
            double carry = v[59];
            for (int k = 59; k > 0; k--)
                v[k] = std::fma(v[k - 1], 0.5, v[k] * 0.25);
            v[0] = carry;
        }
        for (int k = 0; k < 60; k++)
            want[t] += v[k];
    }
    verdict("crowded", dout.get() == want);
    return finish();
}
