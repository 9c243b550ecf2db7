// Linear filtering at any coordinate: weights have 8 bits, and so do their products; normalized integers are
// blended with 16 bits. In one, two and three dimensions, all address modes, bit for bit.
#include "test.h"

template <int DIMS> __global__ void sample(cudaTextureObject_t t, const float *at, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float *p = at + 3 * i;
    out[i] = DIMS == 1 ? tex1D<float>(t, p[0]) : DIMS == 2 ? tex2D<float>(t, p[0], p[1]) : tex3D<float>(t, p[0], p[1], p[2]);
}

template <class T> static T value(random_source &rng) {
    return T(rng.next());
}
template <> float value<float>(random_source &rng) {
    return rng.unit() * 2 - 1;
}

template <class T> static void filter(const char *name, int dims, int n, random_source &rng) {
    int w = 24, h = dims > 1 ? 17 : 0, d = dims > 2 ? 9 : 0;
    std::vector<T> texels(w * (h ? h : 1) * (d ? d : 1));
    for (T &v : texels)
        v = value<T>(rng);
    std::vector<float> at(3 * n);
    for (float &v : at) // a power of two as the extent would hide how coordinates are scaled, others show rounding
        v = rng.unit() * 40 - 8;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(w, h, d)));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(texels.data(), w * sizeof(T), w, h ? h : 1);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(w, h ? h : 1, d ? d : 1);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    dev_array<float> coords(at), out(n);
    for (int mode = 0; mode < 4; mode++) {
        cudaResourceDesc res = {};
        res.resType = cudaResourceTypeArray;
        res.res.array.array = array;
        cudaTextureDesc tex = {};
        for (cudaTextureAddressMode &m : tex.addressMode)
            m = cudaTextureAddressMode(mode);
        tex.filterMode = cudaFilterModeLinear;
        tex.readMode = sizeof(T) < 4 ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
        cudaTextureObject_t t;
        CHECK(cudaCreateTextureObject(&t, &res, &tex, nullptr));
        if (dims == 1)
            sample<1><<<div_up(n, 128), 128>>>(t, coords, out, n);
        else if (dims == 2)
            sample<2><<<div_up(n, 128), 128>>>(t, coords, out, n);
        else
            sample<3><<<div_up(n, 128), 128>>>(t, coords, out, n);
        SYNC();
        printf("%s, %d dimensions, mode %d: ", name, dims, mode);
        print_sum("sum", out.get());
        CHECK(cudaDestroyTextureObject(t));
    }
    CHECK(cudaFreeArray(array));
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 4000);
    random_source rng(71);
    for (int dims = 1; dims <= 3; dims++) {
        filter<float>("float", dims, n, rng);
        filter<unsigned char>("unsigned char", dims, n, rng);
        filter<unsigned short>("unsigned short", dims, n, rng);
        filter<short>("short", dims, n, rng);
    }
    return finish();
}
