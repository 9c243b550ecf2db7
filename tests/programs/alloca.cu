// Memory on the stack whose size is known at run time only: alloca, in loops, in functions that call themselves, and by
// lanes that ask for different sizes.
#include "test.h"

__device__ __noinline__ unsigned sum_of(const unsigned *p, int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++)
        s = s * 31 + p[i];
    return s;
}

// Every level keeps an array of its own across the call below it.
__device__ __noinline__ unsigned nest(int depth, unsigned seed) {
    int n = 1 + (seed >> 3) % 7;
    unsigned *mine = static_cast<unsigned *>(alloca(n * sizeof(unsigned)));
    for (int i = 0; i < n; i++)
        mine[i] = seed * (i + 1) + depth;
    unsigned below = depth ? nest(depth - 1, seed * 1664525u + 1013904223u) : 7;
    return sum_of(mine, n) ^ below;
}

__global__ void sizes(unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = 1 + i % 37;
    unsigned *a = static_cast<unsigned *>(alloca(n * sizeof(unsigned)));
    unsigned char *b = static_cast<unsigned char *>(alloca(n));
    double *c = static_cast<double *>(alloca(n * sizeof(double)));
    for (unsigned k = 0; k < n; k++) {
        a[k] = i * k;
        b[k] = static_cast<unsigned char>(i + k);
        c[k] = double(i) / (k + 1);
    }
    unsigned s = sum_of(a, n);
    for (unsigned k = 0; k < n; k++)
        s = s * 17 + b[k] + unsigned(c[k] * 1000);
    out[i] = s + (reinterpret_cast<size_t>(c) % 8 ? 1 : 0);
}

__global__ void nested(unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = nest(i % 5, i);
}

// What a function allocates is free again when it returns: a loop of calls does not use up the stack.
__device__ __noinline__ unsigned once(int n, unsigned v) {
    unsigned *p = static_cast<unsigned *>(alloca(n * sizeof(unsigned)));
    for (int k = 0; k < n; k++)
        p[k] = v + k;
    return sum_of(p, n);
}

__global__ void loops(unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    for (int k = 0; k < 200; k++)
        s += once(1 + (i + k) % 64, s);
    out[i] = s;
}

// The same with instructions: what was allocated since a mark is given back.
__global__ void marks(unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    for (unsigned k = 0; k < 100; k++) {
        unsigned long long mark, bytes = 16 + 16 * ((i + k) % 8), p, q;
        asm volatile("stacksave.u64 %0;" : "=l"(mark));
        asm volatile("alloca.u64 %0, %1, 16;" : "=l"(p) : "l"(bytes));
        asm volatile("alloca.u64 %0, %1;" : "=l"(q) : "l"(bytes));
        asm volatile("st.local.u32 [%0], %1;" ::"l"(p), "r"(i + k));
        asm volatile("st.local.u32 [%0], %1;" ::"l"(q), "r"(i * k));
        unsigned x, y;
        asm volatile("ld.local.u32 %0, [%1];" : "=r"(x) : "l"(p));
        asm volatile("ld.local.u32 %0, [%1];" : "=r"(y) : "l"(q));
        s = s * 33 + x + 3 * y + (p % 16 ? 1000 : 0) + (q % 8 ? 1000 : 0) + (p == q ? 1000 : 0);
        asm volatile("stackrestore.u64 %0;" ::"l"(mark));
    }
    out[i] = s;
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 256);
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    dev_array<unsigned> out(n);
    sizes<<<n / 64, 64>>>(out);
    SYNC();
    print_sum("sizes", out.get());
    nested<<<n / 64, 64>>>(out);
    SYNC();
    print_sum("nested", out.get());
    loops<<<n / 64, 64>>>(out);
    SYNC();
    print_sum("loops", out.get());
    marks<<<n / 64, 64>>>(out);
    SYNC();
    print_sum("marks", out.get());
    return finish();
}
