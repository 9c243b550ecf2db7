// Clusters of thread blocks: ranks and shapes, the barrier of a cluster, loads, stores and atomics in the shared memory of
// other blocks, addresses of it, barrier objects that other blocks arrive at, and what launches refuse.
#include "test.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ unsigned special(int which) {
    unsigned v = 0;
    switch (which) {
#define READ(n, name) case n: asm volatile("mov.u32 %0, %%" name ";" : "=r"(v)); break;
        READ(0, "cluster_ctaid.x") READ(1, "cluster_ctaid.y") READ(2, "cluster_ctaid.z")
        READ(3, "cluster_nctaid.x") READ(4, "cluster_nctaid.y") READ(5, "cluster_nctaid.z")
        READ(6, "cluster_ctarank") READ(7, "cluster_nctarank")
        READ(8, "clusterid.x") READ(9, "clusterid.y") READ(10, "clusterid.z")
        READ(11, "nclusterid.x") READ(12, "nclusterid.y") READ(13, "nclusterid.z")
    case 14:
        asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(v));
        break;
    }
    return v;
}

// 16 words for each block, in the order of the grid.
__global__ void registers(unsigned *out) {
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    if (threadIdx.x < 15)
        out[block * 16 + threadIdx.x] = special(threadIdx.x);
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 15)
        out[block * 16 + 15] = cluster.block_rank() * 1000 + cluster.num_blocks() * 100000 + cluster.num_threads();
}

__global__ void __cluster_dims__(4, 1, 1) fixed(unsigned *out) {
    __shared__ unsigned mine[256];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), n = cluster.num_blocks(), t = threadIdx.x;
    mine[t] = blockIdx.x * 1000 + t;
    cluster.sync();
    unsigned sum = 0;
    for (unsigned k = 0; k < n; k++)
        sum = sum * 7 + cluster.map_shared_rank(mine, (rank + k) % n)[(t * 5 + k) % 256];
    cluster.sync();
    // Everybody writes to the next block, which finds it behind the barrier.
    cluster.map_shared_rank(mine, (rank + 1) % n)[255 - t] = sum;
    cluster.sync();
    out[blockIdx.x * 256 + t] = mine[t] + 3 * sum;
}

// A histogram spread over the shared memory of a cluster.
__global__ void histogram(const unsigned *in, unsigned n, unsigned *bins, unsigned nbins) {
    extern __shared__ unsigned part[];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned per = nbins / cluster.num_blocks(), rank = cluster.block_rank();
    for (unsigned i = threadIdx.x; i < per; i += blockDim.x)
        part[i] = 0;
    cluster.sync();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned bin = in[i] % nbins;
        atomicAdd(cluster.map_shared_rank(part, bin / per) + bin % per, 1u);
    }
    cluster.sync();
    for (unsigned i = threadIdx.x; i < per; i += blockDim.x)
        atomicAdd(&bins[rank * per + i], part[i]);
}

// Addresses: windows, ranks, instructions with 32 and 64 bits.
__global__ void addresses(unsigned *out) {
    __shared__ unsigned word[32];
    unsigned rank = special(6), n = special(7), t = threadIdx.x, at = unsigned(__cvta_generic_to_shared(&word[t])), other = (rank + 1) % n;
    word[t] = rank * 100 + t;
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    unsigned far, got, of, bits = 0;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(at), "r"(other));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(got) : "r"(far));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(of) : "r"(far));
    unsigned long long generic = reinterpret_cast<unsigned long long>(&word[t]), remote;
    unsigned got2, of2, of3;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(remote) : "l"(generic), "r"(other));
    asm volatile("ld.u32 %0, [%1];" : "=r"(got2) : "l"(remote));
    asm volatile("getctarank.u64 %0, %1;" : "=r"(of2) : "l"(remote));
    asm volatile("getctarank.u64 %0, %1;" : "=r"(of3) : "l"(generic));
    auto space = [&](unsigned long long p, int bit) {
        unsigned a, b, c;
        asm volatile("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(a) : "l"(p));
        asm volatile("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(b) : "l"(p));
        asm volatile("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(c) : "l"(p));
        bits |= (a | b << 1 | c << 2) << bit;
    };
    space(generic, 0);
    space(remote, 4);
    space(reinterpret_cast<unsigned long long>(out), 8);
    cg::cluster_group cluster = cg::this_cluster();
    bits |= cluster.query_shared_rank(&word[t]) << 16 | cluster.query_shared_rank(cluster.map_shared_rank(&word[t], other)) << 24;
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    unsigned *o = out + (blockIdx.x * 32 + t) * 6;
    o[0] = got, o[1] = of, o[2] = got2, o[3] = of2, o[4] = of3, o[5] = bits;
}

// Work between arriving and waiting; atomics of several kinds on the first block's memory.
__global__ void split(unsigned *out) {
    __shared__ unsigned slot[8];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), t = threadIdx.x;
    if (t < 8)
        slot[t] = t == 3 ? 0xffffffffu : t == 4 ? 0xffffffffu : 0;
    cluster.sync();
    unsigned *first = cluster.map_shared_rank(slot, 0);
    atomicAdd(&first[0], t);
    atomicMax(&first[1], rank * 1000 + t);
    atomicOr(&first[2], 1u << t % 32);
    atomicMin(&first[3], 77 + rank * 100 + t);
    atomicAnd(&first[4], ~(1u << rank));
    atomicXor(&first[5], t * 3 + rank);
    atomicInc(&first[6], 1000000u);
    if (t == 0)
        while (atomicCAS(&first[7], rank, rank + 1) != rank) // one block after the other
            ;
    auto token = cluster.barrier_arrive();
    unsigned local = 0;
    for (unsigned k = 0; k < 50; k++)
        local = local * 5 + t;
    cluster.barrier_wait(std::move(token));
    if (t < 8)
        out[blockIdx.x * 8 + t] = first[t] + (local & 0);
    cluster.sync();
}

// A barrier object in the first block that all others arrive at.
__global__ void remote_arrive(unsigned *out) {
    __shared__ alignas(8) unsigned long long object;
    __shared__ unsigned mail[16];
    unsigned rank = special(6), n = special(7), at = unsigned(__cvta_generic_to_shared(&object)), to = unsigned(__cvta_generic_to_shared(mail));
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(n));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0) {
        unsigned far, box;
        asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(far) : "r"(at));
        asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(box) : "r"(to));
        asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(box + 4 * rank), "r"(rank * rank + 1) : "memory");
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(far) : "memory");
    }
    if (rank == 0) {
        unsigned done = 0;
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done)
                         : "r"(at)
                         : "memory");
        if (threadIdx.x < n)
            out[blockIdx.x / n * 16 + threadIdx.x] = mail[threadIdx.x];
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

template <class K, class... A> static cudaError_t launch(K kernel, dim3 grid, dim3 block, size_t shared, dim3 cluster, A... args) {
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute a[1];
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    a[0].id = cudaLaunchAttributeClusterDimension;
    a[0].val.clusterDim.x = cluster.x;
    a[0].val.clusterDim.y = cluster.y;
    a[0].val.clusterDim.z = cluster.z;
    config.attrs = a;
    config.numAttrs = cluster.x ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, args...);
}

static void refused(const char *what, cudaError_t e) {
    printf("%s: %s\n", what, cudaGetErrorName(e));
    cudaGetLastError();
}

int main() {
    dev_array<unsigned> out(1 << 16);
    auto clear = [&] { CHECK(cudaMemset(out, 0, out.count * sizeof(unsigned))); };
    struct {
        dim3 grid, cluster;
    } shapes[] = {{{8, 1, 1}, {2, 1, 1}}, {{4, 4, 1}, {2, 2, 1}}, {{2, 4, 4}, {1, 2, 4}}, {{8, 2, 1}, {8, 1, 1}}, {{6, 1, 1}, {3, 1, 1}}, {{4, 1, 1}, {1, 1, 1}}, {{4, 1, 1}, {0, 0, 0}}};
    for (auto &s : shapes) {
        clear();
        CHECK(launch(registers, s.grid, 32, 0, s.cluster, out.ptr));
        SYNC();
        print_sum("registers", out.get());
    }
    clear();
    registers<<<dim3(3, 2), 32>>>(out);
    SYNC();
    print_sum("plain launch", out.get());
    clear();
    fixed<<<16, 256>>>(out);
    SYNC();
    print_sum("fixed", out.get());
    for (unsigned size : {1u, 2u, 4u, 8u}) {
        random_source rnd(3);
        std::vector<unsigned> in(20000);
        for (auto &v : in)
            v = rnd.below(5000);
        dev_array<unsigned> data(in.size());
        data.put(in);
        clear();
        CHECK(launch(histogram, 16, 128, 1024 / size * sizeof(unsigned), size, data.ptr, unsigned(in.size()), out.ptr, 1024u));
        SYNC();
        print_sum("histogram", out.get());
    }
    clear();
    CHECK(launch(addresses, 8, 32, 0, 4, out.ptr));
    SYNC();
    print_sum("addresses", out.get());
    clear();
    CHECK(launch(split, 12, 96, 0, 6, out.ptr));
    SYNC();
    print_sum("split", out.get());
    clear();
    CHECK(launch(remote_arrive, 16, 64, 0, 8, out.ptr));
    SYNC();
    print_sum("remote arrive", out.get());

    refused("grid is no multiple", launch(registers, 6, 32, 0, 4, out.ptr));
    refused("cluster of 16", launch(registers, 16, 32, 0, 16, out.ptr));
    refused("other than fixed", launch(fixed, 8, 256, 0, 2, out.ptr));
    refused("as fixed", launch(fixed, 8, 256, 0, 4, out.ptr));
    fixed<<<6, 256>>>(out);
    refused("no multiple of fixed", cudaGetLastError());
    refused("zero", launch(registers, 8, 32, 0, dim3(2, 0, 1), out.ptr));
    refused("nonportable", cudaFuncSetAttribute(registers, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    clear();
    refused("cluster of 16 allowed", launch(registers, 32, 32, 0, 16, out.ptr));
    SYNC();
    print_sum("sixteen", out.get());
    refused("cluster of 32", launch(registers, 32, 32, 0, 32, out.ptr));
    cudaFuncAttributes attr;
    CHECK(cudaFuncGetAttributes(&attr, fixed));
    printf("fixed: must be set %d, %d x %d x %d, nonportable %d, policy %d\n", attr.clusterDimMustBeSet, attr.requiredClusterWidth,
           attr.requiredClusterHeight, attr.requiredClusterDepth, attr.nonPortableClusterSizeAllowed, attr.clusterSchedulingPolicyPreference);
    CHECK(cudaFuncGetAttributes(&attr, registers));
    printf("registers: must be set %d, %d x %d x %d, nonportable %d, policy %d\n", attr.clusterDimMustBeSet, attr.requiredClusterWidth,
           attr.requiredClusterHeight, attr.requiredClusterDepth, attr.nonPortableClusterSizeAllowed, attr.clusterSchedulingPolicyPreference);
    return finish();
}
