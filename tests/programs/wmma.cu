// Matrix products as programs write them: wmma of every type, from global and shared memory, and a product of halves with
// ldmatrix, mma and asynchronous copies. Results are exact bits.
#include "test.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

template <class T> __global__ void convert(const float *in, T *out, int n) {
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = T(in[i]);
}

// C = A * B + C of n by n matrices, one warp for each tile.
template <class T, class Element, class Sum, class LA, class LB, int M, int N, int K>
__global__ void product(const Element *a, const Element *b, Sum *c, int n) {
    int row = blockIdx.y * M, column = (blockIdx.x * blockDim.y + threadIdx.y) * N;
    wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> fc;
    constexpr bool a_row = std::is_same<LA, wmma::row_major>::value, b_row = std::is_same<LB, wmma::row_major>::value;
    wmma::load_matrix_sync(fc, c + row * n + column, n, wmma::mem_row_major);
    for (int k = 0; k < n; k += K) {
        wmma::load_matrix_sync(fa, a_row ? a + row * n + k : a + k * n + row, n);
        wmma::load_matrix_sync(fb, b_row ? b + k * n + column : b + column * n + k, n);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] = fc.x[i] + fc.x[i];
    wmma::store_matrix_sync(c + row * n + column, fc, n, wmma::mem_row_major);
}

template <class T, class Element, class Sum, class LA, class LB, int M, int N, int K>
static void run(const char *name, const std::vector<float> &x, int n) {
    dev_array<float> in(x.size());
    dev_array<Element> a(size_t(n) * n), b(size_t(n) * n);
    dev_array<Sum> c(size_t(n) * n);
    in.put(x);
    convert<<<16, 256>>>(in, a.ptr, n * n);
    convert<<<16, 256>>>(in + n * n, b.ptr, n * n);
    convert<<<16, 256>>>(in + 2 * n * n, c.ptr, n * n);
    product<T, Element, Sum, LA, LB, M, N, K><<<dim3(n / N / 2, n / M), dim3(32, 2)>>>(a, b, c, n);
    SYNC();
    print_sum(name, c.get());
}

// Halves through shared memory: asynchronous copies, ldmatrix, mma of 16 by 8 by 16.
__global__ void tiled(const __half *a, const __half *b, float *c, int n) {
    __shared__ alignas(128) __half as[2][64 * 40], bs[2][32 * 72];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.y * 64, column = blockIdx.x * 64;
    float d[8][4] = {};
    auto fetch = [&](int k, int to) {
        for (int i = threadIdx.x; i < 64 * 4; i += blockDim.x) {
            unsigned at = unsigned(__cvta_generic_to_shared(&as[to][i / 4 * 40 + i % 4 * 8]));
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(a + (row + i / 4) * n + k + i % 4 * 8));
        }
        for (int i = threadIdx.x; i < 32 * 8; i += blockDim.x) {
            unsigned at = unsigned(__cvta_generic_to_shared(&bs[to][i / 8 * 72 + i % 8 * 8]));
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(b + (k + i / 8) * n + column + i % 8 * 8));
        }
        asm volatile("cp.async.commit_group;");
    };
    fetch(0, 0);
    for (int k = 0; k < n; k += 32) {
        int now = k / 32 % 2;
        if (k + 32 < n) {
            fetch(k + 32, 1 - now);
            asm volatile("cp.async.wait_group 1;");
        } else {
            asm volatile("cp.async.wait_group 0;");
        }
        __syncthreads();
        for (int s = 0; s < 32; s += 16) {
            unsigned fa[4], at = unsigned(__cvta_generic_to_shared(&as[now][(warp * 16 + lane % 16) * 40 + s + lane / 16 * 8]));
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                         : "r"(at));
            for (int j = 0; j < 8; j += 2) {
                unsigned fb[4], from = unsigned(__cvta_generic_to_shared(&bs[now][(s + lane % 16) * 72 + (j + lane / 16) * 8]));
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3])
                             : "r"(from));
                for (int h = 0; h < 2; h++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                                 "{%8,%9}, {%0,%1,%2,%3};"
                                 : "+f"(d[j + h][0]), "+f"(d[j + h][1]), "+f"(d[j + h][2]), "+f"(d[j + h][3])
                                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[2 * h]), "r"(fb[2 * h + 1]));
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 4; i++)
            c[(row + warp * 16 + lane / 4 + i / 2 * 8) * n + column + j * 8 + lane % 4 * 2 + i % 2] = d[j][i];
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 128);
    random_source rnd(7);
    std::vector<float> x(3 * size_t(n) * n), whole(x.size());
    for (auto &v : x)
        v = rnd.unit() * 4 - 2;
    for (auto &v : whole)
        v = float(int(rnd.below(100)) - 50);
    using row = wmma::row_major;
    using col = wmma::col_major;
    run<half, half, float, row, col, 16, 16, 16>("f16 row col", x, n);
    run<half, half, float, col, row, 16, 16, 16>("f16 col row", x, n);
    run<half, half, float, row, row, 32, 8, 16>("f16 32x8", x, n);
    run<half, half, half, col, col, 8, 32, 16>("f16 8x32 half", x, n);
    run<half, half, half, row, row, 16, 16, 16>("f16 half", x, n);
    run<__nv_bfloat16, __nv_bfloat16, float, row, col, 16, 16, 16>("bf16", x, n);
    run<wmma::precision::tf32, float, float, row, row, 16, 16, 8>("tf32", x, n);
    run<double, double, double, row, col, 8, 8, 4>("f64", x, n);
    run<signed char, signed char, int, row, col, 16, 16, 16>("s8", whole, n);
    run<signed char, signed char, int, col, row, 32, 8, 16>("s8 32x8", whole, n);

    dev_array<float> in(x.size()), c(size_t(n) * n);
    dev_array<__half> a(size_t(n) * n), b(size_t(n) * n);
    in.put(x);
    convert<<<16, 256>>>(in, a.ptr, n * n);
    convert<<<16, 256>>>(in + n * n, b.ptr, n * n);
    tiled<<<dim3(n / 64, n / 64), 128>>>(a, b, c, n);
    SYNC();
    print_sum("tiled", c.get());
    return finish();
}
