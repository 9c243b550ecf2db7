// Driver and runtime API in one program: the runtime's primary context is the driver's current one, pointers
// and streams go both ways, and a module of PTX text is loaded beside the program's own kernels.
#include "test.h"
#include <cuda.h>

#define CHECK_DRV(call) check_drv((call), #call, __LINE__)
static void check_drv(CUresult err, const char *what, int line) {
    const char *name = "?";
    if (err == CUDA_SUCCESS)
        return;
    cuGetErrorName(err, &name);
    printf("line %d: %s: %s\n", line, what, name);
    exit(2);
}

__global__ void own(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = p[i] * 2 + 1;
}

static const char text[] = R"(
.version 6.4
.target sm_70
.address_size 64
.const .align 4 .b8 bias[16] = {10, 0, 0, 0, 20, 0, 0, 0, 30, 0, 0, 0, 40, 0, 0, 0};
.global .align 4 .u32 calls;

.visible .entry add_bias(.param .u64 data, .param .u32 count)
{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p, %r5, %r1;
    @%p bra DONE;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd2, %rd2, %rd3;
    and.b32 %r6, %r5, 3;
    mul.wide.u32 %rd4, %r6, 4;
    mov.u64 %rd5, bias;
    add.s64 %rd5, %rd5, %rd4;
    ld.const.u32 %r6, [%rd5];
    ld.global.u32 %r7, [%rd2];
    add.s32 %r7, %r7, %r6;
    st.global.u32 [%rd2], %r7;
    atom.global.add.u32 %r7, [calls], 1;
DONE:
    ret;
}
)";

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 1000), *p;
    CHECK(cudaMalloc(&p, n * sizeof(int)));
    CUcontext context = nullptr, primary = nullptr;
    CUdevice device;
    CHECK_DRV(cuCtxGetCurrent(&context));
    CHECK_DRV(cuDeviceGet(&device, 0));
    CHECK_DRV(cuDevicePrimaryCtxRetain(&primary, device));
    printf("same context %d\n", context != nullptr && context == primary);
    CHECK_DRV(cuDevicePrimaryCtxRelease(device));

    CHECK_DRV(cuMemsetD32(reinterpret_cast<CUdeviceptr>(p), 5, n));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    own<<<div_up(n, 128), 128, 0, stream>>>(p, n);
    CUmodule module;
    CUfunction function;
    CHECK_DRV(cuModuleLoadData(&module, text));
    CHECK_DRV(cuModuleGetFunction(&function, module, "add_bias"));
    void *args[] = {&p, &n};
    CHECK_DRV(cuLaunchKernel(function, div_up(n, 64), 1, 1, 64, 1, 1, 0, stream, args, nullptr));
    CHECK(cudaStreamSynchronize(stream));
    std::vector<int> got(n);
    CHECK_DRV(cuMemcpyDtoH(got.data(), reinterpret_cast<CUdeviceptr>(p), n * sizeof(int)));
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok = ok && got[i] == 11 + 10 * (i % 4 + 1);
    verdict("mixed", ok);
    CUdeviceptr calls;
    size_t bytes;
    unsigned count = 0;
    CHECK_DRV(cuModuleGetGlobal(&calls, &bytes, module, "calls"));
    CHECK(cudaMemcpy(&count, reinterpret_cast<void *>(calls), sizeof count, cudaMemcpyDeviceToHost));
    printf("calls %u, bytes %zu\n", count, bytes);

    CUfunction own_function;
    CHECK(cudaGetFuncBySymbol(&own_function, (const void *)own));
    CHECK_DRV(cuLaunchKernel(own_function, div_up(n, 64), 1, 1, 64, 1, 1, 0, stream, args, nullptr));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(got.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost));
    print_sum("own by driver", got);
    CHECK_DRV(cuModuleUnload(module));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(p));
    return finish();
}
