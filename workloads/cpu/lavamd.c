/* LavaMD: forces between the particles of neighbouring boxes.
 *
 * The block is the interaction of two particles from the vector between them, three numbers of four bytes. As
 * in Rodinia's input, coordinates within a box are one of ten values. */
#include <math.h>

#include "bench.h"

#ifndef BITS
#define BITS 0
#endif

enum { SIDE = 4, BOXES = SIDE * SIDE, MOST = 100 };

struct particle {
    float x, y, z, charge;
};

static inline float interaction(float dx, float dy, float dz) {
    const float alpha = 0.5f;
    float r2 = dx * dx + dy * dy + dz * dz;
    return expf(-(2 * alpha * alpha) * r2);
}

/* The forces of a box's particles on those of another. */
static void between(const struct particle *a, const struct particle *b, struct particle *force, int n) {
    for (int i = 0; i < n; i++) {
        struct particle f = {0, 0, 0, 0};
        for (int j = 0; j < n; j++) {
            float dx = a[i].x - b[j].x, dy = a[i].y - b[j].y, dz = a[i].z - b[j].z, v = 0;
            AX_REG_F32(dx, 0, BITS);
            AX_REG_F32(dy, 0, BITS);
            AX_REG_F32(dz, 0, BITS);
            if (!AX_LOOKUP_F32(v, 0)) {
                v = interaction(dx, dy, dz);
                AX_UPDATE_F32(v, 0);
            }
            float s = 2 * v * b[j].charge;
            f.charge += b[j].charge * v;
            f.x += s * dx;
            f.y += s * dy;
            f.z += s * dz;
        }
        force[i].x += f.x;
        force[i].y += f.y;
        force[i].z += f.z;
        force[i].charge += f.charge;
    }
}

static __attribute__((noinline)) void forces(const struct particle *p, struct particle *force, int n) {
    for (int home = 0; home < BOXES; home++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int x = home % SIDE + dx, y = home / SIDE + dy;
                if (x >= 0 && x < SIDE && y >= 0 && y < SIDE)
                    between(&p[home * n], &p[(y * SIDE + x) * n], &force[home * n], n);
            }
}

int main(int argc, char **argv) {
    static const int sizes[SIZES] = {8, 30, 60, MOST};
    int n = sizes[bench_start(argc, argv)];
    struct particle *p = bench_alloc(BOXES * n, sizeof *p), *force = bench_alloc(BOXES * n, sizeof *p);
    for (int k = 0; k < BOXES * n; k++)
        p[k] = (struct particle){(float)(bench_below(10) + 1) / 10, (float)(bench_below(10) + 1) / 10,
                                 (float)(bench_below(10) + 1) / 10, (float)(bench_below(10) + 1) / 10};
    AX_BEGIN();
    forces(p, force, n);
    AX_END();
    bench_result("f32", 4, "forces", force, 4 * (size_t)(BOXES * n));
    return 0;
}
