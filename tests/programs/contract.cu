// Multiplications and additions without a rounding mode: the hardware's compiler fuses them into one rounding
// where every use of the product is a sum, and the program sees it in the last bit. With .rn nothing is
// fused.
#include "test.h"

#define COMBINE(name, type, reg, code)                                                                       \
    __device__ type name(type a, type b, type c) {                                                           \
        type r;                                                                                              \
        asm("{ .reg ." reg " t, u; " code " }"                                                               \
            : "=" CONSTRAINT(r)                                                                              \
            : CONSTRAINT(a), CONSTRAINT(b), CONSTRAINT(c));                                                  \
        return r;                                                                                            \
    }
#define CONSTRAINT(v) "f"(v)
COMBINE(free_add, float, "f32", "mul.f32 t, %1, %2; add.f32 %0, t, %3;")
COMBINE(free_sub, float, "f32", "mul.f32 t, %1, %2; sub.f32 %0, %3, t;")
COMBINE(rounded, float, "f32", "mul.rn.f32 t, %1, %2; add.rn.f32 %0, t, %3;")
COMBINE(half_rounded, float, "f32", "mul.f32 t, %1, %2; add.rn.f32 %0, t, %3;")
COMBINE(two_products, float, "f32", "mul.f32 t, %1, %2; mul.f32 u, %3, %2; add.f32 %0, t, u;")
COMBINE(products_swapped, float, "f32", "mul.f32 t, %1, %2; mul.f32 u, %3, %2; sub.f32 %0, u, t;")
COMBINE(two_sums, float, "f32", "mul.f32 t, %1, %2; add.f32 u, t, %3; sub.f32 t, t, %1; mul.rn.f32 %0, t, u;")
COMBINE(flushed, float, "f32", "mul.ftz.f32 t, %1, %2; add.ftz.f32 %0, t, %3;")
COMBINE(negated, float, "f32", "mul.f32 t, %1, %2; neg.f32 t, t; add.f32 %0, t, %3;")
COMBINE(used_elsewhere, float, "f32", "mul.f32 t, %1, %2; add.f32 u, t, %3; min.f32 %0, t, u;")
#undef CONSTRAINT
#define CONSTRAINT(v) "d"(v)
COMBINE(free_add, double, "f64", "mul.f64 t, %1, %2; add.f64 %0, t, %3;")
COMBINE(rounded, double, "f64", "mul.rn.f64 t, %1, %2; add.rn.f64 %0, t, %3;")

const int variants = 10;

__global__ void run(const float *a, const float *b, const float *c, float *out, double *wide, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y = b[i], z = c[i];
    out[0 * n + i] = free_add(x, y, z);
    out[1 * n + i] = free_sub(x, y, z);
    out[2 * n + i] = rounded(x, y, z);
    out[3 * n + i] = half_rounded(x, y, z);
    out[4 * n + i] = two_products(x, y, z);
    out[5 * n + i] = products_swapped(x, y, z);
    out[6 * n + i] = two_sums(x, y, z);
    out[7 * n + i] = flushed(x, y, z);
    out[8 * n + i] = negated(x, y, z);
    out[9 * n + i] = used_elsewhere(x, y, z);
    double dx = x * 1.1, dy = y * 1.3, dz = z * 1.7;
    wide[i] = free_add(dx, dy, dz);
    wide[n + i] = rounded(dx, dy, dz);
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 1000);
    random_source rng(50);
    std::vector<float> a(n), b(n), c(n);
    for (int i = 0; i < n; i++)
        a[i] = rng.unit() - 0.5f, b[i] = rng.unit() * 2, c[i] = -a[i] * b[i] * (1 + rng.unit() * 0.01f);
    dev_array<float> da(a), db(b), dc(c), out(variants * n);
    dev_array<double> wide(2 * n);
    run<<<div_up(n, 128), 128>>>(da, db, dc, out, wide, n);
    SYNC();
    std::vector<float> got = out.get();
    std::vector<double> dgot = wide.get();
    for (int v = 0; v < variants; v++)
        print_sum("float", std::vector<float>(got.begin() + v * n, got.begin() + (v + 1) * n));
    for (int v = 0; v < 2; v++)
        print_sum("double", std::vector<double>(dgot.begin() + v * n, dgot.begin() + (v + 1) * n));
    return finish();
}
