// Warps of one block that race in step: each reads, adds and stores the same words, and since all of them
// read before the first one stores, the sum is that of one warp. Not defined by CUDA, but what a GPU does.
#include "test.h"

__global__ void add(int *x, const int *a, int n) {
    int l = threadIdx.x & 31;
    for (int j = 0; j < n; j++)
        x[l] += a[j];
}

__global__ void add_volatile(volatile int *x, const int *a, int n) {
    int l = threadIdx.x & 31;
    for (int j = 0; j < n; j++)
        x[l] += a[j];
}

// Lanes on two paths, each with a loop of its own.
__global__ void add_split(int *x, const int *a, int n) {
    int l = threadIdx.x & 31;
    if (l < 13) {
        for (int j = 0; j < n; j++)
            x[l] += a[j];
    } else {
        for (int j = 0; j < n; j++)
            x[l] += 3 * a[j];
    }
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 64);
    dev_array<int> a(std::vector<int>(n, 1));
    for (int warps = 1; warps <= 8; warps *= 2) {
        dev_array<int> x(32), y(32), z(32);
        add<<<1, warps * 32>>>(x, a, n);
        add_volatile<<<1, warps * 32>>>(y, a, n);
        add_split<<<1, warps * 32>>>(z, a, n);
        SYNC();
        printf("%d warps: %d %d, %d %d, %d %d\n", warps, x.get()[0], x.get()[31], y.get()[0], y.get()[31], z.get()[0],
               z.get()[31]);
    }
    return finish();
}
