// Sum, minimum and maximum of an array: shuffles within a warp, shared memory across warps, one value per
// block.
#include "test.h"

struct sum_op {
    template <class T> __device__ T operator()(T a, T b) const {
        return a + b;
    }
};
struct min_op {
    template <class T> __device__ T operator()(T a, T b) const {
        return b < a ? b : a;
    }
};
struct max_op {
    template <class T> __device__ T operator()(T a, T b) const {
        return a < b ? b : a;
    }
};

template <class T, class Op> __device__ T warp_reduce(T v, Op op) {
    for (int offset = 16; offset > 0; offset >>= 1)
        v = op(v, __shfl_down_sync(0xffffffffu, v, offset));
    return v;
}

template <class T, class Op> __global__ void reduce(const T *in, T *out, int n, T identity, Op op) {
    __shared__ T partial[32];
    T v = identity;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v = op(v, in[i]);
    v = warp_reduce(v, op);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : identity;
        v = warp_reduce(v, op);
        if (threadIdx.x == 0)
            out[blockIdx.x] = v;
    }
}

// The tree in shared memory that the SDK's early samples use, with a volatile warp-wide tail.
__global__ void reduce_tree(const float *in, float *out, int n) {
    __shared__ volatile float s[256];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    s[t] = (i < n ? in[i] : 0.0f) + (i + 256 < n ? in[i + 256] : 0.0f);
    __syncthreads();
    for (int step = 128; step > 32; step >>= 1) {
        if (t < step)
            s[t] = s[t] + s[t + step];
        __syncthreads();
    }
    for (int step = 32; step > 0; step >>= 1) {
        float v = t < step ? s[t + step] : 0.0f;
        __syncwarp();
        if (t < step)
            s[t] = s[t] + v;
        __syncwarp();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

template <class T, class Op> static T run(const char *name, const std::vector<T> &in, T identity, Op op) {
    const int blocks = 24;
    dev_array<T> src(in), part(blocks), total(1);
    reduce<<<blocks, 256>>>(src.ptr, part.ptr, int(in.size()), identity, op);
    reduce<<<1, 64>>>(part.ptr, total.ptr, blocks, identity, op);
    SYNC();
    print_sum(name, part.get());
    return total.get()[0];
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 200000);
    random_source rng(1);
    std::vector<int> ints(n);
    std::vector<float> floats(n);
    std::vector<double> doubles(n);
    std::vector<long long> longs(n);
    long long sum = 0, lsum = 0;
    int lo = 0, hi = 0;
    for (int i = 0; i < n; i++) {
        ints[i] = int(rng.next()) >> 12;
        floats[i] = rng.unit() - 0.25f;
        doubles[i] = rng.unit() * 1e-3 + i;
        longs[i] = (long long)ints[i] * 1000003;
        sum += ints[i];
        lsum += longs[i];
        lo = ints[i] < lo ? ints[i] : lo;
        hi = ints[i] > hi ? ints[i] : hi;
    }
    verdict("sum int", run("sum int", ints, 0, sum_op()) == int(sum));
    verdict("min int", run("min int", ints, 0, min_op()) == lo);
    verdict("max int", run("max int", ints, 0, max_op()) == hi);
    verdict("sum long", run("sum long", longs, 0ll, sum_op()) == lsum);
    printf("sum float %.9g\n", run("sum float", floats, 0.0f, sum_op()));
    printf("min float %.9g\n", run("min float", floats, 1e30f, min_op()));
    printf("sum double %.17g\n", run("sum double", doubles, 0.0, sum_op()));

    int blocks = div_up(n, 512);
    dev_array<float> src(floats), part(blocks);
    reduce_tree<<<blocks, 256>>>(src, part, n);
    SYNC();
    print_sum("tree", part.get());
    return finish();
}
