// Mipmapped textures: levels chosen by number and by gradients, clamped, biased, viewed; blended linearly or not,
// in all geometries.
#include "test.h"
#include <algorithm>

enum kind { ONE, TWO, THREE, ONE_LAYERED, TWO_LAYERED, CUBE, CUBE_LAYERED };

__global__ void level(cudaTextureObject_t t, int kind, const float *at, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float *p = at + 5 * i;
    int layer = int(p[3]);
    switch (kind) {
    case ONE:
        out[i] = tex1DLod<float>(t, p[0], p[4]);
        break;
    case TWO:
        out[i] = tex2DLod<float>(t, p[0], p[1], p[4]);
        break;
    case THREE:
        out[i] = tex3DLod<float>(t, p[0], p[1], p[2], p[4]);
        break;
    case ONE_LAYERED:
        out[i] = tex1DLayeredLod<float>(t, p[0], layer, p[4]);
        break;
    case TWO_LAYERED:
        out[i] = tex2DLayeredLod<float>(t, p[0], p[1], layer, p[4]);
        break;
    case CUBE:
        out[i] = texCubemapLod<float>(t, p[0], p[1], p[2], p[4]);
        break;
    default:
        out[i] = texCubemapLayeredLod<float>(t, p[0], p[1], p[2], layer, p[4]);
    }
}

// Gradients so long that the nearest level is beyond doubt; and what has no level.
__global__ void gradients(cudaTextureObject_t t, float *out) {
    int l = threadIdx.x;
    float g = exp2f(l / 2 - 3.f) / 64 * 1.1f;
    float2 x = l & 1 ? make_float2(g, 0) : make_float2(0, g / 4), y = l & 1 ? make_float2(0, g / 3) : make_float2(g, 0);
    out[l] = tex2DGrad<float>(t, 0.3f, 0.6f, x, y);
    out[32 + l] = tex2D<float>(t, 0.3f, 0.6f);
}

__global__ void integers(cudaTextureObject_t t, const float *at, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex2DLod<int>(t, at[5 * i], at[5 * i + 1], at[5 * i + 4]);
}

struct shape {
    const char *name;
    kind k;
    int w, h, d, levels;
    unsigned flags;
    int layers;
};

template <class T> static cudaMipmappedArray_t make(const shape &s, bool random, random_source &rng) {
    cudaMipmappedArray_t m;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
    CHECK(cudaMallocMipmappedArray(&m, &desc, make_cudaExtent(s.w, s.h, s.d), s.levels, s.flags));
    for (int l = 0; l < s.levels; l++) {
        bool layers = s.flags & (cudaArrayLayered | cudaArrayCubemap);
        int w = std::max(s.w >> l, 1), h = s.h ? std::max(s.h >> l, 1) : 1;
        int d = layers ? s.d : s.d ? std::max(s.d >> l, 1) : 1;
        std::vector<T> v(size_t(w) * h * d);
        for (T &x : v)
            x = !random ? T(l) : sizeof(T) == 4 && T(0.5) != T(0) ? T(rng.unit() * 2 - 1) : T(int(rng.below(2001)) - 1000);
        cudaArray_t a;
        CHECK(cudaGetMipmappedArrayLevel(&a, m, l));
        cudaMemcpy3DParms copy = {};
        copy.srcPtr = make_cudaPitchedPtr(v.data(), w * sizeof(T), w, h);
        copy.dstArray = a;
        copy.extent = make_cudaExtent(w, h, d);
        copy.kind = cudaMemcpyHostToDevice;
        CHECK(cudaMemcpy3D(&copy));
    }
    return m;
}

static cudaTextureDesc sampler(int filter, int mip_filter) {
    cudaTextureDesc t = {};
    for (cudaTextureAddressMode &m : t.addressMode)
        m = cudaAddressModeClamp;
    t.filterMode = cudaTextureFilterMode(filter);
    t.mipmapFilterMode = cudaTextureFilterMode(mip_filter);
    t.normalizedCoords = 1;
    t.maxMipmapLevelClamp = 100;
    return t;
}

static cudaTextureObject_t texture(cudaMipmappedArray_t m, const cudaTextureDesc &t, const cudaResourceViewDesc *view = nullptr) {
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = m;
    cudaTextureObject_t x;
    CHECK(cudaCreateTextureObject(&x, &r, &t, view));
    return x;
}

static void show(const char *name, cudaTextureObject_t t, int kind, const dev_array<float> &at, int n) {
    dev_array<float> out(n);
    level<<<div_up(n, 128), 128>>>(t, kind, at, out, n);
    SYNC();
    printf("%s: ", name);
    print_sum("sum", out.get());
    CHECK(cudaDestroyTextureObject(t));
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 3000);
    random_source rng(73);
    const shape shapes[] = {{"1d", ONE, 64, 0, 0, 7, 0, 1},
                            {"2d", TWO, 32, 16, 0, 6, 0, 1},
                            {"3d", THREE, 16, 8, 16, 5, 0, 1},
                            {"1d layered", ONE_LAYERED, 32, 0, 4, 6, cudaArrayLayered, 4},
                            {"2d layered", TWO_LAYERED, 16, 16, 3, 5, cudaArrayLayered, 3},
                            {"cube", CUBE, 16, 16, 6, 5, cudaArrayCubemap, 1},
                            {"cube layered", CUBE_LAYERED, 16, 16, 12, 5, cudaArrayCubemap | cudaArrayLayered, 2}};
    std::vector<float> coords(5 * n);
    for (const shape &s : shapes) {
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < 3; k++)
                coords[5 * i + k] = s.k >= CUBE ? rng.unit() * 2 - 1 : rng.unit() * 1.4f - 0.2f;
            coords[5 * i + 3] = float(rng.below(s.layers));
            coords[5 * i + 4] = rng.unit() * (s.levels + 1) - 0.5f;
        }
        dev_array<float> at(coords);
        cudaMipmappedArray_t m = make<float>(s, true, rng);
        for (int f = 0; f < 4; f++) {
            char name[64];
            snprintf(name, sizeof name, "%s, %s, levels %s", s.name, f & 1 ? "linear" : "point", f & 2 ? "linear" : "point");
            show(name, texture(m, sampler(f & 1, f >> 1)), s.k, at, n);
        }
        CHECK(cudaFreeMipmappedArray(m));
    }
    shape flat = {"flat", TWO, 64, 64, 0, 7, 0, 1};
    cudaMipmappedArray_t m = make<float>(flat, false, rng), ints = make<int>(flat, true, rng);
    dev_array<float> at(coords);
    cudaTextureDesc t = sampler(1, 1);
    show("plain", texture(m, t), TWO, at, n);
    t.mipmapLevelBias = -1.7f;
    show("bias", texture(m, t), TWO, at, n);
    t.minMipmapLevelClamp = 1.5f;
    t.maxMipmapLevelClamp = 3.26f;
    show("bias and clamp", texture(m, t), TWO, at, n);
    t = sampler(1, 1);
    t.minMipmapLevelClamp = 3;
    t.maxMipmapLevelClamp = 1;
    show("clamp the wrong way", texture(m, t), TWO, at, n);
    cudaResourceViewDesc view = {};
    view.format = cudaResViewFormatFloat1;
    view.width = view.height = 64;
    view.firstMipmapLevel = 1;
    view.lastMipmapLevel = 3;
    show("view", texture(m, sampler(1, 1), &view), TWO, at, n);
    dev_array<float> out(64);
    t = sampler(1, 0);
    t.minMipmapLevelClamp = 0.75f;
    gradients<<<1, 32>>>(texture(m, t), out);
    SYNC();
    for (int l = 0; l < 64; l += 3)
        printf("%g ", out.get()[l]);
    printf("\n");
    dev_array<int> whole(n);
    for (int f = 0; f < 2; f++) {
        integers<<<div_up(n, 128), 128>>>(texture(ints, sampler(0, f)), at, whole, n);
        SYNC();
        print_sum("integers", whole.get());
    }
    cudaArray_t a, same;
    cudaChannelFormatDesc desc;
    cudaExtent extent;
    unsigned flags;
    CHECK(cudaGetMipmappedArrayLevel(&a, m, 3));
    CHECK(cudaGetMipmappedArrayLevel(&same, m, 3));
    CHECK(cudaArrayGetInfo(&desc, &extent, &flags, a));
    printf("level 3: %zu %zu %zu, the same %d\n", extent.width, extent.height, extent.depth, a == same);
    printf("level 7: %s\n", cudaGetErrorName(cudaGetMipmappedArrayLevel(&a, m, 7)));
    printf("freed alone: %s\n", cudaGetErrorName(cudaFreeArray(same)));
    (void)cudaGetLastError();
    CHECK(cudaFreeMipmappedArray(m));
    CHECK(cudaFreeMipmappedArray(ints));
    return finish();
}
