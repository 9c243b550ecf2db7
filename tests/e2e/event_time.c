/* The time between two events is that of the simulated cycles: a chain of dependent instructions takes their
 * latency, however many SMs there are. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "reprise_cuda.h"

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry chain(.param .u32 n)\n"
                          "{ .reg .b32 %r<8>; .reg .pred %p;\n"
                          "ld.param.u32 %r0, [n]; mov.u32 %r1, 0; mov.u32 %r2, 1;\n"
                          "LOOP: mad.lo.u32 %r2, %r2, %r2, 3; mad.lo.u32 %r2, %r2, %r2, 5;\n"
                          "add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, %r0; @%p bra LOOP;\n"
                          "setp.ne.u32 %p, %r2, 7; @%p exit; trap; }\n";

static void *lib;

static void *function(const char *name) {
    void *f = dlsym(lib, name);
    if (!f) {
        printf("%s: %s\n", name, dlerror());
        exit(1);
    }
    return f;
}

#define CALL(name, ...)                                                                                      \
    do {                                                                                                     \
        CUresult status = ((__typeof__(&name))function(#name))(__VA_ARGS__);                                 \
        if (status) {                                                                                        \
            printf("%s: %d\n", #name, (int)status);                                                          \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

int main(void) {
    CUdevice dev;
    CUcontext ctx;
    CUmodule mod;
    CUfunction fn;
    CUevent begin, end;
    int khz;
    lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib) {
        printf("%s\n", dlerror());
        return 1;
    }
    CALL(cuInit, 0);
    CALL(cuDeviceGet, &dev, 0);
    CALL(cuDeviceGetAttribute, &khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, dev);
    CALL(cuCtxCreate_v2, &ctx, 0, dev);
    CALL(cuModuleLoadData, &mod, ptx);
    CALL(cuModuleGetFunction, &fn, mod, "chain");
    CALL(cuEventCreate, &begin, 0);
    CALL(cuEventCreate, &end, 0);
    double cycles[2];
    for (int k = 0; k < 2; k++) {
        unsigned n = k ? 3000 : 1000;
        void *args[] = {&n};
        float ms;
        CALL(cuEventRecord, begin, NULL);
        CALL(cuLaunchKernel, fn, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL);
        CALL(cuEventRecord, end, NULL);
        CALL(cuEventSynchronize, end);
        CALL(cuEventElapsedTime, &ms, begin, end);
        cycles[k] = (double)ms * khz;
    }
    double each = (cycles[1] - cycles[0]) / 2000; /* a loop of two multiplications that wait for each other */
    printf("%.1f cycles a round\n", each);
    return each < 20 || each > 200;
}
