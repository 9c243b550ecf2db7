// Recursive device functions: Fibonacci, Ackermann, quicksort with an explicit comparison, tree walks, mutual
// recursion and frames with local arrays; lanes recurse to different depths.
#include "test.h"

__device__ __noinline__ unsigned fib(unsigned n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__device__ bool is_odd(unsigned n);
__device__ __noinline__ bool is_even(unsigned n) {
    return n == 0 || is_odd(n - 1);
}
__device__ __noinline__ bool is_odd(unsigned n) {
    return n != 0 && is_even(n - 1);
}

__device__ __noinline__ void quicksort(int *a, int lo, int hi) {
    if (lo >= hi)
        return;
    int pivot = a[(lo + hi) / 2], i = lo, j = hi;
    while (i <= j) {
        while (a[i] < pivot)
            i++;
        while (a[j] > pivot)
            j--;
        if (i <= j) {
            int t = a[i];
            a[i++] = a[j];
            a[j--] = t;
        }
    }
    quicksort(a, lo, j);
    quicksort(a, i, hi);
}

// Counts the ways to place queens; each frame keeps its own row of flags.
__device__ __noinline__ int queens(int n, int row, unsigned cols, unsigned left, unsigned right) {
    if (row == n)
        return 1;
    int order[8], ways = 0;
    for (int k = 0; k < n; k++)
        order[k] = (k * 3 + row) % n;
    for (int k = 0; k < n; k++) {
        unsigned bit = 1u << order[k];
        if (!((cols | left | right) & bit))
            ways += queens(n, row + 1, cols | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return ways;
}

__global__ void run(unsigned *out) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t * 4] = fib(t % 13);
    out[t * 4 + 1] = ackermann(t % 3, t % 5);
    out[t * 4 + 2] = is_even(t);
    out[t * 4 + 3] = queens(4 + t % 4, 0, 0, 0, 0);
}

__global__ void sort_rows(int *data, int width) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    quicksort(data + row * width, 0, width - 1);
}

int main(int argc, char **argv) {
    int width = size_arg(argc, argv, 50), rows = 64;
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 32 * 1024));
    size_t limit = 0;
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    printf("stack limit %zu\n", limit);
    dev_array<unsigned> out(64 * 4);
    run<<<2, 32>>>(out);
    SYNC();
    std::vector<unsigned> got = out.get();
    for (int t = 0; t < 13; t++)
        printf("%u %u %u %u\n", got[t * 4], got[t * 4 + 1], got[t * 4 + 2], got[t * 4 + 3]);
    print_sum("all", got);

    random_source rng(33);
    std::vector<int> data(width * rows);
    for (int &v : data)
        v = rng.below(1000);
    dev_array<int> d(data);
    sort_rows<<<2, 32>>>(d, width);
    SYNC();
    std::vector<int> sorted = d.get();
    bool ok = true;
    for (int r = 0; r < rows; r++)
        for (int i = 1; i < width; i++)
            ok = ok && sorted[r * width + i - 1] <= sorted[r * width + i];
    verdict("quicksort", ok);
    print_sum("quicksort", sorted);
    return finish();
}
