// What the driver API answers to wrong calls: modules, functions, launches, pointers, and an error that
// sticks. argv[1] is the PTX file.
#include "drv.h"

static void show(const char *what, CUresult err) {
    printf("%s: %s\n", what, error_name(err));
}

int main(int argc, char **argv) {
    CUmodule module, other;
    CUfunction fill, null_store, none;
    CUdeviceptr p, symbol;
    CUdevice device;
    size_t bytes;
    int value = 9, got[32];
    if (argc < 2)
        return 2;
    CHECK(cuInit(0));
    show("init with flags", cuInit(7));
    show("device 99", cuDeviceGet(&device, 99));
    use_device();
    show("no PTX", cuModuleLoadData(&other, "this is no module at all, just a line of text\n"));
    show("unknown instruction",
         cuModuleLoadData(&other, ".version 6.4\n.target sm_70\n.address_size 64\n"
                                  ".visible .entry k()\n{\n    frobnicate.u32 %r1;\n    ret;\n}\n"));
    show("undeclared register",
         cuModuleLoadData(&other, ".version 6.4\n.target sm_70\n.address_size 64\n"
                                  ".visible .entry k()\n{\n    mov.u32 %r1, 5;\n    ret;\n}\n"));
    show("missing file", cuModuleLoad(&other, "/no/such/file.ptx"));
    CHECK(cuModuleLoad(&module, argv[1]));
    show("missing function", cuModuleGetFunction(&none, module, "absent"));
    show("missing global", cuModuleGetGlobal(&symbol, &bytes, module, "absent"));
    CHECK(cuModuleGetFunction(&fill, module, "fill"));
    CHECK(cuModuleGetFunction(&null_store, module, "through_null"));
    CHECK(cuMemAlloc(&p, 4096));
    void *args[] = {&p, &value};
    show("no threads", cuLaunchKernel(fill, 1, 1, 1, 0, 1, 1, 0, NULL, args, NULL));
    show("2048 threads", cuLaunchKernel(fill, 1, 1, 1, 2048, 1, 1, 0, NULL, args, NULL));
    show("grid of nothing", cuLaunchKernel(fill, 0, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    show("too much shared memory", cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 1 << 20, NULL, args, NULL));
    show("no function", cuLaunchKernel(NULL, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    show("zero bytes", cuMemAlloc(&symbol, 0));
    show("free of nonsense", cuMemFree(0x1234567));
    show("good launch", cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    CHECK(cuMemcpyDtoH(got, p, sizeof got));
    printf("value %d\n", got[31]);

    CHECK(cuMemsetD8(p, 0, 64));
    void *null_args[] = {&p};
    show("launch that will fail", cuLaunchKernel(null_store, 1, 1, 1, 1, 1, 1, 0, NULL, null_args, NULL));
    show("synchronize", cuCtxSynchronize());
    show("copy after", cuMemcpyDtoH(got, p, 4));
    show("launch after", cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    show("allocation after", cuMemAlloc(&symbol, 16));
    return 0;
}
