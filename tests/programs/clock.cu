// Clocks run forward: clock, clock64, globaltimer around dependent work, nanosleep; and the special registers
// that say where a thread is.
#include "test.h"

__global__ void clocks(int *ok, int *sink) {
    long long a = clock64(), wall, wall2;
    unsigned c = unsigned(clock());
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(wall)::"memory");
    int x = threadIdx.x;
    for (int i = 0; i < 200; i++)
        x = x * 1103515245 + 12345;
    sink[threadIdx.x] = x;
    __nanosleep(100);
    long long b = clock64();
    unsigned d = unsigned(clock());
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(wall2)::"memory");
    ok[threadIdx.x] = (b > a) + 2 * (d - c > 0 && d - c < 0x80000000u) + 4 * (wall2 >= wall) + 8 * (a > 0);
}

__global__ void places(unsigned *out) {
    unsigned lane, warp, nwarp, sm, nsm, le, lt, ge, gt, eq, grid;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm("mov.u32 %0, %%nwarpid;" : "=r"(nwarp));
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    asm("mov.u32 %0, %%nsmid;" : "=r"(nsm));
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
    asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
    asm("mov.u32 %0, %%nctaid.z;" : "=r"(grid));
    unsigned rank = ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * blockDim.x *
                        blockDim.y * blockDim.z +
                    (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    bool sane = sm < nsm && warp < nwarp && le == (lt | eq) && ge == ~lt && gt == ~le && eq == 1u << lane &&
                grid == gridDim.z;
    out[rank] = sane ? rank * 64 + lane : 0xdeadu;
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 64);
    dev_array<int> ok(n), sink(n);
    clocks<<<1, n>>>(ok, sink);
    SYNC();
    bool all = true;
    for (int v : ok.get())
        all = all && v == 15;
    verdict("clocks", all);
    dim3 grid(3, 2, 2), block(5, 4, 3);
    dev_array<unsigned> out(12 * 60);
    places<<<grid, block>>>(out);
    SYNC();
    print_sum("places", out.get());
    return finish();
}
