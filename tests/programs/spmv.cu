// Sparse matrix times vector: CSR with a thread per row, CSR with a warp per row, and ELLPACK; read-only
// loads.
#include "test.h"

__global__ void csr_scalar(int rows, const int *ptr, const int *col, const float *val, const float *x,
                           float *y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0;
    for (int e = ptr[r]; e < ptr[r + 1]; e++)
        sum = fmaf(val[e], __ldg(&x[col[e]]), sum);
    y[r] = sum;
}

template <class T>
__global__ void csr_vector(int rows, const int *__restrict__ ptr, const int *__restrict__ col,
                           const T *__restrict__ val, const T *__restrict__ x, T *__restrict__ y) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows)
        return;
    T sum = 0;
    for (int e = ptr[r] + lane; e < ptr[r + 1]; e += 32)
        sum = fma(val[e], x[col[e]], sum);
    for (int d = 16; d > 0; d >>= 1)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0)
        y[r] = sum;
}

__global__ void ell(int rows, int width, const int *col, const float *val, const float *x, float *y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0;
    for (int k = 0; k < width; k++) {
        int c = col[k * rows + r];
        if (c >= 0)
            sum = fmaf(val[k * rows + r], x[c], sum);
    }
    y[r] = sum;
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 2000), width = 64;
    random_source rng(10);
    std::vector<int> ptr(n + 1), col, ecol(n * width, -1);
    std::vector<float> val, eval(n * width), x(n), want(n);
    for (float &v : x)
        v = rng.unit() * 2 - 1;
    for (int r = 0; r < n; r++) {
        int len = rng.below(rng.below(8) ? 12 : width);
        for (int k = 0; k < len; k++) {
            col.push_back(rng.below(n));
            val.push_back(rng.unit() - 0.5f);
            ecol[k * n + r] = col.back();
            eval[k * n + r] = val.back();
            want[r] = fmaf(val.back(), x[col.back()], want[r]);
        }
        ptr[r + 1] = int(col.size());
    }
    dev_array<int> dptr(ptr), dcol(col), decol(ecol);
    dev_array<float> dval(val), deval(eval), dx(x), y(n);
    csr_scalar<<<div_up(n, 128), 128>>>(n, dptr, dcol, dval, dx, y);
    SYNC();
    verdict("scalar", y.get() == want);
    print_sum("scalar", y.get());
    ell<<<div_up(n, 128), 128>>>(n, width, decol, deval, dx, y);
    SYNC();
    verdict("ell", y.get() == want);
    csr_vector<float><<<div_up(n, 4), 128>>>(n, dptr, dcol, dval, dx, y);
    SYNC();
    verdict("vector", max_error(y.get(), want) < 1e-5);
    print_sum("vector", y.get());

    dev_array<double> dval64(std::vector<double>(val.begin(), val.end())),
        dx64(std::vector<double>(x.begin(), x.end())), y64(n);
    csr_vector<double><<<div_up(n, 4), 128>>>(n, dptr, dcol, dval64, dx64, y64);
    SYNC();
    print_sum("vector double", y64.get());
    return finish();
}
