// K-means clustering: transposed features, nearest centre per point in registers, new centres by integer
// atomics on fixed-point sums, so that every run gives the same clusters.
#include "test.h"

const int dims = 8, clusters = 5;
__constant__ float centre[clusters * dims];

__global__ void transpose(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int d = 0; d < dims; d++)
            out[d * n + i] = in[i * dims + d];
}

__global__ void assign(const float *features, int *member, int n, int *moved) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int best = 0;
    float least = 3.4e38f;
    for (int c = 0; c < clusters; c++) {
        float dist = 0;
        for (int d = 0; d < dims; d++) {
            float diff = features[d * n + i] - centre[c * dims + d];
            dist = fmaf(diff, diff, dist);
        }
        if (dist < least) {
            least = dist;
            best = c;
        }
    }
    if (member[i] != best) {
        member[i] = best;
        atomicAdd(moved, 1);
    }
}

__global__ void accumulate(const float *features, const int *member, int n, unsigned long long *sums,
                           int *sizes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int c = member[i];
    atomicAdd(&sizes[c], 1);
    for (int d = 0; d < dims; d++)
        atomicAdd(&sums[c * dims + d], (unsigned long long)__float2ll_rn(features[d * n + i] * 65536.0f));
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 2000), blocks = div_up(n, 128);
    random_source rng(15);
    std::vector<float> points(n * dims);
    for (int i = 0; i < n; i++)
        for (int d = 0; d < dims; d++)
            points[i * dims + d] = rng.unit() * 3 + float((i * 7 + d * (i % clusters)) % 11);
    std::vector<float> centres(points.begin(), points.begin() + clusters * dims);
    dev_array<float> raw(points), features(n * dims);
    dev_array<int> member(std::vector<int>(n, -1)), moved(1);
    transpose<<<blocks, 128>>>(raw, features, n);
    int rounds = 0, moves = 1;
    for (; moves > 0 && rounds < 12; rounds++) {
        dev_array<unsigned long long> sums(clusters * dims);
        dev_array<int> sizes(clusters);
        CHECK(cudaMemcpyToSymbol(centre, centres.data(), centres.size() * sizeof(float)));
        moved.put({0});
        assign<<<blocks, 128>>>(features, member, n, moved);
        accumulate<<<blocks, 128>>>(features, member, n, sums, sizes);
        SYNC();
        std::vector<unsigned long long> s = sums.get();
        std::vector<int> size = sizes.get();
        moves = moved.get()[0];
        printf("round %d moved %d sizes", rounds, moves);
        for (int c = 0; c < clusters; c++) {
            printf(" %d", size[c]);
            for (int d = 0; d < dims && size[c]; d++)
                centres[c * dims + d] = float(double((long long)s[c * dims + d]) / 65536.0 / size[c]);
        }
        printf("\n");
    }
    print_sum("members", member.get());
    print_sum("centres", centres);
    return finish();
}
