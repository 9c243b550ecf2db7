/* Asks, again and again, for what is not simulated: an instruction and calls. Prints what it is told. */
#include <stdio.h>

#include "reprise_cuda.h"

CUresult cuIpcGetMemHandle(void *handle, CUdeviceptr p);
CUresult cuMulticastCreate(void *handle, const void *prop);

static const char ptx[] =
    ".version 8.6\n.target sm_90\n.address_size 64\n"
    ".visible .entry bad(.param .u64 p) {\n .reg .u64 %d<2>;\n .reg .f32 %f<2>;\n ld.param.u64 %d1, [p];\n"
    " multimem.ld_reduce.relaxed.sys.global.add.f32 %f1, [%d1];\n st.global.f32 [%d1], %f1;\n ret;\n}\n"
    ".visible .entry good(.param .u64 p) {\n ret;\n}\n";

int main(void) {
    CUcontext context;
    CUmodule module;
    CUfunction bad, good;
    CUdeviceptr p = 0;
    char handle[64];
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuModuleLoadData(&module, ptx) || cuModuleGetFunction(&bad, module, "bad") ||
        cuModuleGetFunction(&good, module, "good") || cuMemAlloc(&p, 64))
        return 2;
    void *args[] = {&p};
    for (int i = 0; i < 3; i++) {
        int launched = (int)cuLaunchKernel(bad, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
        printf("%d %d %d\n", launched, (int)cuIpcGetMemHandle(handle, p),
               (int)cuMulticastCreate(handle, handle));
    }
    printf("%d\n", (int)cuLaunchKernel(good, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    return (int)cuCtxSynchronize();
}
