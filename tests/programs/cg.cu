// Conjugate gradients in double precision on the 2D Poisson matrix: axpy, dot with a fixed tree, CSR product;
// exact to the bit because every step uses explicit fma or rounded operations.
#include "test.h"

const int B = 128;

__global__ void matvec(int n, const int *ptr, const int *col, const double *val, const double *x, double *y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n)
        return;
    double sum = 0;
    for (int e = ptr[r]; e < ptr[r + 1]; e++)
        sum = fma(val[e], x[col[e]], sum);
    y[r] = sum;
}

__global__ void dot(int n, const double *a, const double *b, double *out) {
    __shared__ double s[B];
    int t = threadIdx.x;
    double sum = 0;
    for (int i = t; i < n; i += B)
        sum = fma(a[i], b[i], sum);
    s[t] = sum;
    for (int d = B / 2; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d)
            s[t] += s[t + d];
    }
    if (t == 0)
        *out = s[0];
}

// scalars: 0 r.r, 1 p.Ap, 2 new r.r
__global__ void update(int n, const double *scalars, double *x, double *r, const double *p,
                       const double *ap) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double alpha = scalars[0] / scalars[1];
    x[i] = fma(alpha, p[i], x[i]);
    r[i] = fma(-alpha, ap[i], r[i]);
}

__global__ void direction(int n, const double *scalars, const double *r, double *p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = fma(scalars[2] / scalars[0], p[i], r[i]);
}

int main(int argc, char **argv) {
    int side = size_arg(argc, argv, 24), n = side * side, blocks = div_up(n, B), rounds = 0;
    std::vector<int> ptr(n + 1), col;
    std::vector<double> val, b(n);
    random_source rng(22);
    for (int i = 0; i < n; i++) {
        int x = i % side, y = i / side;
        auto put = [&](int j, double v) {
            col.push_back(j);
            val.push_back(v);
        };
        put(i, 4);
        if (x > 0)
            put(i - 1, -1);
        if (x < side - 1)
            put(i + 1, -1);
        if (y > 0)
            put(i - side, -1);
        if (y < side - 1)
            put(i + side, -1);
        ptr[i + 1] = int(col.size());
        b[i] = rng.unit() - 0.5;
    }
    dev_array<int> dptr(ptr), dcol(col);
    dev_array<double> dval(val), x(n), r(b), p(b), ap(n), scalars(3);
    dot<<<1, B>>>(n, r, r, scalars);
    for (; rounds < 200; rounds++) {
        matvec<<<blocks, B>>>(n, dptr, dcol, dval, p, ap);
        dot<<<1, B>>>(n, p, ap, scalars + 1);
        update<<<blocks, B>>>(n, scalars, x, r, p, ap);
        dot<<<1, B>>>(n, r, r, scalars + 2);
        direction<<<blocks, B>>>(n, scalars, r, p);
        CHECK(cudaMemcpy(scalars, scalars + 2, sizeof(double), cudaMemcpyDeviceToDevice));
        if (scalars.get()[0] < 1e-20)
            break;
    }
    SYNC();
    std::vector<double> got = x.get();
    double worst = 0;
    for (int i = 0; i < n; i++) {
        double sum = -b[i];
        for (int e = ptr[i]; e < ptr[i + 1]; e++)
            sum += val[e] * got[col[e]];
        worst = std::fmax(worst, std::fabs(sum));
    }
    verdict("residual", worst < 1e-5);
    printf("rounds %d\n", rounds);
    print_sum("solution", got);
    return finish();
}
