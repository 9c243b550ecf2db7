/* Mistakes with textures, surfaces and arrays; the first argument names one, those that begin with ok_ have
 * none. The driver's API in plain C, so that no CUDA toolkit is needed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reprise_cuda.h"

enum { W = 16, H = 8 };

static const char ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry sample(.param .u64 tex, .param .u64 out) {\n"
    "  .reg .b32 %r<8>; .reg .b64 %d<6>; .reg .f32 %f<8>;\n"
    "  ld.param.u64 %d1, [tex]; ld.param.u64 %d2, [out];\n"
    "  mov.u32 %r1, %tid.x; mov.u32 %r2, 3;\n"
    "  tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r1, %r2}];\n"
    "  mul.wide.u32 %d3, %r1, 4; add.u64 %d4, %d2, %d3;\n"
    "  st.global.f32 [%d4], %f1; ret;\n}\n"
    ".visible .entry put(.param .u64 surf, .param .u32 row) {\n"
    "  .reg .b32 %r<8>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [surf]; ld.param.u32 %r3, [row];\n"
    "  mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;\n"
    "  sust.b.2d.b32.trap [%d1, {%r2, %r3}], {%r1}; ret;\n}\n"
    ".visible .entry plain(.param .u64 p) {\n"
    "  .reg .b32 %r<4>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; st.global.u32 [%d1+4], %r1; ret;\n}\n"
    ".visible .const .align 4 .u32 fixed = 5;\n"
    ".visible .entry constant() {\n"
    "  .reg .b32 %r<4>; .reg .b64 %d<4>;\n"
    "  mov.u64 %d1, fixed; cvta.const.u64 %d2, %d1; ld.u32 %r1, [%d2];\n"
    "  st.u32 [%d2], %r1; ret;\n}\n";

static CUmodule module;

static void need(CUresult r, const char *what) {
    if (r == CUDA_SUCCESS)
        return;
    printf("%s: %d\n", what, (int)r);
    exit(3);
}
#define NEED(call) need((call), #call)

static void launch(const char *name, unsigned threads, void **args) {
    CUfunction f;
    NEED(cuModuleGetFunction(&f, module, name));
    NEED(cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, NULL, args, NULL));
}

static CUarray array(int fill) {
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = W,
                                     .Height = H,
                                     .Format = CU_AD_FORMAT_FLOAT,
                                     .NumChannels = 1,
                                     .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    static float texels[W * H];
    CUarray a;
    NEED(cuArray3DCreate(&a, &shape));
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = texels,
                          .srcPitch = W * 4,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = a,
                          .WidthInBytes = W * 4,
                          .Height = (size_t)fill};
    if (fill)
        NEED(cuMemcpy2D(&copy));
    return a;
}

static CUDA_RESOURCE_DESC resource_of(CUarray a) {
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY};
    r.res.array.hArray = a;
    return r;
}

/* Samples an array of which rows were filled; freed: the array is gone when that happens. */
static void sample(int rows, int freed, CUdeviceptr out) {
    CUarray a = array(rows);
    CUDA_RESOURCE_DESC r = resource_of(a);
    CUDA_TEXTURE_DESC how = {.flags = CU_TRSF_READ_AS_INTEGER};
    CUtexObject tex;
    NEED(cuTexObjectCreate(&tex, &r, &how, NULL));
    if (freed == 1)
        NEED(cuArrayDestroy(a));
    CUtexObject used = freed == 2 ? tex + 100 : tex;
    launch("sample", W, (void *[]){&used, &out});
    cuTexObjectDestroy(tex);
    if (freed != 1)
        cuArrayDestroy(a);
}

static void sample_linear(CUdeviceptr out) {
    CUdeviceptr p;
    CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_PITCH2D};
    CUDA_TEXTURE_DESC how = {.flags = CU_TRSF_READ_AS_INTEGER};
    CUtexObject tex;
    NEED(cuMemAlloc(&p, W * H * 4));
    NEED(cuMemsetD8(p, 0, W * H * 4));
    r.res.pitch2D.devPtr = p;
    r.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
    r.res.pitch2D.numChannels = 1;
    r.res.pitch2D.width = W;
    r.res.pitch2D.height = H;
    r.res.pitch2D.pitchInBytes = W * 4;
    NEED(cuTexObjectCreate(&tex, &r, &how, NULL));
    NEED(cuMemFree(p));
    launch("sample", W, (void *[]){&tex, &out});
    cuTexObjectDestroy(tex);
}

static void put(unsigned row, int freed) {
    CUarray a = array(0);
    CUDA_RESOURCE_DESC r = resource_of(a);
    CUsurfObject surf;
    NEED(cuSurfObjectCreate(&surf, &r));
    if (freed)
        NEED(cuArrayDestroy(a));
    launch("put", W, (void *[]){&surf, &row});
    cuSurfObjectDestroy(surf);
    if (!freed)
        cuArrayDestroy(a);
}

int main(int argc, char **argv) {
    CUdevice device;
    CUcontext context;
    CUdeviceptr out;
    const char *what = argc > 1 ? argv[1] : "", *name = NULL;
    NEED(cuInit(0));
    NEED(cuDeviceGet(&device, 0));
    NEED(cuDevicePrimaryCtxRetain(&context, device));
    NEED(cuCtxSetCurrent(context));
    NEED(cuModuleLoadData(&module, ptx));
    NEED(cuMemAlloc(&out, W * 4));
    NEED(cuMemsetD8(out, 0, W * 4));
    if (!strcmp(what, "ok_sample"))
        sample(H, 0, out);
    else if (!strcmp(what, "array_freed"))
        sample(H, 1, out);
    else if (!strcmp(what, "no_texture"))
        sample(H, 2, out);
    else if (!strcmp(what, "array_unset"))
        sample(2, 0, out);
    else if (!strcmp(what, "linear_freed"))
        sample_linear(out);
    else if (!strcmp(what, "ok_put"))
        put(2, 0);
    else if (!strcmp(what, "surface_over"))
        put(H, 0);
    else if (!strcmp(what, "surface_freed"))
        put(2, 1);
    else if (!strcmp(what, "constant"))
        launch("constant", 1, NULL);
    else if (!strcmp(what, "driver")) { /* memcheck puts what the GPU keeps for itself here */
        CUdeviceptr below = (out & ~(CUdeviceptr)0x1fffff) + 0x14000;
        launch("plain", 1, (void *[]){&below});
    } else
        return 2;
    cuGetErrorName(cuCtxSynchronize(), &name);
    printf("%s: %s\n", what, name);
    cuMemFree(out);
    return 0;
}
