// Shared memory sized at launch: several arrays carved from one block, above 48 KB after opting in, and
// launch bounds.
#include "test.h"

template <class T> __global__ void reverse(T *data) {
    extern __shared__ __align__(16) unsigned char raw[];
    T *s = reinterpret_cast<T *>(raw);
    s[threadIdx.x] = data[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    data[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

__global__ void carved(int *out, int n) {
    extern __shared__ __align__(16) unsigned char raw[];
    double *d = reinterpret_cast<double *>(raw);
    int *i = reinterpret_cast<int *>(d + n);
    short *h = reinterpret_cast<short *>(i + n);
    unsigned char *c = reinterpret_cast<unsigned char *>(h + n);
    int t = threadIdx.x;
    d[t] = t * 0.25;
    i[t] = t * 1000;
    h[t] = short(-t);
    c[t] = (unsigned char)(255 - t);
    __syncthreads();
    int o = (t * 7 + 3) % n;
    unsigned size;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
    out[blockIdx.x * n + t] = int(d[o] * 4) + i[o] + h[o] + c[o] + int(size);
}

__global__ void __launch_bounds__(256, 1) large(int *out, int words) {
    extern __shared__ int w[];
    for (int k = threadIdx.x; k < words; k += blockDim.x)
        w[k] = k * k;
    __syncthreads();
    int sum = 0;
    for (int k = threadIdx.x; k < words; k += blockDim.x)
        sum ^= w[words - 1 - k] + k;
    out[threadIdx.x] = sum;
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 128);
    std::vector<int> ints(n * 4);
    std::vector<double> doubles(n * 4);
    for (int i = 0; i < n * 4; i++)
        ints[i] = i, doubles[i] = i * 0.125;
    dev_array<int> a(ints), out(4 * n), big(256);
    dev_array<double> b(doubles);
    reverse<<<4, n, n * sizeof(int)>>>(a.ptr);
    reverse<<<4, n, n * sizeof(double)>>>(b.ptr);
    carved<<<4, n, n * 15>>>(out, n);
    SYNC();
    print_sum("int", a.get());
    print_sum("double", b.get());
    print_sum("carved", out.get());

    int words = 16 * 1024; // 64 KB
    large<<<1, 256, words * sizeof(int)>>>(big, words);
    printf("without opting in: %s\n", cudaGetErrorName(cudaGetLastError()));
    CHECK(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, words * int(sizeof(int))));
    large<<<1, 256, words * sizeof(int)>>>(big, words);
    SYNC();
    print_sum("large", big.get());
    printf("far too much: %s\n", cudaGetErrorName(cudaFuncSetAttribute(
                                     large, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 24)));
    (void)cudaGetLastError();
    large<<<1, 512, 4096>>>(big, 1024);
    printf("beyond the launch bound: %s\n", cudaGetErrorName(cudaGetLastError()));
    return finish();
}
