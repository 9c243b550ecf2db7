// Kernel parameters of all sizes: structures by value with mixed alignment, arrays inside them indexed at run
// time, nearly 4 KB, many scalars, templates over value types, and references to parameter space passed on to
// functions.
#include "test.h"

struct mixed {
    char c;
    double d;
    short s[3];
    float3 v;
    long long l;
    bool flag;
    int2 pair;
};

struct large {
    int head[16];
    float weight[900];
    unsigned char tail[200];
};

template <int N> struct matrix {
    float a[N][N];
    __host__ __device__ float trace() const {
        float t = 0;
        for (int i = 0; i < N; i++)
            t += a[i][i];
        return t;
    }
};

__device__ __noinline__ float sum_of(const large &p, int first, int step) {
    float s = 0;
    for (int i = first; i < 900; i += step)
        s += p.weight[i];
    return s;
}

__global__ void mixed_kernel(mixed m, double *out) {
    out[0] = m.c;
    out[1] = m.d;
    out[2] = m.s[threadIdx.x];
    out[3] = m.v.x + m.v.y * 10 + m.v.z * 100;
    out[4] = double(m.l);
    out[5] = m.flag ? m.pair.x : m.pair.y;
}

__global__ void large_kernel(large p, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    p.head[i & 15] += i; // a private copy is written
    out[i] = p.weight[(i * 13) % 900] + p.head[(i + 1) & 15] + p.head[i & 15] + p.tail[i % 200] +
             sum_of(p, i % 7, 50);
}

template <int N> __global__ void matrix_kernel(matrix<N> m, matrix<N> *out) {
    int i = threadIdx.x / N, j = threadIdx.x % N;
    float s = 0;
    for (int k = 0; k < N; k++)
        s = fmaf(m.a[i][k], m.a[k][j], s);
    out->a[i][j] = s + m.trace();
}

__global__ void many(char a, unsigned char b, short c, unsigned short d, int e, unsigned f, long long g,
                     unsigned long long h, float i, double j, bool k, char4 l, float4 m, double2 n, int *o,
                     int p[4], int3 q, double *out) {
    out[0] = a + b * 2.0 + c * 3.0 + d * 4.0 + e * 5.0 + f * 6.0 + g * 7.0 + h * 8.0;
    out[1] = i + j + k + l.x + l.w + m.y + m.w + n.x + n.y;
    out[2] = *o + p[3] + q.z;
}

struct nothing {};
__global__ void empty_struct(nothing, int v, int *out) {
    *out = v;
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 500);
    dev_array<double> out(8);
    mixed m = {'x', 2.5, {1, -2, 3}, {1, 2, 3}, 1ll << 40, false, {5, 6}};
    mixed_kernel<<<1, 2>>>(m, out);
    SYNC();
    for (int i : {0, 1, 3, 4, 5})
        printf("mixed %g\n", out.get()[i]);

    large p;
    for (int i = 0; i < 16; i++)
        p.head[i] = i * i;
    for (int i = 0; i < 900; i++)
        p.weight[i] = i * 0.5f;
    for (int i = 0; i < 200; i++)
        p.tail[i] = (unsigned char)(i * 3);
    dev_array<float> fout(n);
    large_kernel<<<div_up(n, 128), 128>>>(p, fout, n);
    SYNC();
    print_sum("large", fout.get());

    matrix<8> a;
    for (int i = 0; i < 64; i++)
        a.a[i / 8][i % 8] = float(i % 11) - 4;
    dev_array<matrix<8>> b(1);
    matrix_kernel<8><<<1, 64>>>(a, b);
    SYNC();
    print_sum("matrix", b.get());

    dev_array<int> ints(std::vector<int>{1, 2, 3, 4});
    many<<<1, 1>>>(-1, 200, -300, 60000, -70000, 4000000000u, -(1ll << 50), 1ull << 60, 1.5f, 2.25, true,
                   make_char4(1, 2, 3, -4), make_float4(1, 2, 3, 4), make_double2(0.5, 0.125), ints, ints,
                   make_int3(7, 8, 9), out);
    SYNC();
    printf("many %.17g %g %g\n", out.get()[0], out.get()[1], out.get()[2]);
    empty_struct<<<1, 1>>>(nothing(), 77, ints);
    SYNC();
    printf("empty %d\n", ints.get()[0]);
    return finish();
}
