// What the driver-API programs share: the declarations (the toolkit's, or Reprise's own), checked calls,
// checksums.
#pragma once
#ifdef USE_TOOLKIT_HEADER
#include <cuda.h>
#else
#include "reprise_cuda.h"
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static inline const char *error_name(CUresult err) {
    const char *name = NULL;
    return cuGetErrorName(err, &name) == CUDA_SUCCESS ? name : "unknown";
}

#define CHECK(call) check_call((call), #call, __LINE__)
static inline void check_call(CUresult err, const char *what, int line) {
    if (err == CUDA_SUCCESS)
        return;
    printf("line %d: %s: %s\n", line, what, error_name(err));
    exit(2);
}

static inline void verdict(const char *name, int ok) {
    printf("%s %s\n", name, ok ? "OK" : "MISMATCH");
    failures += !ok;
}

static inline void print_sum(const char *name, const void *data, size_t bytes) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)data)[i]) * 0x100000001b3u;
    printf("%s %016llx\n", name, (unsigned long long)hash);
}

// Initialises the driver and makes the primary context of device 0 current.
static inline CUdevice use_device(void) {
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    return device;
}

// The whole of a text file, with a zero at its end.
static inline char *read_text(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) {
        printf("no file\n");
        exit(2);
    }
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char *text = (char *)calloc(1, (size_t)size + 1);
    if (fread(text, 1, (size_t)size, f) != (size_t)size)
        exit(2);
    fclose(f);
    return text;
}
