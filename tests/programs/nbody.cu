// Gravity among all pairs of bodies, tiles of positions in shared memory, rsqrtf; a few leapfrog steps.
#include "test.h"

const int tile = 64;

__device__ float3 pull(float4 at, float4 other, float3 acc) {
    float dx = other.x - at.x, dy = other.y - at.y, dz = other.z - at.z;
    float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), s = other.w * inv * inv * inv;
    acc.x += dx * s;
    acc.y += dy * s;
    acc.z += dz * s;
    return acc;
}

__global__ void step(const float4 *in, float4 *out, float4 *vel, int n, float dt) {
    extern __shared__ float4 shared_pos[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 at = in[i];
    float3 acc = {0, 0, 0};
    for (int base = 0; base < n; base += tile) {
        shared_pos[threadIdx.x] = in[base + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < tile; k++)
            acc = pull(at, shared_pos[k], acc);
        __syncthreads();
    }
    float4 v = vel[i];
    v.x += acc.x * dt, v.y += acc.y * dt, v.z += acc.z * dt;
    at.x += v.x * dt, at.y += v.y * dt, at.z += v.z * dt;
    vel[i] = v;
    out[i] = at;
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 512), steps = 3;
    float dt = 0.01f;
    random_source rng(11);
    std::vector<float4> pos(n), vel(n);
    for (int i = 0; i < n; i++) {
        pos[i] =
            make_float4(rng.unit() * 2 - 1, rng.unit() * 2 - 1, rng.unit() * 2 - 1, (1 + rng.unit()) / n);
        vel[i] = make_float4(0, rng.unit() * 0.1f, 0, 0);
    }
    dev_array<float4> a(pos), b(n), v(vel);
    float4 *src = a, *dst = b;
    for (int s = 0; s < steps; s++) {
        step<<<n / tile, tile, tile * sizeof(float4)>>>(src, dst, v, n, dt);
        float4 *t = src;
        src = dst;
        dst = t;
    }
    SYNC();
    float4 first = b.get()[0];
    printf("body 0 at %.4f %.4f %.4f\n", first.x, first.y, first.z);
    if (n > 1024) // the host would take longer than the GPU is worth
        return finish();
    std::vector<double> p(n * 3), w(n * 3), got;
    for (int i = 0; i < n; i++) {
        p[i * 3] = pos[i].x, p[i * 3 + 1] = pos[i].y, p[i * 3 + 2] = pos[i].z;
        w[i * 3] = vel[i].x, w[i * 3 + 1] = vel[i].y, w[i * 3 + 2] = vel[i].z;
    }
    for (int s = 0; s < steps; s++) {
        std::vector<double> old = p;
        for (int i = 0; i < n; i++) {
            double acc[3] = {};
            for (int j = 0; j < n; j++) {
                double d[3], r = 0.01f;
                for (int k = 0; k < 3; k++) {
                    d[k] = old[j * 3 + k] - old[i * 3 + k];
                    r += d[k] * d[k];
                }
                for (int k = 0; k < 3; k++)
                    acc[k] += d[k] * pos[j].w / (r * std::sqrt(r));
            }
            for (int k = 0; k < 3; k++) {
                w[i * 3 + k] += acc[k] * dt;
                p[i * 3 + k] += w[i * 3 + k] * dt;
            }
        }
    }
    for (const float4 &q : b.get())
        got.insert(got.end(), {q.x, q.y, q.z});
    verdict("positions", max_error(got, p) < 1e-5);
    return finish();
}
