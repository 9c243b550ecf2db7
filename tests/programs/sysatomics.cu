// Atomics of system scope on managed and on mapped memory, while the host's thread does the same to the same
// places: words of 16, 32 and 64 bits, with and without a result, and a lock that both sides take.
#include "test.h"

struct cells {
    int add;
    unsigned flips;
    unsigned long long wide;
    unsigned short half;
    float sum;
    double wide_sum;
    int lock, guarded;
};

// CUDA's own function takes 16 bits within the GPU alone.
static __device__ unsigned short swap_half(unsigned short *p, unsigned short old, unsigned short next) {
    unsigned short was;
    asm volatile("atom.relaxed.sys.cas.b16 %0, [%1], %2, %3;"
                 : "=h"(was)
                 : "l"(p), "h"(old), "h"(next)
                 : "memory");
    return was;
}

__global__ void update(cells *c, int rounds, unsigned *seen) {
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x, last = 0;
    for (int k = 0; k < rounds; k++) {
        atomicAdd_system(&c->add, 3);
        last ^= atomicXor_system(&c->flips, id * 2654435761u + k);
        atomicAdd_system(&c->wide, 0x100000001ull);
        unsigned short old = c->half, was;
        while (threadIdx.x == 0 && (was = swap_half(&c->half, old, (unsigned short)(old + 1))) != old)
            old = was;
        atomicAdd_system(&c->sum, 1.0f);
        atomicAdd_system(&c->wide_sum, 0.5);
    }
    seen[id] = last;
}

__global__ void guarded(cells *c, int rounds) {
    for (int k = 0; k < rounds; k++) {
        while (atomicExch_system(&c->lock, 1))
            ;
        __threadfence_system();
        *(volatile int *)&c->guarded += 2;
        __threadfence_system();
        atomicExch_system(&c->lock, 0);
    }
}

template <class T> static void add(T *p, T v) {
    T old, next;
    __atomic_load(p, &old, __ATOMIC_RELAXED);
    do
        next = old + v;
    while (!__atomic_compare_exchange(p, &old, &next, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

// The host goes on for about as long as the device.
static void run(const char *name, cells *c, cells *on_device, int n) {
    const int rounds = 8, all = n * rounds, hosts = 20 * all;
    memset(c, 0, sizeof *c);
    dev_array<unsigned> seen(n);
    update<<<n / 64, 64>>>(on_device, rounds, seen);
    unsigned flips = 0;
    for (int i = 0; i < hosts; i++) {
        __atomic_fetch_add(&c->add, 5, __ATOMIC_SEQ_CST);
        __atomic_fetch_xor(&c->flips, i * 40503u, __ATOMIC_SEQ_CST);
        __atomic_fetch_add(&c->wide, 0x300000001ull, __ATOMIC_SEQ_CST);
        add(&c->half, (unsigned short)1);
        add(&c->sum, 2.0f);
        add(&c->wide_sum, 0.25);
        flips ^= i * 40503u;
    }
    for (int i = 0; i < all; i++)
        flips ^= i / rounds * 2654435761u + i % rounds;
    SYNC();
    printf("%s\n", name);
    verdict("add", c->add == 3 * all + 5 * hosts);
    verdict("xor", c->flips == flips);
    verdict("wide", c->wide == 0x100000001ull * all + 0x300000001ull * hosts);
    verdict("half", c->half == (unsigned short)(all / 64 + hosts));
    verdict("float", c->sum == 1.0f * all + 2.0f * hosts);
    verdict("double", c->wide_sum == 0.5 * all + 0.25 * hosts);

    guarded<<<4, 1>>>(on_device, 100);
    for (int k = 0; k < 400; k++) {
        while (__atomic_exchange_n(&c->lock, 1, __ATOMIC_ACQ_REL))
            ;
        *(volatile int *)&c->guarded += 1;
        __atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);
    }
    SYNC();
    verdict("lock", c->guarded == 1200);
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 2048);
    cells *managed, *mapped, *on_device;
    CHECK(cudaMallocManaged(&managed, sizeof *managed));
    run("managed", managed, managed, n);
    CHECK(cudaHostAlloc(&mapped, sizeof *mapped, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&on_device, mapped, 0));
    run("mapped", mapped, on_device, n);
    CHECK(cudaFree(managed));
    CHECK(cudaFreeHost(mapped));
    return finish();
}
