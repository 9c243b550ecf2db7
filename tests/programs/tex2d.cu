// Two-dimensional textures: float and uchar4 arrays, normalised reads, point and linear filters, address
// modes, pitched linear memory, gather, and an image rotation and a Sobel filter as programs use them.
#include "test.h"

struct image {
    cudaArray_t array = nullptr;
    cudaTextureObject_t tex = 0;
    template <class T>
    image(const std::vector<T> &data, int w, int h, cudaTextureFilterMode filter, cudaTextureAddressMode mode,
          cudaTextureReadMode read, bool unit) {
        cudaChannelFormatDesc channel = cudaCreateChannelDesc<T>();
        CHECK(cudaMallocArray(&array, &channel, w, h, cudaArrayTextureGather));
        CHECK(cudaMemcpy2DToArray(array, 0, 0, data.data(), w * sizeof(T), w * sizeof(T), h,
                                  cudaMemcpyHostToDevice));
        cudaResourceDesc res = {};
        res.resType = cudaResourceTypeArray;
        res.res.array.array = array;
        cudaTextureDesc desc = {};
        desc.addressMode[0] = desc.addressMode[1] = mode;
        desc.filterMode = filter;
        desc.readMode = read;
        desc.normalizedCoords = unit;
        desc.borderColor[0] = 3.0f;
        CHECK(cudaCreateTextureObject(&tex, &res, &desc, nullptr));
    }
    ~image() {
        cudaDestroyTextureObject(tex);
        cudaFreeArray(array);
    }
};

template <class T>
__global__ void sample(cudaTextureObject_t tex, T *out, int w, int h, float2 origin, float2 step) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = tex2D<T>(tex, fmaf(float(x), step.x, origin.x), fmaf(float(y), step.y, origin.y));
}

__global__ void rotate(cudaTextureObject_t tex, float *out, int w, int h, float angle) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float u = x / float(w) - 0.5f, v = y / float(h) - 0.5f;
    out[y * w + x] =
        tex2D<float>(tex, u * cosf(angle) - v * sinf(angle) + 0.5f, v * cosf(angle) + u * sinf(angle) + 0.5f);
}

__global__ void sobel(cudaTextureObject_t tex, unsigned char *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int p[3][3];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            p[j][i] = tex2D<unsigned char>(tex, x + i - 1, y + j - 1);
    int gx = p[0][2] + 2 * p[1][2] + p[2][2] - p[0][0] - 2 * p[1][0] - p[2][0];
    int gy = p[0][0] + 2 * p[0][1] + p[0][2] - p[2][0] - 2 * p[2][1] - p[2][2];
    out[y * w + x] = (unsigned char)min((abs(gx) + abs(gy)) / 2, 255);
}

__global__ void gather(cudaTextureObject_t tex, float4 *out, int w, int h) {
    int x = threadIdx.x, y = threadIdx.y;
    out[y * w + x] = tex2Dgather<float4>(tex, float(x), float(y), 0);
}

template <class T>
static std::vector<T> run(const char *name, const image &img, int w, int h, float2 origin, float2 step) {
    dev_array<T> out(w * h);
    sample<T><<<dim3(div_up(w, 16), div_up(h, 16)), dim3(16, 16)>>>(img.tex, out, w, h, origin, step);
    SYNC();
    print_sum(name, out.get());
    return out.get();
}

static float texel(const std::vector<float> &v, int w, int h, int x, int y) {
    x = x < 0 ? 0 : x >= w ? w - 1 : x;
    y = y < 0 ? 0 : y >= h ? h - 1 : y;
    return v[y * w + x];
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 64), w = n, h = n / 2;
    random_source rng(24);
    std::vector<float> grey(w * h);
    std::vector<uchar4> rgba(w * h);
    std::vector<unsigned char> bytes(w * h);
    for (int i = 0; i < w * h; i++) {
        grey[i] = float(rng.below(64));
        rgba[i] = make_uchar4(rng.next() & 255, i & 255, rng.next() & 255, 128);
        bytes[i] = (unsigned char)((i % w) * 3 + (i / w) * (i % 7));
    }
    const auto point = cudaFilterModePoint, linear = cudaFilterModeLinear;
    const auto clamp = cudaAddressModeClamp, border = cudaAddressModeBorder, wrap = cudaAddressModeWrap,
               mirror = cudaAddressModeMirror;
    const auto element = cudaReadModeElementType, unit = cudaReadModeNormalizedFloat;

    image texels(grey, w, h, point, clamp, element, false);
    verdict("texels", run<float>("texels", texels, w, h, {0.5f, 0.5f}, {1, 1}) == grey);
    run<float>("clamped", texels, 2 * w, 2 * h, {-0.5f * w, -0.5f * h}, {1, 1});
    image bordered(grey, w, h, point, border, element, false);
    run<float>("border", bordered, 2 * w, 2 * h, {-0.5f * w, -0.5f * h}, {1, 1});
    image wrapped(grey, w, h, point, wrap, element, true);
    run<float>("wrap", wrapped, 3 * w, 3 * h, {-1 + 0.5f / w, -1 + 0.5f / h}, {1.0f / w, 1.0f / h});
    image mirrored(grey, w, h, point, mirror, element, true);
    run<float>("mirror", mirrored, 3 * w, 3 * h, {-1 + 0.5f / w, -1 + 0.5f / h}, {1.0f / w, 1.0f / h});

    image smooth(grey, w, h, linear, clamp, element,
                 false); // quarter steps are exact in the filter's fixed point
    run<float>("linear quarters", smooth, 2 * w, 2 * h, {-1.0f, -1.0f}, {0.25f, 0.25f});
    image smooth_wrap(grey, w, h, linear, wrap, element, true);
    run<float>("linear wrap", smooth_wrap, 2 * w, 2 * h, {-0.5f, -0.5f}, {0.5f / w, 0.5f / h});
    dev_array<float> out(w * h);
    sample<float><<<dim3(div_up(w, 16), div_up(h, 16)), dim3(16, 16)>>>(smooth.tex, out, w, h, {0.1f, 0.2f},
                                                                        {0.77f, 0.83f});
    SYNC();
    std::vector<float> got = out.get();
    double worst = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float u = fmaf(float(x), 0.77f, 0.1f) - 0.5f, v = fmaf(float(y), 0.83f, 0.2f) - 0.5f;
            int i = int(floorf(u)), j = int(floorf(v));
            float a = u - i, b = v - j;
            float want = (1 - a) * (1 - b) * texel(grey, w, h, i, j) +
                         a * (1 - b) * texel(grey, w, h, i + 1, j) +
                         (1 - a) * b * texel(grey, w, h, i, j + 1) + a * b * texel(grey, w, h, i + 1, j + 1);
            worst = std::fmax(worst, std::fabs(got[y * w + x] - want));
        }
    verdict("linear anywhere", worst < 64 * 2.0 / 256);

    image colour(rgba, w, h, point, clamp, element, false);
    run<uchar4>("uchar4", colour, w, h, {0, 0}, {1, 1});
    image colour_unit(rgba, w, h, point, clamp, unit, false);
    run<float4>("uchar4 unit", colour_unit, w, h, {0, 0}, {1, 1});
    image byte_unit(bytes, w, h, point, wrap, unit, true);
    run<float>("uchar unit wrap", byte_unit, w, h, {0.5f / w, 0.5f / h}, {1.0f / w, 1.0f / h});

    rotate<<<dim3(div_up(w, 8), div_up(h, 8)), dim3(8, 8)>>>(smooth_wrap.tex, out, w, h, 0.5f);
    SYNC();
    double mean = 0;
    for (float v : out.get())
        mean += v;
    printf("rotated mean %.0f\n", mean / (w * h));

    image plain(bytes, w, h, point, clamp, element, false);
    dev_array<unsigned char> edges(w * h);
    sobel<<<dim3(div_up(w, 16), div_up(h, 8)), dim3(16, 8)>>>(plain.tex, edges, w, h);
    dev_array<float4> quads(64);
    gather<<<1, dim3(8, 8)>>>(texels.tex, quads, 8, 8);
    SYNC();
    print_sum("sobel", edges.get());
    print_sum("gather", quads.get());

    float *pitched;
    size_t pitch;
    CHECK(cudaMallocPitch(&pitched, &pitch, w * sizeof(float), h));
    CHECK(cudaMemcpy2D(pitched, pitch, grey.data(), w * sizeof(float), w * sizeof(float), h,
                       cudaMemcpyHostToDevice));
    cudaResourceDesc res = {};
    res.resType = cudaResourceTypePitch2D;
    res.res.pitch2D.devPtr = pitched;
    res.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    res.res.pitch2D.width = w;
    res.res.pitch2D.height = h;
    res.res.pitch2D.pitchInBytes = pitch;
    cudaTextureDesc desc = {};
    desc.addressMode[0] = desc.addressMode[1] = clamp;
    cudaTextureObject_t tex;
    CHECK(cudaCreateTextureObject(&tex, &res, &desc, nullptr));
    sample<float><<<dim3(div_up(w, 16), div_up(h, 16)), dim3(16, 16)>>>(tex, out, w, h, {0.5f, 0.5f}, {1, 1});
    SYNC();
    verdict("pitched", out.get() == grey);
    CHECK(cudaDestroyTextureObject(tex));
    CHECK(cudaFree(pitched));
    return finish();
}
