// Three-dimensional textures: point and trilinear samples, address modes, and a volume marched by rays.
#include "test.h"

struct volume {
    cudaArray_t array = nullptr;
    cudaTextureObject_t tex = 0;
    template <class T>
    volume(const std::vector<T> &data, cudaExtent size, cudaTextureFilterMode filter,
           cudaTextureAddressMode mode, cudaTextureReadMode read, bool unit) {
        cudaChannelFormatDesc channel = cudaCreateChannelDesc<T>();
        CHECK(cudaMalloc3DArray(&array, &channel, size));
        cudaMemcpy3DParms copy = {};
        copy.srcPtr =
            make_cudaPitchedPtr((void *)data.data(), size.width * sizeof(T), size.width, size.height);
        copy.dstArray = array;
        copy.extent = size;
        copy.kind = cudaMemcpyHostToDevice;
        CHECK(cudaMemcpy3D(&copy));
        cudaResourceDesc res = {};
        res.resType = cudaResourceTypeArray;
        res.res.array.array = array;
        cudaTextureDesc desc = {};
        for (auto &m : desc.addressMode)
            m = mode;
        desc.filterMode = filter;
        desc.readMode = read;
        desc.normalizedCoords = unit;
        CHECK(cudaCreateTextureObject(&tex, &res, &desc, nullptr));
    }
    ~volume() {
        cudaDestroyTextureObject(tex);
        cudaFreeArray(array);
    }
};

__global__ void sample(cudaTextureObject_t tex, float *out, int n, float3 origin, float3 step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * n * n)
        out[i] =
            tex3D<float>(tex, fmaf(float(i % n), step.x, origin.x), fmaf(float(i / n % n), step.y, origin.y),
                         fmaf(float(i / n / n), step.z, origin.z));
}

// The brightest sample along each ray, as volume renderers do; values are multiples of 1/255.
__global__ void brightest(cudaTextureObject_t tex, float *out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float best = 0;
    for (int s = 0; s < 2 * n; s++)
        best = fmaxf(best, tex3D<float>(tex, (x + 0.5f) / n, (y + 0.5f) / n, s / float(2 * n)));
    out[y * n + x] = best;
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 16);
    cudaExtent size = make_cudaExtent(n, n / 2, n / 4);
    random_source rng(25);
    std::vector<float> data(size.width * size.height * size.depth);
    std::vector<unsigned char> bytes(n * n * n);
    for (float &v : data)
        v = float(rng.below(32));
    for (unsigned char &b : bytes)
        b = (unsigned char)(rng.next() >> 24);
    struct {
        const char *name;
        cudaTextureFilterMode filter;
        cudaTextureAddressMode mode;
        bool unit;
    } const cases[] = {
        {"point clamp", cudaFilterModePoint, cudaAddressModeClamp, false},
        {"point border", cudaFilterModePoint, cudaAddressModeBorder, false},
        {"point wrap", cudaFilterModePoint, cudaAddressModeWrap, true},
        {"linear clamp", cudaFilterModeLinear, cudaAddressModeClamp, false},
        {"linear border", cudaFilterModeLinear, cudaAddressModeBorder, false},
        {"linear mirror", cudaFilterModeLinear, cudaAddressModeMirror, true},
    };
    for (const auto &c : cases) {
        volume vol(data, size, c.filter, c.mode, cudaReadModeElementType, c.unit);
        dev_array<float> out(n * n * n);
        float3 scale = c.unit ? make_float3(1.0f / n, 2.0f / n, 4.0f / n) : make_float3(1, 1, 1);
        sample<<<div_up(n * n * n, 128), 128>>>(vol.tex, out, n, {-2 * scale.x, -1 * scale.y, -1 * scale.z},
                                                {1.5f * scale.x, scale.y, 0.5f * scale.z});
        SYNC();
        print_sum(c.name, out.get());
    }
    volume vol(bytes, make_cudaExtent(n, n, n), cudaFilterModePoint, cudaAddressModeClamp,
               cudaReadModeNormalizedFloat, true);
    dev_array<float> image(n * n);
    brightest<<<dim3(n / 8, n / 8), dim3(8, 8)>>>(vol.tex, image, n);
    SYNC();
    std::vector<float> want(n * n), got = image.get();
    bool ok = true;
    for (int z = 0; z < n; z++)
        for (int i = 0; i < n * n; i++)
            want[i] = std::fmax(want[i], bytes[z * n * n + i] / 255.0f);
    for (int i = 0; i < n * n; i++)
        ok = ok && std::fabs(want[i] - got[i]) < 1e-6;
    verdict("brightest", ok);
    return finish();
}
