// Relocatable device code: functions, variables and a table of function pointers from another translation
// unit, joined by the device linker.
#include "test.h"

extern __device__ int shared_counter;
extern __constant__ float shared_weights[4];
extern __device__ int far_away(int x);
typedef float (*unary)(float);
extern __device__ unary far_table[3];
void set_weights(const float *w);
void launch_other(int *p, int n);

__global__ void caller(int *out, float *fout, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = far_away(i);
    fout[i] = far_table[i % 3](shared_weights[i & 3] * i);
    atomicAdd(&shared_counter, i & 1);
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 500);
    const float w[4] = {0.5f, 1.0f, 2.0f, 4.0f};
    set_weights(w);
    dev_array<int> out(n);
    dev_array<float> fout(n);
    caller<<<div_up(n, 64), 64>>>(out, fout, n);
    SYNC();
    print_sum("ints", out.get());
    print_sum("floats", fout.get());
    launch_other(out, n);
    SYNC();
    print_sum("other unit", out.get());
    int count;
    CHECK(cudaMemcpyFromSymbol(&count, shared_counter, sizeof count));
    printf("counter %d\n", count);
    return finish();
}
