// One-dimensional textures: tex1Dfetch from linear memory in several formats, out-of-range fetches, and tex1D
// from an array.
#include "test.h"

template <class T>
static cudaTextureObject_t linear_texture(const dev_array<T> &a, cudaTextureReadMode mode) {
    cudaResourceDesc res = {};
    res.resType = cudaResourceTypeLinear;
    res.res.linear.devPtr = a.ptr;
    res.res.linear.desc = cudaCreateChannelDesc<T>();
    res.res.linear.sizeInBytes = a.count * sizeof(T);
    cudaTextureDesc desc = {};
    desc.readMode = mode;
    cudaTextureObject_t tex;
    CHECK(cudaCreateTextureObject(&tex, &res, &desc, nullptr));
    return tex;
}

template <class T> __global__ void gather(cudaTextureObject_t tex, const int *index, T *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex1Dfetch<T>(tex, index[i]);
}

template <class T>
static void run(const char *name, const std::vector<T> &data, const std::vector<int> &index) {
    dev_array<T> src(data), out(index.size());
    dev_array<int> di(index);
    cudaTextureObject_t tex = linear_texture(src, cudaReadModeElementType);
    gather<T><<<div_up(int(index.size()), 64), 64>>>(tex, di, out, int(index.size()));
    SYNC();
    std::vector<T> want;
    for (int i : index)
        want.push_back(data[i]);
    std::vector<T> got = out.get();
    verdict(name, memcmp(got.data(), want.data(), got.size() * sizeof(T)) == 0);
    print_sum(name, got);
    CHECK(cudaDestroyTextureObject(tex));
}

__global__ void normalised(cudaTextureObject_t bytes, cudaTextureObject_t shorts, float4 *out, float *out2,
                           int n) {
    int i = threadIdx.x;
    if (i < n) {
        out[i] = tex1Dfetch<float4>(bytes, i);
        out2[i] = tex1Dfetch<float>(shorts, i);
    }
}

__global__ void outside(cudaTextureObject_t tex, float *out, int n) {
    out[0] = tex1Dfetch<float>(tex, -1);
    out[1] = tex1Dfetch<float>(tex, n);
    out[2] = tex1Dfetch<float>(tex, n + 1000);
    out[3] = tex1Dfetch<float>(tex, n - 1);
}

__global__ void sample(cudaTextureObject_t tex, float *out, int n, float step, float start) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex1D<float>(tex, start + i * step);
}

static void array_texture(const char *name, const std::vector<float> &data, cudaTextureFilterMode filter,
                          cudaTextureAddressMode address, bool unit) {
    int n = int(data.size()), m = 4 * n;
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &channel, n));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, data.data(), n * sizeof(float), n * sizeof(float), 1,
                              cudaMemcpyHostToDevice));
    cudaResourceDesc res = {};
    res.resType = cudaResourceTypeArray;
    res.res.array.array = array;
    cudaTextureDesc desc = {};
    desc.addressMode[0] = address;
    desc.filterMode = filter;
    desc.normalizedCoords = unit;
    cudaTextureObject_t tex;
    CHECK(cudaCreateTextureObject(&tex, &res, &desc, nullptr));
    dev_array<float> out(m);
    // Quarters of a texel are exact in the filter's fixed point.
    float scale = unit ? 1.0f / n : 1.0f;
    sample<<<div_up(m, 64), 64>>>(tex, out, m, 0.5f * scale, (0.25f - 0.5f * n) * scale);
    SYNC();
    print_sum(name, out.get());
    CHECK(cudaDestroyTextureObject(tex));
    CHECK(cudaFreeArray(array));
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 1000);
    random_source rng(23);
    std::vector<int> index(2 * n), ints(n);
    std::vector<float> floats(n);
    std::vector<float2> pairs(n);
    std::vector<float4> quads(n);
    std::vector<uchar4> colours(n);
    std::vector<unsigned short> shorts(n);
    std::vector<int2> ipairs(n);
    std::vector<signed char> bytes(n);
    for (int &i : index)
        i = rng.below(n);
    for (int i = 0; i < n; i++) {
        ints[i] = int(rng.next());
        floats[i] = rng.unit() * 100 - 50;
        pairs[i] = make_float2(rng.unit(), float(i));
        quads[i] = make_float4(float(i), rng.unit(), -rng.unit(), 1e30f);
        colours[i] = make_uchar4(i & 255, rng.next() & 255, rng.next() & 255, 255 - (i & 255));
        shorts[i] = (unsigned short)rng.next();
        ipairs[i] = make_int2(-i, int(rng.next()));
        bytes[i] = (signed char)rng.next();
    }
    run("int", ints, index);
    run("float", floats, index);
    run("float2", pairs, index);
    run("float4", quads, index);
    run("uchar4", colours, index);
    run("ushort", shorts, index);
    run("int2", ipairs, index);
    run("schar", bytes, index);

    dev_array<uchar4> dcolours(colours);
    dev_array<unsigned short> dshorts(shorts);
    dev_array<float> dfloats(floats), out2(64), edge(4);
    dev_array<float4> out(64);
    cudaTextureObject_t tb = linear_texture(dcolours, cudaReadModeNormalizedFloat);
    cudaTextureObject_t ts = linear_texture(dshorts, cudaReadModeNormalizedFloat);
    cudaTextureObject_t tf = linear_texture(dfloats, cudaReadModeElementType);
    normalised<<<1, 64>>>(tb, ts, out, out2, 64);
    outside<<<1, 1>>>(tf, edge, n);
    SYNC();
    print_sum("unit bytes", out.get());
    print_sum("unit shorts", out2.get());
    std::vector<float> e = edge.get();
    printf("outside %g %g %g\n", e[0], e[1], e[2]);
    verdict("last", e[3] == floats[n - 1]);

    std::vector<float> steps(32);
    for (int i = 0; i < 32; i++)
        steps[i] = float((i * 37) % 64);
    array_texture("point clamp", steps, cudaFilterModePoint, cudaAddressModeClamp, false);
    array_texture("point border", steps, cudaFilterModePoint, cudaAddressModeBorder, false);
    array_texture("point wrap", steps, cudaFilterModePoint, cudaAddressModeWrap, true);
    array_texture("point mirror", steps, cudaFilterModePoint, cudaAddressModeMirror, true);
    array_texture("linear clamp", steps, cudaFilterModeLinear, cudaAddressModeClamp, false);
    array_texture("linear border", steps, cudaFilterModeLinear, cudaAddressModeBorder, false);
    array_texture("linear wrap", steps, cudaFilterModeLinear, cudaAddressModeWrap, true);
    array_texture("linear mirror", steps, cudaFilterModeLinear, cudaAddressModeMirror, true);
    return finish();
}
