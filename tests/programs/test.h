// Helpers shared by the CUDA test programs: checked API calls, deterministic input, checksums, verdicts.
// What a program prints must be the same on every run and every GPU: no times, addresses or device names.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

static int failures;

// Ends the program when a CUDA call that should succeed fails.
#define CHECK(call) check_call((call), #call, __LINE__)
static inline void check_call(cudaError_t err, const char *what, int line) {
    if (err == cudaSuccess)
        return;
    printf("line %d: %s: %s\n", line, what, cudaGetErrorName(err));
    exit(2);
}

// Waits for the launches before it and checks both the launch and the execution error.
static inline void sync_check(int line) {
    check_call(cudaGetLastError(), "launch", line);
    check_call(cudaDeviceSynchronize(), "kernel", line);
}
#define SYNC() sync_check(__LINE__)

// FNV-1a over the bytes of a result.
static inline uint64_t fnv(const void *data, size_t bytes) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ static_cast<const unsigned char *>(data)[i]) * 0x100000001b3u;
    return hash;
}

template <class T> static void print_sum(const char *name, const std::vector<T> &v) {
    printf("%s %016llx\n", name, static_cast<unsigned long long>(fnv(v.data(), v.size() * sizeof(T))));
}

static inline void verdict(const char *name, bool ok) {
    printf("%s %s\n", name, ok ? "OK" : "MISMATCH");
    failures += !ok;
}

// Largest error relative to max(1, |reference|).
template <class T> static double max_error(const std::vector<T> &got, const std::vector<T> &want) {
    double worst = 0;
    for (size_t i = 0; i < want.size(); i++) {
        double scale = std::fmax(1.0, std::fabs(double(want[i])));
        double err = std::fabs(double(got[i]) - double(want[i])) / scale;
        worst = err > worst || std::isnan(err) ? err : worst;
    }
    return worst;
}

// SplitMix64: the same numbers on every machine.
struct random_source {
    uint64_t state;
    explicit random_source(uint64_t seed) : state(seed) {}
    uint32_t next() {
        uint64_t z = (state += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return uint32_t((z ^ (z >> 31)) >> 32);
    }
    uint32_t below(uint32_t n) {
        return next() % n;
    }
    float unit() { // [0, 1), 24 bits
        return float(next() >> 8) * 0x1p-24f;
    }
};

// A device array that lives as long as its scope.
template <class T> struct dev_array {
    T *ptr = nullptr;
    size_t count;
    explicit dev_array(size_t n) : count(n) {
        CHECK(cudaMalloc(&ptr, n * sizeof(T)));
        CHECK(cudaMemset(ptr, 0, n * sizeof(T)));
    }
    explicit dev_array(const std::vector<T> &v) : count(v.size()) {
        CHECK(cudaMalloc(&ptr, count * sizeof(T)));
        put(v);
    }
    dev_array(const dev_array &) = delete;
    ~dev_array() {
        cudaFree(ptr);
    }
    void put(const std::vector<T> &v) {
        CHECK(cudaMemcpy(ptr, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    std::vector<T> get() const {
        std::vector<T> v(count);
        CHECK(cudaMemcpy(v.data(), ptr, count * sizeof(T), cudaMemcpyDeviceToHost));
        return v;
    }
    operator T *() const {
        return ptr;
    }
};

static inline int size_arg(int argc, char **argv, int fallback) {
    return argc > 1 ? atoi(argv[1]) : fallback;
}

static inline int div_up(int a, int b) {
    return (a + b - 1) / b;
}

static inline int finish() {
    CHECK(cudaDeviceSynchronize());
    return failures ? 1 : 0;
}
