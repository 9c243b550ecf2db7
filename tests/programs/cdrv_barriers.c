// Barriers that not every thread comes to, or not on one path. argv[1] is the PTX file.
#include "drv.h"

int main(int argc, char **argv) {
    enum { BLOCKS = 12, THREADS = 256, N = BLOCKS * THREADS };
    static const char *const names[] = {"exited_warps", "exit_opens", "exited_lanes", "two_branches",
                                        "count_left",   "producers",  "leave_loop"};
    static unsigned got[N];
    CUmodule module;
    CUdeviceptr out;
    if (argc < 2)
        return 2;
    use_device();
    CHECK(cuModuleLoadData(&module, read_text(argv[1])));
    CHECK(cuMemAlloc(&out, sizeof got));
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        CUfunction f;
        void *args[] = {&out};
        CHECK(cuModuleGetFunction(&f, module, names[k]));
        CHECK(cuMemsetD8(out, 0, sizeof got));
        CHECK(cuLaunchKernel(f, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, args, NULL));
        CHECK(cuMemcpyDtoH(got, out, sizeof got));
        print_sum(names[k], got, sizeof got);
    }
    CHECK(cuMemFree(out));
    CHECK(cuModuleUnload(module));
    return 0;
}
