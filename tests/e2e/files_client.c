/* A program that launches a kernel some times, telling each, and then ends in the way it is told:
 *
 *   files_client LAUNCHES exit|abort|crash|overflow|fork|forked|spawn|for-ever */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reprise_cuda.h"

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry _Z5chainj(.param .u32 n)\n"
                          "{ .reg .b32 %r<8>; .reg .pred %p;\n"
                          "ld.param.u32 %r0, [n]; mov.u32 %r1, 0;\n"
                          "LOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p, %r1, %r0; @%p bra LOOP; exit; }\n";

static void check(CUresult status, const char *what) {
    if (status) {
        printf("%s: %d\n", what, (int)status);
        exit(3);
    }
}

static void launch(int times) {
    CUdevice dev;
    CUcontext ctx;
    CUmodule mod;
    CUfunction fn;
    unsigned n = times < 0 ? 5000 : 100; /* for ever, but not so often that its report grows huge */
    check(cuInit(0), "cuInit");
    check(cuDeviceGet(&dev, 0), "cuDeviceGet");
    check(cuCtxCreate_v2(&ctx, 0, dev), "cuCtxCreate");
    check(cuModuleLoadData(&mod, ptx), "cuModuleLoadData");
    check(cuModuleGetFunction(&fn, mod, "_Z5chainj"), "cuModuleGetFunction");
    for (int k = 0; times < 0 || k < times; k++) {
        check(cuLaunchKernel(fn, 4, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&n}, NULL), "cuLaunchKernel");
        check(cuCtxSynchronize(), "cuCtxSynchronize");
        printf("%d\n", k + 1);
        fflush(stdout);
    }
}

static int *volatile nowhere;

static int overflow(long depth) {
    volatile char room[4096];
    room[0] = (char)depth;
    return depth ? overflow(depth - 1) + room[0] : 0;
}

/* Runs in a child; its status must be 0. */
static void in_child(void (*what)(char **argv), char **argv) {
    int status = 0;
    pid_t child = fork();
    if (!child) {
        what(argv);
        exit(0);
    }
    if (waitpid(child, &status, 0) != child || status)
        exit(4);
}

static void nothing(char **argv) {
    (void)argv;
}

static void one_launch(char **argv) {
    (void)argv;
    launch(1);
}

static void become_another(char **argv) {
    execl(argv[0], argv[0], "1", "exit", (char *)NULL);
    exit(5);
}

__attribute__((no_sanitize("undefined"))) static void crash(void) {
    *nowhere = 1;
}

int main(int argc, char **argv) {
    const char *end = argc > 2 ? argv[2] : "exit";
    if (!strcmp(end, "forked"))
        in_child(one_launch, argv);
    launch(!strcmp(end, "for-ever") ? -1 : atoi(argv[1]));
    if (!strcmp(end, "abort"))
        abort();
    if (!strcmp(end, "crash"))
        crash();
    if (!strcmp(end, "overflow"))
        return overflow(1L << 40);
    if (!strcmp(end, "fork"))
        in_child(nothing, argv);
    if (!strcmp(end, "spawn"))
        in_child(become_another, argv);
    return 0;
}
