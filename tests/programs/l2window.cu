// The part of the L2 that is set aside for data to stay, and windows of streams that ask for it. Sizes are told
// as shares of what the device says it has.
#include "test.h"

__global__ void touch(int *p) {
    p[threadIdx.x]++;
}

static void answer(const char *what, cudaError_t err) {
    printf("%s: %s\n", what, cudaGetErrorName(err));
    (void)cudaGetLastError();
}

int main() {
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    size_t most = p.persistingL2CacheMaxSize, window = p.accessPolicyMaxWindowSize, part = p.l2CacheSize / 16, got;
    printf("persisting %zu sixteenths of the L2, window %zu MB\n", most / part, window >> 20);
    CHECK(cudaDeviceGetLimit(&got, cudaLimitPersistingL2CacheSize));
    printf("at first %zu sixteenths\n", got / part);
    for (size_t want : {size_t(0), size_t(1), part, part + 1, most, most + 1, size_t(p.l2CacheSize)}) {
        cudaError_t err = cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, want);
        CHECK(cudaDeviceGetLimit(&got, cudaLimitPersistingL2CacheSize));
        printf("asked for %zu.%d sixteenths: %s, %zu\n", want / part, want % part != 0, cudaGetErrorName(err), got / part);
        (void)cudaGetLastError();
    }
    for (size_t want : {16, 32, 64, 128, 256}) {
        cudaError_t err = cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, want);
        CHECK(cudaDeviceGetLimit(&got, cudaLimitMaxL2FetchGranularity));
        printf("fetch %zu: %s, %zu\n", want, cudaGetErrorName(err), got);
        (void)cudaGetLastError();
    }
    cudaStream_t s, other;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamCreate(&other));
    dev_array<int> d(1 << 20);
    struct {
        size_t bytes;
        float ratio;
        int hit, miss;
    } windows[] = {{1 << 20, 1, 2, 1}, {0, 0, 0, 0},      {window, 0.5f, 2, 1}, {window + 1, 0.5f, 2, 1}, {1 << 20, 1.5f, 2, 1},
                   {1 << 20, -1, 2, 1}, {1 << 20, 1, 1, 2}, {1 << 20, 1, 0, 0}};
    for (auto &w : windows) {
        cudaStreamAttrValue v = {};
        v.accessPolicyWindow.base_ptr = d.ptr;
        v.accessPolicyWindow.num_bytes = w.bytes;
        v.accessPolicyWindow.hitRatio = w.ratio;
        v.accessPolicyWindow.hitProp = cudaAccessProperty(w.hit);
        v.accessPolicyWindow.missProp = cudaAccessProperty(w.miss);
        cudaError_t err = cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v);
        (void)cudaGetLastError();
        touch<<<1, 32, 0, s>>>(d);
        SYNC();
        memset(&v, 0x55, sizeof v);
        CHECK(cudaStreamGetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v));
        printf("%s: %d, %s, %g %d %d\n", cudaGetErrorName(err), v.accessPolicyWindow.base_ptr == d.ptr,
               v.accessPolicyWindow.num_bytes == window ? "all" : v.accessPolicyWindow.num_bytes ? "some" : "none",
               v.accessPolicyWindow.hitRatio, v.accessPolicyWindow.hitProp, v.accessPolicyWindow.missProp);
    }
    CHECK(cudaStreamCopyAttributes(other, s));
    cudaStreamAttrValue v;
    memset(&v, 0x55, sizeof v);
    CHECK(cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &v));
    printf("copied %zu\n", v.accessPolicyWindow.num_bytes);
    answer("reset", cudaCtxResetPersistingL2Cache());
    return finish();
}
