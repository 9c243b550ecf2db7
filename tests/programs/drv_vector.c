// Driver API from end to end: contexts, a module from a file, arguments as pointers and as a packed buffer,
// globals, memory of all kinds, streams, events, attributes. argv[1] is the PTX file.
#include "drv.h"

static void CUDA_CB count_call(CUstream stream, CUresult status, void *data) {
    (void)stream;
    *(int *)data += status == CUDA_SUCCESS;
}

static void contexts(CUdevice device) {
    CUcontext first, second, top;
    CHECK(cuCtxCreate(&first, NULL, 0, device));
    CHECK(cuCtxCreate(&second, NULL, CU_CTX_SCHED_SPIN, device));
    CHECK(cuCtxGetCurrent(&top));
    printf("second is current %d\n", top == second);
    CHECK(cuCtxPopCurrent(&top));
    printf("popped second %d\n", top == second);
    CHECK(cuCtxGetCurrent(&top));
    printf("first is current %d\n", top == first);
    CHECK(cuCtxPushCurrent(second));
    CHECK(cuCtxDestroy(second));
    CHECK(cuCtxGetCurrent(&top));
    printf("first again %d\n", top == first);
    CHECK(cuCtxSynchronize());
    CHECK(cuCtxDestroy(first));
    CHECK(cuCtxGetCurrent(&top));
    printf("none left %d\n", top == NULL);
    CUdeviceptr p;
    printf("without a context: %s\n", error_name(cuMemAlloc(&p, 16)));
}

static void launches(CUmodule module, int n) {
    CUfunction scale, reverse;
    CHECK(cuModuleGetFunction(&scale, module, "scale"));
    CHECK(cuModuleGetFunction(&reverse, module, "reverse"));
    CUdeviceptr factors, count, in, out;
    size_t bytes;
    CHECK(cuModuleGetGlobal(&factors, &bytes, module, "factors"));
    float f[8], bias = 0.25f, *host = malloc((size_t)n * sizeof(float)),
                *got = malloc((size_t)n * sizeof(float));
    printf("factors %zu bytes\n", bytes);
    for (int i = 0; i < 8; i++)
        f[i] = (float)i - 2.5f;
    CHECK(cuMemcpyHtoD(factors, f, sizeof f));
    for (int i = 0; i < n; i++)
        host[i] = (float)(i % 1000) * 0.5f;
    CHECK(cuMemAlloc(&in, (size_t)n * sizeof(float)));
    CHECK(cuMemAlloc(&out, (size_t)n * sizeof(float)));
    CHECK(cuMemcpyHtoD(in, host, (size_t)n * sizeof(float)));
    void *args[] = {&in, &out, &n, &bias};
    CHECK(cuLaunchKernel(scale, (unsigned)(n + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
    CHECK(cuLaunchKernel(reverse, (unsigned)n / 64, 1, 1, 64, 1, 1, 64 * sizeof(float), NULL,
                         (void *[]){&out}, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(got, out, (size_t)n * sizeof(float)));
    int ok = 1;
    for (int i = 0; i < n / 64 * 64; i++) {
        int from = i / 64 * 64 + 63 - i % 64;
        ok = ok && got[i] == host[from] * f[from & 7] + bias;
    }
    verdict("scale and reverse", ok);
    unsigned value;
    CHECK(cuModuleGetGlobal(&count, NULL, module, "launches"));
    CHECK(cuMemcpyDtoH(&value, count, sizeof value));
    printf("launches %u\n", value);
    CHECK(cuMemFree(in));
    CHECK(cuMemFree(out));
    free(host);
    free(got);
}

// Arguments laid out by hand, as launches with CU_LAUNCH_PARAM_BUFFER_POINTER take them.
static void packed_arguments(CUmodule module) {
    CUfunction unpack;
    CUdeviceptr out;
    double got[5];
    CHECK(cuModuleGetFunction(&unpack, module, "unpack"));
    CHECK(cuMemAlloc(&out, sizeof got));
    struct {
        struct {
            char c;
            short s;
            int64_t l;
            float f[3];
        } p;
        int n;
        double d;
        CUdeviceptr out;
    } buffer = {{-5, 300, 1ll << 40, {1, 2, 3.5f}}, 7, 0.125, out};
    size_t size = sizeof buffer;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(unpack, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    CHECK(cuMemcpyDtoH(got, out, sizeof got));
    printf("unpacked %g %g %g %g %g\n", got[0], got[1], got[2], got[3], got[4]);
    CHECK(cuMemFree(out));
}

static void memory(void) {
    CUdeviceptr p, pitched, base;
    size_t pitch, size;
    unsigned char host[1024];
    CHECK(cuMemAlloc(&p, sizeof host));
    CHECK(cuMemsetD8(p, 0xab, sizeof host));
    CHECK(cuMemsetD16(p + 64, 0x1234, 50));
    CHECK(cuMemsetD32(p + 256, 0xdeadbeef, 100));
    CHECK(cuMemcpyDtoD(p + 700, p + 260, 40));
    CHECK(cuMemcpyDtoH(host, p, sizeof host));
    print_sum("set", host, sizeof host);
    CHECK(cuMemGetAddressRange(&base, &size, p + 100));
    printf("range %d %zu\n", base == p, size);
    CHECK(cuMemAllocPitch(&pitched, &pitch, 100, 10, 4));
    CHECK(cuMemsetD2D8(pitched, pitch, 7, 100, 10));
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = p;
    copy.srcPitch = 64;
    copy.srcXInBytes = 8;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = pitched;
    copy.dstPitch = pitch;
    copy.dstY = 2;
    copy.WidthInBytes = 40;
    copy.Height = 6;
    CHECK(cuMemcpy2D(&copy));
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = pitched;
    copy.srcPitch = pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = host;
    copy.dstPitch = 100;
    copy.WidthInBytes = 100;
    copy.Height = 10;
    CHECK(cuMemcpy2D(&copy));
    print_sum("2d", host, 1000);
    CUmemorytype type = 0;
    CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    printf("memory type %d\n", (int)type);
    CHECK(cuMemFree(p));
    CHECK(cuMemFree(pitched));
    printf("freed twice: %s\n", error_name(cuMemFree(p)));
}

static void streams(CUmodule module) {
    CUfunction bounded;
    CUstream stream;
    CUevent start, stop;
    CUdeviceptr dev;
    int *pinned, calls = 0;
    float ms = -1;
    CHECK(cuModuleGetFunction(&bounded, module, "bounded"));
    CHECK(cuMemHostAlloc((void **)&pinned, 96 * sizeof(int), CU_MEMHOSTALLOC_DEVICEMAP));
    for (int i = 0; i < 96; i++)
        pinned[i] = i * i;
    CHECK(cuMemAlloc(&dev, 96 * sizeof(int)));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&stop, CU_EVENT_BLOCKING_SYNC));
    CHECK(cuEventRecord(start, stream));
    CHECK(cuMemcpyHtoDAsync(dev, pinned, 50 * sizeof(int), stream));
    CHECK(cuLaunchKernel(bounded, 1, 1, 1, 50, 1, 1, 0, stream, (void *[]){&dev}, NULL));
    CHECK(cuMemcpyDtoHAsync(pinned, dev, 50 * sizeof(int), stream));
    CHECK(cuStreamAddCallback(stream, count_call, &calls, 0));
    CHECK(cuEventRecord(stop, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuEventSynchronize(stop));
    CHECK(cuEventElapsedTime(&ms, start, stop));
    printf("calls %d, time %d, query %s\n", calls, ms >= 0, error_name(cuStreamQuery(stream)));
    print_sum("reversed", pinned, 96 * sizeof(int));
    int value;
    CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, bounded));
    printf("bounded to %d", value);
    CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, bounded));
    printf(", shared %d", value);
    CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, bounded));
    printf(", ptx %d\n", value);
    CHECK(cuEventDestroy(start));
    CHECK(cuEventDestroy(stop));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFreeHost(pinned));
    CHECK(cuMemFree(dev));
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    CUdevice device;
    CUmodule module;
    int value, count;
    printf("before init: %s\n", error_name(cuDeviceGet(&device, 0)));
    CHECK(cuInit(0));
    CHECK(cuDeviceGetCount(&count));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
    printf("devices %d, warp %d\n", count >= 1, value);
    contexts(device);
    use_device();
    CHECK(cuModuleLoad(&module, argv[1]));
    launches(module, argc > 2 ? atoi(argv[2]) : 5000);
    packed_arguments(module);
    memory();
    streams(module);
    CHECK(cuModuleUnload(module));
    CHECK(cuDevicePrimaryCtxRelease(device));
    return failures ? 1 : 0;
}
