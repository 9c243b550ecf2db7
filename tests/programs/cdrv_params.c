// Parameters given as one buffer: of the right size, padded, too long, too short, not at all. argv[1] is the
// PTX file.
#include "drv.h"

static CUfunction fill;
static CUdeviceptr p;

static void try_buffer(const char *what, const void *buffer, size_t size) {
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    int got = 0;
    CHECK(cuMemsetD8(p, 0, 256));
    CUresult launched = cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra);
    CUresult ended = cuCtxSynchronize();
    CHECK(cuMemcpyDtoH(&got, p, sizeof got));
    printf("%s: %s, %s, %d\n", what, error_name(launched), error_name(ended), got);
}

int main(int argc, char **argv) {
    CUmodule module;
    if (argc < 2)
        return 2;
    use_device();
    CHECK(cuModuleLoad(&module, argv[1]));
    CHECK(cuModuleGetFunction(&fill, module, "fill"));
    CHECK(cuMemAlloc(&p, 4096));
    struct {
        CUdeviceptr p;
        int value, more[5];
    } buffer = {p, 9, {1, 2, 3, 4, 5}};
    try_buffer("exact", &buffer, 12);
    try_buffer("padded", &buffer, 16);
    try_buffer("one byte more", &buffer, 13);
    try_buffer("too long", &buffer, 24);
    try_buffer("one byte less", &buffer, 11);
    try_buffer("without the last", &buffer, 8);
    try_buffer("empty", &buffer, 0);
    try_buffer("none", NULL, 12);
    void *both[] = {&buffer.p, &buffer.value};
    void *end[] = {CU_LAUNCH_PARAM_END};
    printf("end at once: %s\n", error_name(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, end)));
    printf("both: %s\n", error_name(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, both, end)));
    printf("neither: %s\n", error_name(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL)));
    try_buffer("as before", &buffer, 12);
    return 0;
}
