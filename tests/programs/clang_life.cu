// Built by clang: the game of life on a torus for many generations in two-dimensional blocks, and a
// one-dimensional cellular automaton by 64-bit words.
#include "clang_cuda.h"

__global__ void life(const unsigned char *in, unsigned char *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            n += (dx | dy) ? in[(y + dy + h) % h * w + (x + dx + w) % w] : 0;
    out[y * w + x] = n == 3 || (n == 2 && in[y * w + x]);
}

__global__ void rule110(uint64_t *rows, int words, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words)
        return;
    uint64_t v = rows[i];
    for (int s = 0; s < steps; s++) {
        uint64_t left = v >> 1 | v << 63, right = v << 1 | v >> 63;
        v = (v | right) & ~(left & v & right);
    }
    rows[i] = v;
}

int main(int argc, char **argv) {
    int w = size_arg(argc, argv, 100), h = w * 3 / 4, steps = 8;
    uint32_t seed = 17;
    unsigned char *cells = new unsigned char[w * h], *next = new unsigned char[w * h];
    for (int i = 0; i < w * h; i++)
        cells[i] = next_random(&seed) % 3 == 0;
    unsigned char *a = device_array(cells, w * h), *b = device_array<unsigned char>(nullptr, w * h);
    dim3 block(32, 4), grid((w + 31) / 32, (h + 3) / 4);
    for (int s = 0; s < steps; s += 2) {
        life<<<grid, block>>>(a, b, w, h);
        life<<<grid, block>>>(b, a, w, h);
    }
    SYNC();
    fetch(next, a, w * h);
    int alive = 0;
    for (int i = 0; i < w * h; i++)
        alive += next[i];
    printf("alive %d\n", alive);
    print_sum("life", next, w * h);
    uint64_t rows[96];
    for (int i = 0; i < 96; i++)
        rows[i] =
            uint64_t(next_random(&seed)) << 40 ^ uint64_t(next_random(&seed)) << 20 ^ next_random(&seed);
    uint64_t *drows = device_array(rows, 96);
    rule110<<<2, 48>>>(drows, 96, 100);
    SYNC();
    fetch(rows, drows, 96);
    print_sum("rule 110", rows, sizeof rows);
    return failures ? 1 : 0;
}
