// Needleman-Wunsch alignment: a wavefront of 16x16 tiles, anti-diagonals within a tile, then the trace back
// on the host.
#include "test.h"
#include <algorithm>

const int B = 16;

__global__ void tiles(int *score, const int *similar, int cols, int penalty, int diag, int first) {
    __shared__ int s[B + 1][B + 1], ref[B][B];
    int bx = first + blockIdx.x, by = diag - bx, t = threadIdx.x;
    int *corner = score + by * B * cols + bx * B;
    if (t == 0)
        s[0][0] = corner[0];
    s[t + 1][0] = corner[(t + 1) * cols];
    s[0][t + 1] = corner[t + 1];
    for (int y = 0; y < B; y++)
        ref[y][t] = similar[(by * B + y + 1) * cols + bx * B + t + 1];
    __syncthreads();
    for (int m = 0; m < 2 * B - 1; m++) {
        int x = m < B ? t + 1 : t + m - B + 2, y = m + 2 - x;
        if (y >= 1 && y <= B && x <= B && x >= 1)
            s[y][x] =
                max(max(s[y - 1][x - 1] + ref[y - 1][x - 1], s[y][x - 1] - penalty), s[y - 1][x] - penalty);
        __syncthreads();
    }
    for (int y = 0; y < B; y++)
        corner[(y + 1) * cols + t + 1] = s[y + 1][t + 1];
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 192) / B * B, cols = n + 1, penalty = 10, blocks = n / B;
    random_source rng(17);
    std::vector<int> similar(cols * cols), score(cols * cols), a(cols), b(cols), table(24 * 24);
    for (int i = 0; i < 24; i++)
        for (int j = 0; j <= i; j++)
            table[i * 24 + j] = table[j * 24 + i] = i == j ? 4 + int(rng.below(5)) : int(rng.below(6)) - 4;
    for (int i = 1; i <= n; i++) {
        a[i] = rng.below(24);
        b[i] = rng.below(4) ? a[i] : int(rng.below(24));
        score[i] = score[i * cols] = -i * penalty;
    }
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            similar[i * cols + j] = table[a[i] * 24 + b[j]];
    dev_array<int> dscore(score), dsimilar(similar);
    for (int diag = 0; diag < 2 * blocks - 1; diag++) {
        int first = diag < blocks ? 0 : diag - blocks + 1,
            count = (diag < blocks ? diag : blocks - 1) - first + 1;
        tiles<<<count, B>>>(dscore, dsimilar, cols, penalty, diag, first);
    }
    SYNC();
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
            int best = score[(i - 1) * cols + j - 1] + similar[i * cols + j];
            best = std::max(best, std::max(score[i * cols + j - 1], score[(i - 1) * cols + j]) - penalty);
            score[i * cols + j] = best;
        }
    verdict("scores", dscore.get() == score);
    print_sum("scores", dscore.get());
    printf("best %d\n", score[n * cols + n]);
    return finish();
}
