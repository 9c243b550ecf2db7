// The last block to finish sums what the others left (atomics and __threadfence), the counter wraps for the
// next launch; and a queue of work that blocks take from until it is empty.
#include "test.h"

const int B = 128;
__device__ unsigned finished;

__device__ unsigned block_sum(unsigned v) {
    __shared__ unsigned s[B];
    int t = threadIdx.x;
    s[t] = v;
    for (int d = B / 2; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d)
            s[t] += s[t + d];
    }
    __syncthreads();
    unsigned r = s[0];
    __syncthreads();
    return r;
}

__global__ void sum(const unsigned *in, int n, volatile unsigned *partial, unsigned *result) {
    __shared__ bool is_last;
    unsigned v = 0;
    for (int i = blockIdx.x * B + threadIdx.x; i < n; i += gridDim.x * B)
        v += in[i];
    v = block_sum(v);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = v;
        __threadfence();
        is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last)
        return;
    v = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += B)
        v += partial[i];
    v = block_sum(v);
    if (threadIdx.x == 0)
        *result = v;
}

__global__ void workers(int *next, int tasks, unsigned *out) {
    __shared__ int task;
    for (;;) {
        if (threadIdx.x == 0)
            task = atomicAdd(next, 1);
        __syncthreads();
        int mine = task;
        __syncthreads();
        if (mine >= tasks)
            return;
        unsigned v = mine * 97u + threadIdx.x;
        for (int k = 0; k < mine % 50; k++)
            v = v * 1664525u + 1013904223u;
        v = block_sum(v);
        if (threadIdx.x == 0)
            out[mine] = v;
    }
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 100000), tasks = 200;
    random_source rng(41);
    std::vector<unsigned> in(n);
    unsigned want = 0;
    for (unsigned &v : in)
        want += v = rng.next();
    dev_array<unsigned> src(in), partial(40), result(1);
    for (int round = 0; round < 3; round++) {
        sum<<<20 + 10 * round, B>>>(src, n, partial, result);
        SYNC();
        verdict("sum", result.get()[0] == want);
    }
    dev_array<int> next(1);
    dev_array<unsigned> out(tasks);
    workers<<<7, B>>>(next, tasks, out);
    SYNC();
    print_sum("tasks", out.get());
    verdict("all taken", next.get()[0] == tasks + 7);
    return finish();
}
