// Libraries and kernels without a context, entry points by name, launches with attributes, and the linker.
// argv[1] is the PTX file.
#include "drv.h"

static const char part_one[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b32 r) helper(.param .b32 x);\n"
    ".visible .entry linked(.param .u64 p)\n{\n"
    "    .reg .b32 %r<4>;\n    .reg .b64 %rd<3>;\n"
    "    ld.param.u64 %rd1, [p];\n    cvta.to.global.u64 %rd1, %rd1;\n"
    "    mov.u32 %r1, %tid.x;\n    mul.wide.u32 %rd2, %r1, 4;\n    add.s64 %rd1, %rd1, %rd2;\n"
    "    {\n    .param .b32 a;\n    .param .b32 b;\n    st.param.b32 [a], %r1;\n"
    "    call (b), helper, (a);\n    ld.param.b32 %r2, [b];\n    }\n"
    "    st.global.u32 [%rd1], %r2;\n    ret;\n}\n";
static const char part_two[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .func (.param .b32 r) helper(.param .b32 x)\n{\n"
    "    .reg .b32 %r<3>;\n    ld.param.b32 %r1, [x];\n    mad.lo.s32 %r2, %r1, %r1, 5;\n"
    "    st.param.b32 [r], %r2;\n    ret;\n}\n";

static void library(const char *text) {
    enum { N = 256 };
    CUlibrary lib;
    CUkernel kernel;
    CUfunction function;
    CUdeviceptr in, out, weights;
    size_t bytes;
    int host[N], n = N, ok = 1;
    unsigned count = 0;
    CHECK(cuLibraryLoadData(&lib, text, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernelCount(&count, lib));
    CHECK(cuLibraryGetKernel(&kernel, lib, "weighted"));
    CHECK(cuKernelGetFunction(&function, kernel));
    CHECK(cuLibraryGetGlobal(&weights, &bytes, lib, "weights"));
    printf("kernels %u, weights %zu bytes, no such kernel: %s\n", count, bytes,
           error_name(cuLibraryGetKernel(&kernel, lib, "none")));
    CHECK(cuLibraryGetKernel(&kernel, lib, "weighted"));
    for (int i = 0; i < N; i++)
        host[i] = i - 100;
    CHECK(cuMemAlloc(&in, sizeof host));
    CHECK(cuMemAlloc(&out, sizeof host));
    CHECK(cuMemcpyHtoD(in, host, sizeof host));
    void *args[] = {&in, &out, &n};
    CHECK(cuLaunchKernel((CUfunction)kernel, 2, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
    CHECK(cuMemcpyDtoH(host, out, sizeof host));
    const int weight[4] = {1, 10, 100, 1000};
    for (int i = 0; i < N; i++)
        ok = ok && host[i] == (i - 100) * weight[i & 3];
    verdict("kernel", ok);

    CHECK(cuLibraryGetKernel(&kernel, lib, "together"));
    CHECK(cuKernelGetFunction(&function, kernel));
    CUlaunchAttribute attribute;
    CUlaunchConfig config;
    memset(&attribute, 0, sizeof attribute);
    memset(&config, 0, sizeof config);
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    config.gridDimX = 4;
    config.blockDimX = 64;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    void *grid_args[] = {&out, &n};
    CHECK(cuLaunchKernelEx(&config, function, grid_args, NULL));
    CHECK(cuMemcpyDtoH(host, out, sizeof host));
    print_sum("together", host, sizeof host);
    CHECK(cuMemFree(in));
    CHECK(cuMemFree(out));
    CHECK(cuLibraryUnload(lib));
}

static void linker(void) {
    CUlinkState state;
    CUmodule module;
    CUfunction function;
    CUdeviceptr out;
    void *image;
    size_t size;
    int got[32], ok = 1;
    CHECK(cuLinkCreate(0, NULL, NULL, &state));
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)part_one, sizeof part_one, "one", 0, NULL, NULL));
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)part_two, sizeof part_two, "two", 0, NULL, NULL));
    CHECK(cuLinkComplete(state, &image, &size));
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cuLinkDestroy(state));
    CHECK(cuModuleGetFunction(&function, module, "linked"));
    CHECK(cuMemAlloc(&out, sizeof got));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&out}, NULL));
    CHECK(cuMemcpyDtoH(got, out, sizeof got));
    for (int i = 0; i < 32; i++)
        ok = ok && got[i] == i * i + 5;
    verdict("linked", ok);
    CHECK(cuMemFree(out));
    CHECK(cuModuleUnload(module));
}

static void entry_points(void) {
    CUresult (*alloc)(CUdeviceptr *, size_t) = NULL;
    CUdriverProcAddressQueryResult status;
    void *found = NULL;
    CUdeviceptr p;
    CHECK(cuGetProcAddress("cuMemAlloc", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    memcpy(&alloc, &found, sizeof alloc);
    CHECK(alloc(&p, 64));
    CHECK(cuMemFree(p));
    CUresult err = cuGetProcAddress("cuNoSuchThing", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status);
    printf("unknown name: %s %d\n", error_name(err), (int)status);
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    use_device();
    library(read_text(argv[1]));
    linker();
    entry_points();
    return failures ? 1 : 0;
}
