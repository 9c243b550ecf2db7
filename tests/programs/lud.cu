// Blocked LU decomposition without pivoting: diagonal, perimeter and internal kernels as in the well-known
// scheme, float, and a right-looking unblocked one in double.
#include "test.h"

const int B = 16;

__global__ void diagonal(float *m, int n, int offset) {
    __shared__ float s[B][B];
    int t = threadIdx.x;
    for (int i = 0; i < B; i++)
        s[i][t] = m[(offset + i) * n + offset + t];
    __syncthreads();
    for (int i = 0; i < B - 1; i++) {
        if (t > i) {
            for (int j = 0; j < i; j++)
                s[t][i] = fmaf(-s[t][j], s[j][i], s[t][i]);
            s[t][i] /= s[i][i];
        }
        __syncthreads();
        if (t > i)
            for (int j = 0; j < i + 1; j++)
                s[i + 1][t] = fmaf(-s[i + 1][j], s[j][t], s[i + 1][t]);
        __syncthreads();
    }
    for (int i = 1; i < B; i++)
        m[(offset + i) * n + offset + t] = s[i][t];
}

__global__ void perimeter(float *m, int n, int offset) {
    __shared__ float dia[B][B], row[B][B], col[B][B];
    int t = threadIdx.x % B, far = offset + (blockIdx.x + 1) * B;
    bool rows = threadIdx.x < B;
    for (int i = 0; i < B; i++) {
        if (rows) {
            dia[i][t] = m[(offset + i) * n + offset + t];
            row[i][t] = m[(offset + i) * n + far + t];
        } else {
            col[i][t] = m[(far + i) * n + offset + t];
        }
    }
    __syncthreads();
    if (rows) {
        for (int i = 1; i < B; i++)
            for (int j = 0; j < i; j++)
                row[i][t] = fmaf(-dia[i][j], row[j][t], row[i][t]);
    } else {
        for (int i = 0; i < B; i++) {
            for (int j = 0; j < i; j++)
                col[t][i] = fmaf(-col[t][j], dia[j][i], col[t][i]);
            col[t][i] /= dia[i][i];
        }
    }
    __syncthreads();
    for (int i = 0; i < B; i++) {
        if (rows)
            m[(offset + i) * n + far + t] = row[i][t];
        else
            m[(far + i) * n + offset + t] = col[i][t];
    }
}

__global__ void internal(float *m, int n, int offset) {
    __shared__ float row[B][B], col[B][B];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = offset + (blockIdx.x + 1) * B + tx, y = offset + (blockIdx.y + 1) * B + ty;
    row[ty][tx] = m[(offset + ty) * n + x];
    col[ty][tx] = m[y * n + offset + tx];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < B; k++)
        sum = fmaf(col[ty][k], row[k][tx], sum);
    m[y * n + x] -= sum;
}

__global__ void eliminate(double *m, int n, int k) {
    int i = blockIdx.y * blockDim.y + threadIdx.y + k + 1, j = blockIdx.x * blockDim.x + threadIdx.x + k + 1;
    if (i < n && j < n)
        m[i * n + j] = fma(-m[i * n + k], m[k * n + j], m[i * n + j]);
}

__global__ void scale_column(double *m, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + k + 1;
    if (i < n)
        m[i * n + k] /= m[k * n + k];
}

// |L U - A|, largest element.
template <class T> static double residual(const std::vector<T> &lu, const std::vector<T> &a, int n) {
    double worst = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = i <= j ? double(lu[i * n + j]) : 0;
            for (int k = 0; k < (i <= j ? i : j + 1); k++)
                sum += double(lu[i * n + k]) * lu[k * n + j];
            worst = std::fmax(worst, std::fabs(sum - a[i * n + j]));
        }
    return worst;
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 96) / B * B;
    random_source rng(14);
    std::vector<float> a(n * n);
    std::vector<double> d(n * n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            a[i * n + j] = rng.unit() + (i == j ? n : 0);
            d[i * n + j] = a[i * n + j];
        }
    dev_array<float> m(a);
    for (int offset = 0; offset < n; offset += B) {
        int rest = (n - offset) / B - 1;
        diagonal<<<1, B>>>(m, n, offset);
        if (rest > 0) {
            perimeter<<<rest, 2 * B>>>(m, n, offset);
            internal<<<dim3(rest, rest), dim3(B, B)>>>(m, n, offset);
        }
    }
    SYNC();
    verdict("float", residual(m.get(), a, n) < 1e-3);
    print_sum("float", m.get());

    dev_array<double> md(d);
    for (int k = 0; k < n - 1; k++) {
        scale_column<<<div_up(n - k - 1, 64), 64>>>(md, n, k);
        eliminate<<<dim3(div_up(n - k - 1, 16), div_up(n - k - 1, 16)), dim3(16, 16)>>>(md, n, k);
    }
    SYNC();
    verdict("double", residual(md.get(), d, n) < 1e-11);
    print_sum("double", md.get());
    return finish();
}
