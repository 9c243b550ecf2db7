// Iterated stencils: 5-point in 2D through a shared tile with halo, 7-point in 3D marching along z with
// registers.
#include "test.h"

const int T = 16;

__global__ void stencil2d(const float *in, float *out, int nx, int ny) {
    __shared__ float s[T + 2][T + 2];
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y, lx = threadIdx.x + 1,
        ly = threadIdx.y + 1;
    auto at = [&](int i, int j) {
        i = min(max(i, 0), nx - 1);
        j = min(max(j, 0), ny - 1);
        return in[j * nx + i];
    };
    s[ly][lx] = at(x, y);
    if (threadIdx.x == 0)
        s[ly][0] = at(x - 1, y);
    if (threadIdx.x == T - 1)
        s[ly][T + 1] = at(x + 1, y);
    if (threadIdx.y == 0)
        s[0][lx] = at(x, y - 1);
    if (threadIdx.y == T - 1)
        s[T + 1][lx] = at(x, y + 1);
    __syncthreads();
    if (x < nx && y < ny) {
        float ring =
            __fadd_rn(__fadd_rn(s[ly][lx - 1], s[ly][lx + 1]), __fadd_rn(s[ly - 1][lx], s[ly + 1][lx]));
        out[y * nx + x] = fmaf(0.5f, s[ly][lx], __fmul_rn(0.125f, ring));
    }
}

__global__ void stencil3d(const double *in, double *out, int n, double c0, double c1) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= n - 1 || y >= n - 1)
        return;
    int i = y * n + x, plane = n * n;
    double below = in[i], here = in[i + plane];
    for (int z = 1; z < n - 1; z++) {
        i += plane;
        double above = in[i + plane];
        double ring = __dadd_rn(__dadd_rn(in[i - 1], in[i + 1]), __dadd_rn(in[i - n], in[i + n]));
        ring = __dadd_rn(ring, __dadd_rn(below, above));
        out[i] = fma(c0, here, __dmul_rn(c1, ring));
        below = here;
        here = above;
    }
}

static void ref2d(const std::vector<float> &in, std::vector<float> &out, int nx, int ny) {
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            int l = x ? x - 1 : 0, r = x < nx - 1 ? x + 1 : x, u = y ? y - 1 : 0, d = y < ny - 1 ? y + 1 : y;
            float h = in[y * nx + l] + in[y * nx + r], v = in[u * nx + x] + in[d * nx + x];
            out[y * nx + x] = fmaf(0.5f, in[y * nx + x], 0.125f * (h + v));
        }
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 100), nx = n, ny = n - 7, steps = 4;
    random_source rng(5);
    std::vector<float> grid(nx * ny), next(nx * ny);
    for (float &v : grid)
        v = rng.unit() * 100;
    dev_array<float> a(grid), b(nx * ny);
    for (int s = 0; s < steps; s += 2) {
        stencil2d<<<dim3(div_up(nx, T), div_up(ny, T)), dim3(T, T)>>>(a, b, nx, ny);
        stencil2d<<<dim3(div_up(nx, T), div_up(ny, T)), dim3(T, T)>>>(b, a, nx, ny);
        ref2d(grid, next, nx, ny);
        ref2d(next, grid, nx, ny);
    }
    SYNC();
    verdict("2d", a.get() == grid);
    print_sum("2d", a.get());

    int m = n / 4;
    std::vector<double> cube(m * m * m);
    for (double &v : cube)
        v = rng.unit();
    dev_array<double> c(cube), d(cube);
    for (int s = 0; s < steps; s += 2) {
        stencil3d<<<dim3(div_up(m - 2, 32), div_up(m - 2, 4)), dim3(32, 4)>>>(c, d, m, 0.4, 0.1);
        stencil3d<<<dim3(div_up(m - 2, 32), div_up(m - 2, 4)), dim3(32, 4)>>>(d, c, m, 0.4, 0.1);
    }
    SYNC();
    print_sum("3d", c.get());
    printf("3d centre %.12f\n", c.get()[(m / 2 * m + m / 2) * m + m / 2]);
    return finish();
}
