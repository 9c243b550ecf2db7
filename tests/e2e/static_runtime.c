/* Stands for a program with the CUDA runtime linked in statically: device code, no CUDA library that is
 * needed, and a runtime of its own, whose functions find no driver. */
#include <stddef.h>
#include <stdio.h>

__attribute__((section(".nv_fatbin"), used)) static const char device_code[] = "device code";

/* Long enough for a jump, and not looked into by the compiler. */
#ifdef __clang__
#define RUNTIME __attribute__((noinline, optnone, aligned(16)))
#else
#define RUNTIME __attribute__((noipa, aligned(16)))
#endif
#define NO_DRIVER                                                                                            \
    __asm__ volatile(".skip 16, 0x90");                                                                      \
    return 35

RUNTIME static int cudaLaunchKernel(void) {
    NO_DRIVER;
}

RUNTIME static int cudaGetDeviceCount(int *n) {
    *n = -1;
    NO_DRIVER;
}

RUNTIME static int cudaMalloc(void **p, size_t size) {
    *p = (void *)size;
    NO_DRIVER;
}

RUNTIME static int cudaMemset(void *p, int value, size_t size) {
    (void)p, (void)value, (void)size;
    NO_DRIVER;
}

int main(void) {
    int n, bad = cudaGetDeviceCount(&n);
    void *p;
    bad |= cudaMalloc(&p, 64) | cudaMemset(p, 1, 64);
    printf("%d devices, errors %d, a launch of nothing %d\n", n, bad, cudaLaunchKernel() != 35);
    return 0;
}
