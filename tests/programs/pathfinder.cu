// Cheapest path down a grid, one row per step, several rows per launch with a halo that shrinks (ghost
// zones).
#include "test.h"

const int B = 256, halo = 8;

__global__ void rows(const int *wall, const int *src, int *dst, int cols, int first, int count) {
    __shared__ int prev[B], next[B];
    int t = threadIdx.x, x = int(blockIdx.x) * (B - 2 * halo) + t - halo;
    bool inside = x >= 0 && x < cols;
    prev[t] = inside ? src[x] : 0x3fffffff;
    __syncthreads();
    for (int r = 0; r < count; r++) {
        bool live = inside && t > r && t < B - 1 - r;
        if (live)
            next[t] = min(min(prev[t - 1], prev[t]), prev[t + 1]) + wall[(first + r) * cols + x];
        __syncthreads();
        if (live)
            prev[t] = next[t];
        __syncthreads();
    }
    if (inside && t >= halo && t < B - halo)
        dst[x] = prev[t];
}

int main(int argc, char **argv) {
    int cols = size_arg(argc, argv, 5000), height = 33;
    random_source rng(16);
    std::vector<int> wall(cols * height);
    for (int &w : wall)
        w = rng.below(10);
    std::vector<int> want(wall.begin(), wall.begin() + cols), next(cols);
    for (int r = 1; r < height; r++) {
        for (int x = 0; x < cols; x++) {
            int best = want[x];
            best = x > 0 && want[x - 1] < best ? want[x - 1] : best;
            best = x < cols - 1 && want[x + 1] < best ? want[x + 1] : best;
            next[x] = best + wall[r * cols + x];
        }
        want = next;
    }
    dev_array<int> w(wall), a(std::vector<int>(wall.begin(), wall.begin() + cols)), b(cols);
    int *src = a, *dst = b;
    for (int r = 1; r < height; r += halo) {
        rows<<<div_up(cols, B - 2 * halo), B>>>(w, src, dst, cols, r, height - r < halo ? height - r : halo);
        int *t = src;
        src = dst;
        dst = t;
    }
    SYNC();
    CHECK(cudaMemcpy(next.data(), src, cols * sizeof(int), cudaMemcpyDeviceToHost));
    verdict("path", next == want);
    print_sum("path", next);
    return finish();
}
