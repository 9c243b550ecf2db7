// Texture references, as modules of CUDA 11 and earlier have them: bound to an array, to linear memory and to
// pitched memory, with filter, address mode and flags set from the host. argv[1] is a PTX file whose kernel
// makes the image.
#include "drv.h"

static const char text[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".global .texref image;\n.global .texref line;\n"
    ".visible .entry sample(.param .u64 out, .param .f32 step)\n{\n"
    "    .reg .b32 %r<6>;\n    .reg .f32 %f<8>;\n    .reg .b64 %rd<3>;\n"
    "    ld.param.u64 %rd1, [out];\n    cvta.to.global.u64 %rd1, %rd1;\n    ld.param.f32 %f7, [step];\n"
    "    mov.u32 %r1, %tid.x;\n    mov.u32 %r2, %ctaid.x;\n    mov.u32 %r3, %ntid.x;\n"
    "    cvt.rn.f32.u32 %f1, %r1;\n    cvt.rn.f32.u32 %f2, %r2;\n"
    "    mul.rn.f32 %f1, %f1, %f7;\n    mul.rn.f32 %f2, %f2, %f7;\n"
    "    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [image, {%f1, %f2}];\n"
    "    mad.lo.u32 %r4, %r2, %r3, %r1;\n    mul.wide.u32 %rd2, %r4, 4;\n    add.s64 %rd1, %rd1, %rd2;\n"
    "    st.global.f32 [%rd1], %f3;\n    ret;\n}\n"
    ".visible .entry fetch(.param .u64 out)\n{\n"
    "    .reg .b32 %r<8>;\n    .reg .b64 %rd<3>;\n"
    "    ld.param.u64 %rd1, [out];\n    cvta.to.global.u64 %rd1, %rd1;\n    mov.u32 %r1, %tid.x;\n"
    "    tex.1d.v4.s32.s32 {%r2, %r3, %r4, %r5}, [line, {%r1}];\n"
    "    mul.wide.u32 %rd2, %r1, 4;\n    add.s64 %rd1, %rd1, %rd2;\n"
    "    st.global.u32 [%rd1], %r2;\n    ret;\n}\n";

enum { W = 32, H = 16 };

static void sample(CUmodule module, const char *name, float step) {
    CUfunction function;
    CUdeviceptr out;
    static float got[W * H];
    CHECK(cuModuleGetFunction(&function, module, "sample"));
    CHECK(cuMemAlloc(&out, sizeof got));
    void *args[] = {&out, &step};
    CHECK(cuLaunchKernel(function, H, 1, 1, W, 1, 1, 0, NULL, args, NULL));
    CHECK(cuMemcpyDtoH(got, out, sizeof got));
    print_sum(name, got, sizeof got);
    CHECK(cuMemFree(out));
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    use_device();
    CUmodule maker, module;
    CUfunction ramp, fetch;
    CUdeviceptr pixels, pitched, ints, out;
    size_t pitch;
    CHECK(cuModuleLoad(&maker, argv[1]));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&ramp, maker, "ramp"));
    CHECK(cuMemAlloc(&pixels, W * H * sizeof(float)));
    CHECK(cuLaunchKernel(ramp, H, 1, 1, W, 1, 1, 0, NULL, (void *[]){&pixels}, NULL));

    CUDA_ARRAY_DESCRIPTOR desc = {.Width = W, .Height = H, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUarray array;
    CUtexref image, line;
    CHECK(cuArrayCreate(&array, &desc));
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = pixels;
    copy.srcPitch = W * sizeof(float);
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = W * sizeof(float);
    copy.Height = H;
    CHECK(cuMemcpy2D(&copy));
    CHECK(cuModuleGetTexRef(&image, module, "image"));
    CHECK(cuTexRefSetArray(image, array, CU_TRSA_OVERRIDE_FORMAT));
    CHECK(cuTexRefSetAddressMode(image, 0, CU_TR_ADDRESS_MODE_CLAMP));
    CHECK(cuTexRefSetAddressMode(image, 1, CU_TR_ADDRESS_MODE_CLAMP));
    sample(module, "point", 1.5f);
    CHECK(cuTexRefSetFilterMode(image, CU_TR_FILTER_MODE_LINEAR));
    sample(module, "linear", 0.75f);
    CHECK(cuTexRefSetFlags(image, CU_TRSF_NORMALIZED_COORDINATES));
    CHECK(cuTexRefSetAddressMode(image, 0, CU_TR_ADDRESS_MODE_WRAP));
    CHECK(cuTexRefSetAddressMode(image, 1, CU_TR_ADDRESS_MODE_MIRROR));
    sample(module, "wrapped", 0.09375f);

    CHECK(cuMemAllocPitch(&pitched, &pitch, W * sizeof(float), H, 4));
    CHECK(cuMemsetD2D32(pitched, pitch, 0x40400000, W, H));
    CHECK(cuTexRefSetFlags(image, 0));
    CHECK(cuTexRefSetFilterMode(image, CU_TR_FILTER_MODE_POINT));
    CHECK(cuTexRefSetAddressMode(image, 0, CU_TR_ADDRESS_MODE_CLAMP));
    CHECK(cuTexRefSetAddressMode(image, 1, CU_TR_ADDRESS_MODE_CLAMP));
    CHECK(cuTexRefSetAddress2D(image, &desc, pitched, pitch));
    sample(module, "pitched", 1.0f);

    int host[64], got[64], ok = 1;
    size_t offset;
    for (int i = 0; i < 64; i++)
        host[i] = i * -3;
    CHECK(cuMemAlloc(&ints, sizeof host));
    CHECK(cuMemAlloc(&out, sizeof got));
    CHECK(cuMemcpyHtoD(ints, host, sizeof host));
    CHECK(cuModuleGetTexRef(&line, module, "line"));
    CHECK(cuTexRefSetFormat(line, CU_AD_FORMAT_SIGNED_INT32, 1));
    CHECK(cuTexRefSetFlags(line, CU_TRSF_READ_AS_INTEGER));
    CHECK(cuTexRefSetAddress(&offset, line, ints, sizeof host));
    CHECK(cuModuleGetFunction(&fetch, module, "fetch"));
    CHECK(cuLaunchKernel(fetch, 1, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&out}, NULL));
    CHECK(cuMemcpyDtoH(got, out, sizeof got));
    for (int i = 0; i < 64; i++)
        ok = ok && got[i] == host[i];
    verdict("line", ok);
    return failures ? 1 : 0;
}
