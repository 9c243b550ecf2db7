// Arrays, textures and surfaces through the driver API. argv[1] is the PTX file.
#include "drv.h"

static void two_d(CUmodule module) {
    enum { W = 40, H = 24 };
    static float host[W * H], got[W * H];
    CUDA_ARRAY_DESCRIPTOR desc = {.Width = W, .Height = H, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1},
                          read_back;
    CUarray array;
    for (int i = 0; i < W * H; i++)
        host[i] = (float)((i * 37) % 64);
    CHECK(cuArrayCreate(&array, &desc));
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host;
    copy.srcPitch = W * sizeof(float);
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = W * sizeof(float);
    copy.Height = H;
    CHECK(cuMemcpy2D(&copy));
    CHECK(cuArrayGetDescriptor(&read_back, array));
    printf("array %zu x %zu, %u channel\n", read_back.Width, read_back.Height, read_back.NumChannels);
    CUfunction sample;
    CUdeviceptr out;
    CHECK(cuModuleGetFunction(&sample, module, "sample2d"));
    CHECK(cuMemAlloc(&out, sizeof got));
    for (int linear = 0; linear < 2; linear++) {
        CUDA_RESOURCE_DESC res;
        CUDA_TEXTURE_DESC tex;
        CUtexObject object;
        memset(&res, 0, sizeof res);
        memset(&tex, 0, sizeof tex);
        res.resType = CU_RESOURCE_TYPE_ARRAY;
        res.res.array.hArray = array;
        tex.addressMode[0] = tex.addressMode[1] =
            linear ? CU_TR_ADDRESS_MODE_CLAMP : CU_TR_ADDRESS_MODE_BORDER;
        tex.filterMode = linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
        CHECK(cuTexObjectCreate(&object, &res, &tex, NULL));
        int w = W, h = H;
        float step = linear ? 0.75f : 1.25f;
        void *args[] = {&object, &out, &w, &h, &step};
        CHECK(cuLaunchKernel(sample, (W + 7) / 8, (H + 7) / 8, 1, 8, 8, 1, 0, NULL, args, NULL));
        CHECK(cuMemcpyDtoH(got, out, sizeof got));
        print_sum(linear ? "linear" : "point", got, sizeof got);
        CHECK(cuTexObjectDestroy(object));
    }
    CHECK(cuMemFree(out));
    CHECK(cuArrayDestroy(array));
}

static void linear_memory(CUmodule module) {
    enum { N = 500 };
    int host[N], got[N], n = N, ok = 1;
    CUdeviceptr in, out;
    CUfunction fetch;
    for (int i = 0; i < N; i++)
        host[i] = i * i - 1000;
    CHECK(cuMemAlloc(&in, sizeof host));
    CHECK(cuMemAlloc(&out, sizeof got));
    CHECK(cuMemcpyHtoD(in, host, sizeof host));
    CUDA_RESOURCE_DESC res;
    CUDA_TEXTURE_DESC tex;
    CUtexObject object;
    memset(&res, 0, sizeof res);
    memset(&tex, 0, sizeof tex);
    res.resType = CU_RESOURCE_TYPE_LINEAR;
    res.res.linear.devPtr = in;
    res.res.linear.format = CU_AD_FORMAT_SIGNED_INT32;
    res.res.linear.numChannels = 1;
    res.res.linear.sizeInBytes = sizeof host;
    tex.flags = CU_TRSF_READ_AS_INTEGER;
    CHECK(cuTexObjectCreate(&object, &res, &tex, NULL));
    CHECK(cuModuleGetFunction(&fetch, module, "fetch1d"));
    void *args[] = {&object, &out, &n};
    CHECK(cuLaunchKernel(fetch, 4, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
    CHECK(cuMemcpyDtoH(got, out, sizeof got));
    for (int i = 0; i < N; i++)
        ok = ok && got[i] == host[i * 7 % N];
    verdict("linear memory", ok);
    CHECK(cuTexObjectDestroy(object));
    CHECK(cuMemFree(in));
    CHECK(cuMemFree(out));
}

static void surface(CUmodule module) {
    CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = 8,
                                    .Height = 6,
                                    .Depth = 4,
                                    .Format = CU_AD_FORMAT_UNSIGNED_INT16,
                                    .NumChannels = 1,
                                    .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    CUarray array;
    CUsurfObject object;
    CUDA_RESOURCE_DESC res;
    CUfunction write;
    unsigned short got[8 * 6 * 4];
    int ok = 1;
    CHECK(cuArray3DCreate(&array, &desc));
    memset(&res, 0, sizeof res);
    res.resType = CU_RESOURCE_TYPE_ARRAY;
    res.res.array.hArray = array;
    CHECK(cuSurfObjectCreate(&object, &res));
    CHECK(cuModuleGetFunction(&write, module, "write3d"));
    CHECK(cuLaunchKernel(write, 1, 1, 1, 8, 6, 4, 0, NULL, (void *[]){&object}, NULL));
    CUDA_MEMCPY3D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = got;
    copy.dstPitch = 16;
    copy.dstHeight = 6;
    copy.WidthInBytes = 16;
    copy.Height = 6;
    copy.Depth = 4;
    CHECK(cuMemcpy3D(&copy));
    for (int i = 0; i < 8 * 6 * 4; i++)
        ok = ok && got[i] == i % 8 + 10 * (i / 8 % 6) + 100 * (i / 48);
    verdict("surface", ok);
    CHECK(cuSurfObjectDestroy(object));
    CHECK(cuArrayDestroy(array));
}

int main(int argc, char **argv) {
    CUmodule module;
    if (argc < 2)
        return 2;
    use_device();
    CHECK(cuModuleLoadData(&module, read_text(argv[1])));
    two_d(module);
    linear_memory(module);
    surface(module);
    CHECK(cuModuleUnload(module));
    return failures ? 1 : 0;
}
