// Thermal simulation of a chip (2D, several steps per launch in a shrinking tile); plain expressions, so the
// compiler chooses where to contract multiply and add.
#include "test.h"

const int B = 16;

__global__ void hotspot(int steps, const float *power, const float *src, float *dst, int cols, int rows,
                        float cap, float rx, float ry, float rz, float step, float ambient) {
    __shared__ float cur[B][B], pow_tile[B][B], next[B][B];
    int tx = threadIdx.x, ty = threadIdx.y, small = B - 2 * steps;
    int x = small * int(blockIdx.x) - steps + tx, y = small * int(blockIdx.y) - steps + ty;
    bool inside = x >= 0 && x < cols && y >= 0 && y < rows;
    if (inside) {
        cur[ty][tx] = src[y * cols + x];
        pow_tile[ty][tx] = power[y * cols + x];
    }
    __syncthreads();
    float rx1 = 1 / rx, ry1 = 1 / ry, rz1 = 1 / rz, scale = step / cap;
    bool done = false;
    for (int i = 0; i < steps; i++) {
        done = inside && tx >= i + 1 && tx <= B - 2 - i && ty >= i + 1 && ty <= B - 2 - i;
        if (done) {
            int n = y == 0 ? ty : ty - 1, s = y == rows - 1 ? ty : ty + 1;
            int w = x == 0 ? tx : tx - 1, e = x == cols - 1 ? tx : tx + 1;
            float here = cur[ty][tx];
            next[ty][tx] =
                here + scale * (pow_tile[ty][tx] + (cur[s][tx] + cur[n][tx] - 2.0f * here) * ry1 +
                                (cur[ty][e] + cur[ty][w] - 2.0f * here) * rx1 + (ambient - here) * rz1);
        }
        __syncthreads();
        if (i == steps - 1)
            break;
        if (done)
            cur[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (done)
        dst[y * cols + x] = next[ty][tx];
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 128), steps = 2, rounds = 6;
    random_source rng(18);
    std::vector<float> temp(n * n), power(n * n);
    for (int i = 0; i < n * n; i++) {
        temp[i] = 323 + rng.unit() * 20;
        power[i] = rng.below(10) ? rng.unit() * 0.001f : 0.05f;
    }
    float height = 0.016f / n, width = 0.016f / n, cap = 0.5f * 1.75e6f * 0.0005f * width * height;
    float rx = width / (2.0f * 100 * 0.0005f * height), ry = height / (2.0f * 100 * 0.0005f * width);
    float rz = 0.0005f / (100 * height * width), step = 0.001f / (3.0e6f / (0.5f * 0.0005f * 1.75e6f));
    dev_array<float> a(temp), b(temp), p(power);
    float *src = a, *dst = b;
    int tiles = div_up(n, B - 2 * steps);
    for (int r = 0; r < rounds; r++) {
        hotspot<<<dim3(tiles, tiles), dim3(B, B)>>>(steps, p, src, dst, n, n, cap, rx, ry, rz, step, 80.0f);
        float *t = src;
        src = dst;
        dst = t;
    }
    SYNC();
    std::vector<float> got = a.get();
    double sum = 0, hottest = 0;
    for (float v : got) {
        sum += v;
        hottest = v > hottest ? v : hottest;
    }
    printf("mean %.3f hottest %.2f\n", sum / got.size(), hottest);
    print_sum("exact", got);
    return finish();
}
