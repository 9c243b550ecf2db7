// Driver API in plain C, built without a CUDA toolkit, with kernels that clang compiled. argv[1] is the PTX
// file.
#include "drv.h"

int main(int argc, char **argv) {
    enum { N = 3000, ROWS = 20, WIDTH = 300 };
    static int in[N], got[N];
    static double matrix[ROWS * WIDTH], sums[ROWS];
    int table[16], n = N, width = WIDTH, offset = 11, ok = 1;
    CUmodule module;
    CUfunction gather, sum_rows;
    CUdeviceptr din, dout, symbol, dm, ds;
    size_t bytes;
    if (argc < 2)
        return 2;
    use_device();
    CHECK(cuModuleLoadData(&module, read_text(argv[1])));
    CHECK(cuModuleGetFunction(&gather, module, "gather"));
    CHECK(cuModuleGetFunction(&sum_rows, module, "sum_rows"));
    for (int i = 0; i < N; i++)
        in[i] = i * i % 1009 - 300;
    for (int i = 0; i < 16; i++)
        table[i] = i * i - 20;
    for (int i = 0; i < ROWS * WIDTH; i++)
        matrix[i] = (double)(i * 7919 % 10007) / 64;
    CHECK(cuModuleGetGlobal(&symbol, &bytes, module, "table"));
    printf("table %zu bytes\n", bytes);
    CHECK(cuMemcpyHtoD(symbol, table, sizeof table));
    CHECK(cuModuleGetGlobal(&symbol, &bytes, module, "offset"));
    CHECK(cuMemcpyHtoD(symbol, &offset, sizeof offset));
    CHECK(cuMemAlloc(&din, sizeof in));
    CHECK(cuMemAlloc(&dout, sizeof got));
    CHECK(cuMemcpyHtoD(din, in, sizeof in));
    void *args[] = {&din, &dout, &n};
    CHECK(cuLaunchKernel(gather, (N + 95) / 96, 1, 1, 96, 1, 1, 0, NULL, args, NULL));
    CHECK(cuMemcpyDtoH(got, dout, sizeof got));
    for (int i = 0; i < N; i++)
        ok = ok && got[i] == in[i * 5 % N] * table[i & 15] + offset;
    verdict("gather", ok);
    print_sum("gather", got, sizeof got);

    CHECK(cuMemAlloc(&dm, sizeof matrix));
    CHECK(cuMemAlloc(&ds, sizeof sums));
    CHECK(cuMemcpyHtoD(dm, matrix, sizeof matrix));
    void *row_args[] = {&dm, &ds, &width};
    CHECK(cuLaunchKernel(sum_rows, ROWS, 1, 1, 64, 1, 1, 0, NULL, row_args, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(sums, ds, sizeof sums));
    ok = 1;
    for (int r = 0; r < ROWS; r++) {
        double want = 0; // multiples of 1/64: exact in any order
        for (int x = 0; x < WIDTH; x++)
            want += matrix[r * WIDTH + x];
        ok = ok && sums[r] == want;
    }
    verdict("rows", ok);
    CHECK(cuMemFree(din));
    CHECK(cuMemFree(dout));
    CHECK(cuMemFree(dm));
    CHECK(cuMemFree(ds));
    CHECK(cuModuleUnload(module));
    return failures ? 1 : 0;
}
