// A ray tracer: spheres in constant memory, reflections by a loop over an explicit stack, divergent paths,
// float3 operators, templates over materials; only correctly rounded operations decide the picture, in a
// fixed order.
#include "test.h"

struct vec {
    float x, y, z;
};
__host__ __device__ inline vec operator+(vec a, vec b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
__host__ __device__ inline vec operator-(vec a, vec b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
__host__ __device__ inline vec operator*(vec a, float s) {
    return {a.x * s, a.y * s, a.z * s};
}
__host__ __device__ inline float dot(vec a, vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
__host__ __device__ inline vec unit(vec a) {
    return a * (1.0f / sqrtf(dot(a, a)));
}

struct sphere {
    vec centre;
    float radius;
    vec colour;
    float mirror;
};
const int spheres = 8;
__constant__ sphere scene_dev[spheres];

struct ray {
    vec from, to;
    float share;
    int depth;
};

__host__ __device__ int nearest(const sphere *scene, const ray &r, float &best) {
    int hit = -1;
    best = 1e30f;
    for (int i = 0; i < spheres; i++) {
        vec d = scene[i].centre - r.from;
        float along = dot(d, r.to), gap = dot(d, d) - along * along,
              reach = scene[i].radius * scene[i].radius - gap;
        if (reach < 0)
            continue;
        float t = along - sqrtf(reach);
        if (t > 1e-3f && t < best) {
            best = t;
            hit = i;
        }
    }
    return hit;
}

__host__ __device__ vec trace(const sphere *scene, ray first) {
    ray stack[8];
    int top = 0;
    stack[top++] = first;
    vec colour = {0, 0, 0}, light = {0.57735027f, 0.57735027f, -0.57735027f};
    while (top > 0) {
        ray r = stack[--top];
        float t;
        int hit = nearest(scene, r, t);
        if (hit < 0) {
            colour = colour + vec{0.2f, 0.3f, 0.5f} * (r.share * (1.0f + r.to.y));
            continue;
        }
        const sphere &s = scene[hit];
        vec at = r.from + r.to * t, normal = unit(at - s.centre);
        float blocked_at, bright = dot(normal, light);
        ray shadow = {at, light, 0, 0};
        if (bright < 0 || nearest(scene, shadow, blocked_at) >= 0)
            bright = 0;
        colour = colour + s.colour * (r.share * (1.0f - s.mirror) * (0.2f + 0.8f * bright));
        if (s.mirror > 0 && r.depth < 4 && top < 7) {
            vec bounce = r.to - normal * (2.0f * dot(r.to, normal));
            stack[top++] = {at, unit(bounce), r.share * s.mirror, r.depth + 1};
        }
    }
    return colour;
}

__host__ __device__ uchar4 pixel(const sphere *scene, int x, int y, int w, int h) {
    vec to = unit({(x + 0.5f - w * 0.5f) / h, (h * 0.5f - y - 0.5f) / h, 1.0f});
    vec c = trace(scene, {{0, 0, -4}, to, 1.0f, 0});
    auto level = [](float v) { return (unsigned char)(v < 0 ? 0 : v > 1 ? 255 : int(v * 255)); };
    return make_uchar4(level(c.x), level(c.y), level(c.z), 255);
}

__global__ void render(uchar4 *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = pixel(scene_dev, x, y, w, h);
}

int main(int argc, char **argv) {
    int w = size_arg(argc, argv, 96), h = w * 3 / 4;
    sphere scene[spheres];
    random_source rng(52);
    for (sphere &s : scene) {
        s.centre = {rng.unit() * 4 - 2, rng.unit() * 3 - 1.5f, rng.unit() * 3};
        s.radius = 0.3f + rng.unit() * 0.6f;
        s.colour = {rng.unit(), rng.unit(), rng.unit()};
        s.mirror = rng.below(2) ? 0.5f : 0;
    }
    CHECK(cudaMemcpyToSymbol(scene_dev, scene, sizeof scene));
    dev_array<uchar4> out(w * h);
    render<<<dim3(div_up(w, 8), div_up(h, 8)), dim3(8, 8)>>>(out, w, h);
    SYNC();
    std::vector<uchar4> got = out.get();
    print_sum("picture", got);
    int different = 0;
    for (int i = 0; i < w * h; i++) {
        uchar4 want = pixel(scene, i % w, i / w, w, h);
        different += memcmp(&want, &got[i], sizeof want) != 0;
    }
    verdict("like the host's", different * 50 < w * h); // a contracted product may move a boundary pixel
    return finish();
}
