// Layered 2D textures: layers never blend; point and linear within a layer.
#include "test.h"

__global__ void sample(cudaTextureObject_t tex, float *out, int n, int layers, float step) {
    int x = threadIdx.x, y = threadIdx.y, layer = blockIdx.x;
    out[(layer * n + y) * n + x] = tex2DLayered<float>(tex, x * step, y * step, layer);
}

int main(int argc, char **argv) {
    int n = 16, layers = size_arg(argc, argv, 5);
    std::vector<float> data(n * n * layers);
    random_source rng(26);
    for (float &v : data)
        v = float(rng.below(100));
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    cudaExtent size = make_cudaExtent(n, n, layers);
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &channel, size, cudaArrayLayered));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(data.data(), n * sizeof(float), n, n);
    copy.dstArray = array;
    copy.extent = size;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    for (auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
        cudaResourceDesc res = {};
        res.resType = cudaResourceTypeArray;
        res.res.array.array = array;
        cudaTextureDesc desc = {};
        desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
        desc.filterMode = filter;
        cudaTextureObject_t tex;
        CHECK(cudaCreateTextureObject(&tex, &res, &desc, nullptr));
        dev_array<float> out(n * n * layers);
        sample<<<layers, dim3(n, n)>>>(tex, out, n, layers, 1.0f);
        SYNC();
        if (filter == cudaFilterModePoint)
            verdict("point", out.get() == data);
        sample<<<layers, dim3(n, n)>>>(tex, out, n, layers, 0.75f);
        SYNC();
        print_sum(filter == cudaFilterModePoint ? "point" : "linear", out.get());
        CHECK(cudaDestroyTextureObject(tex));
    }
    CHECK(cudaFreeArray(array));
    return finish();
}
