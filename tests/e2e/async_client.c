/* A program whose GPU works beside it:
 *
 *   async_client pipeline MS     two streams, with MS milliseconds between its calls; prints results and
 * times async_client many N          N launches before it waits async_client leave           ends while a
 * kernel waits for it async_client stay            waits for ever, like the kernel that it launched behind
 * two others async_client fork            forks while kernels are in the queue async_client fault MS        a
 * kernel faults; which calls tell */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "reprise_cuda.h"

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry chain(.param .u64 p, .param .u32 n)\n"
    "{ .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %q;\n"
    "ld.param.u64 %d0, [p]; ld.param.u32 %r0, [n]; mov.u32 %r4, %tid.x; mul.wide.u32 %d1, %r4, 4;\n"
    "add.u64 %d0, %d0, %d1; ld.global.u32 %r1, [%d0]; mov.u32 %r2, 0;\n"
    "LOOP: mad.lo.u32 %r1, %r1, 1664525, 1013904223; add.u32 %r2, %r2, 1; setp.lt.u32 %q, %r2, %r0; @%q bra "
    "LOOP;\n"
    "st.global.u32 [%d0], %r1; exit; }\n"
    ".visible .entry wait(.param .u64 p)\n"
    "{ .reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %q; ld.param.u64 %d0, [p];\n"
    "LOOP: ld.volatile.global.u32 %r0, [%d0]; setp.eq.u32 %q, %r0, 0; @%q bra LOOP; exit; }\n";

static CUfunction chain, wait_for;
static CUdeviceptr a, b;
static unsigned *pinned;
static CUstream s, t;
static long pause_ms;

static void check(CUresult status, const char *what) {
    if (status) {
        printf("%s: %d\n", what, (int)status);
        exit(3);
    }
    struct timespec pause = {0, pause_ms * 1000000};
    if (pause_ms)
        nanosleep(&pause, NULL);
}
#define CHECK(call) check(call, #call)

static void launch(CUstream stream, CUdeviceptr p, unsigned n) {
    CHECK(cuLaunchKernel(chain, 1, 1, 1, 64, 1, 1, 0, stream, (void *[]){&p, &n}, NULL));
}

static void prepare(void) {
    CUdevice dev;
    CUcontext ctx;
    CUmodule mod;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&dev, 0));
    CHECK(cuCtxCreate(&ctx, 0, dev));
    CHECK(cuModuleLoadData(&mod, ptx));
    CHECK(cuModuleGetFunction(&chain, mod, "chain"));
    CHECK(cuModuleGetFunction(&wait_for, mod, "wait"));
    CHECK(cuMemAlloc(&a, 4096));
    CHECK(cuMemAlloc(&b, 4096));
    CHECK(cuMemsetD8(a, 1, 4096));
    CHECK(cuMemsetD8(b, 2, 4096));
    CHECK(cuMemAllocHost((void **)&pinned, 4096));
    CHECK(cuStreamCreate(&s, 1));
    CHECK(cuStreamCreate(&t, 1));
}

static unsigned sum(const unsigned *p) {
    unsigned all = 0;
    for (int i = 0; i < 64; i++)
        all = all * 31 + p[i];
    return all;
}

static void pipeline(void) {
    CUevent e[6];
    CUdeviceptr more;
    unsigned local[64];
    for (int i = 0; i < 6; i++)
        CHECK(cuEventCreate(&e[i], 0));
    CHECK(cuEventRecord(e[0], s));
    launch(s, a, 300);
    launch(t, b, 2000);
    CHECK(cuEventRecord(e[1], t));
    launch(s, a, 40);
    CHECK(cuMemcpyDtoHAsync(pinned, b, 256, t));
    CHECK(cuEventRecord(e[2], t));
    CHECK(cuMemAlloc(&more, 100000));
    CHECK(cuStreamWaitEvent(s, e[2], 0));
    CHECK(cuMemcpyHtoDAsync(more, pinned, 256, s));
    launch(s, more, 500);
    CHECK(cuEventRecord(e[3], s));
    launch(t, b, 10);
    CHECK(cuStreamSynchronize(t));
    CHECK(cuEventRecord(e[4], t));
    for (int i = 0; i < 64; i++)
        local[i] = (unsigned)i;
    CHECK(cuMemcpyHtoDAsync(a, local, sizeof local, s));
    memset(local, 0, sizeof local);
    launch(s, a, 7);
    CHECK(cuEventRecord(e[5], s));
    while (cuEventQuery(e[5]) == CUDA_ERROR_NOT_READY)
        ;
    CHECK(cuMemcpyDtoH(local, a, sizeof local));
    printf("a %08x", sum(local));
    CHECK(cuMemcpyDtoH(local, b, sizeof local));
    printf(" b %08x", sum(local));
    CHECK(cuMemcpyDtoH(local, more, sizeof local));
    printf(" more %08x at %llx\n", sum(local), (unsigned long long)more);
    for (int i = 1; i < 6; i++) {
        float ms;
        CHECK(cuEventElapsedTime(&ms, e[0], e[i]));
        printf("event %d after %.6f ms\n", i, (double)ms);
    }
}

static void many(int n) {
    unsigned want = 0x01010101, got;
    for (int i = 0; i < n; i++) {
        launch(s, a, 1);
        want = want * 1664525 + 1013904223;
    }
    CHECK(cuStreamSynchronize(s));
    CHECK(cuMemcpyDtoH(&got, a, 4));
    printf("%s\n", got == want ? "right" : "wrong");
}

static void wait_kernel(void) {
    pinned[0] = 0;
    CUdeviceptr p = (CUdeviceptr)(size_t)pinned;
    CHECK(cuLaunchKernel(wait_for, 1, 1, 1, 32, 1, 1, 0, s, (void *[]){&p}, NULL));
    puts("launched");
    fflush(stdout);
}

static void forks(void) {
    int status;
    unsigned got;
    launch(s, a, 100000);
    launch(s, a, 5);
    pid_t child = fork();
    if (!child)
        exit(0); /* what is in the queue is not its affair */
    if (waitpid(child, &status, 0) != child || status)
        exit(4);
    CHECK(cuStreamSynchronize(s));
    CHECK(cuMemcpyDtoH(&got, a, 4));
    printf("%08x\n", got);
}

static void fault(void) {
    CUevent e;
    size_t left, all;
    launch(s, 64, 1);
    launch(s, a, 1);
    CHECK(cuEventCreate(&e, 0));
    CHECK(cuEventRecord(e, t));
    CHECK(cuMemGetInfo(&left, &all));
    printf("stream %d\n", (int)cuStreamSynchronize(s));
    printf("context %d\n", (int)cuCtxSynchronize());
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? atoi(argv[2]) : 0;
    prepare();
    if (!strcmp(how, "many")) {
        many(n);
        return 0;
    }
    pause_ms = n;
    if (!strcmp(how, "pipeline"))
        pipeline();
    else if (!strcmp(how, "fork"))
        forks();
    else if (!strcmp(how, "fault"))
        fault();
    else if (!strcmp(how, "leave"))
        wait_kernel();
    else if (!strcmp(how, "stay")) {
        launch(s, a, 10);
        launch(s, a, 10);
        wait_kernel();
        for (;;)
            pause();
    } else
        return 2;
    return 0;
}
