// Built by clang: calls that stay calls, recursion, function pointers, virtual functions, switches,
// structures by value and returned, local arrays indexed at run time, 64-bit and 8-bit arithmetic.
#include "clang_cuda.h"

struct vec {
    double x, y, z;
    int tag;
};

__device__ __noinline__ vec cross(vec a, vec b) {
    vec r = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x, a.tag * b.tag};
    return r;
}

__device__ __noinline__ unsigned collatz(unsigned long long n, unsigned depth) {
    if (n == 1 || depth > 200)
        return depth;
    return collatz(n & 1 ? 3 * n + 1 : n >> 1, depth + 1);
}

__device__ __noinline__ int twice(int v) {
    return 2 * v;
}
__device__ __noinline__ int square(int v) {
    return v * v;
}
__device__ __noinline__ int flip(int v) {
    return ~v;
}
typedef int (*unary)(int);

struct animal {
    int weight;
    __device__ explicit animal(int w) : weight(w) {}
    __device__ virtual int legs() const = 0;
    __device__ virtual int noise(int x) const {
        return x + weight;
    }
};
struct bird : animal {
    __device__ explicit bird(int w) : animal(w) {}
    __device__ int legs() const override {
        return 2;
    }
};
struct spider : animal {
    __device__ explicit spider(int w) : animal(w) {}
    __device__ int legs() const override {
        return 8;
    }
    __device__ int noise(int) const override {
        return -1;
    }
};

__device__ __noinline__ int ask(const animal *a, int x) {
    return a->legs() * 1000 + a->noise(x);
}

__device__ __noinline__ int dispatch(int op, int v) {
    switch (op) {
    case 0:
        return v + 1;
    case 1:
        return v * 3;
    case 2:
        return v ^ 0x5555;
    case 3:
        return v >> 2;
    case 4:
        return -v;
    case 5:
        return v % 17;
    case 6:
        return v / 13;
    case 7:
        return v << 3;
    default:
        return 0;
    }
}

__global__ void run(const int *in, int *out, double *reals, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = in[i], history[12];
    for (int k = 0; k < 12; k++)
        history[k] = v = dispatch((v + k) & 15, v);
    unary table[3] = {twice, square, flip};
    bird b(i);
    spider s(i);
    const animal *a = i % 3 ? static_cast<const animal *>(&b) : &s;
    signed char small = static_cast<signed char>(v * 7);
    unsigned short mid = static_cast<unsigned short>(v * 77);
    out[i] = history[v & 7] + table[in[i] % 3](history[(v >> 3) & 7]) + ask(a, v) + int(collatz(i + 1, 0)) +
             small / 3 + mid % 11;
    vec p = {double(i), 1.5, -2, 3}, q = {0.25, double(v & 255), 7, i};
    vec r = cross(cross(p, q), q);
    reals[i] = r.x + r.y * 3 + r.z * 5 + r.tag;
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 500);
    uint32_t seed = 13;
    int *in = new int[n], *out = new int[n];
    double *reals = new double[n];
    for (int i = 0; i < n; i++)
        in[i] = int(next_random(&seed));
    int *din = device_array(in, n), *dout = device_array<int>(nullptr, n);
    double *dreals = device_array<double>(nullptr, n);
    run<<<(n + 63) / 64, 64>>>(din, dout, dreals, n);
    SYNC();
    fetch(out, dout, n);
    fetch(reals, dreals, n);
    print_sum("ints", out, n * sizeof(int));
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += reals[i];
    printf("reals %.10e\n", sum);
    return failures ? 1 : 0;
}
