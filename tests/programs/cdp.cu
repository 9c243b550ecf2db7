// Kernels that launch kernels: arguments, shapes and shared memory of children, their order in a block's stream, streams
// and events of their own, launches at the end of the parent and without any order, kernels that launch themselves,
// copies, errors, and a child that faults.
#include "test.h"

__device__ unsigned trace[4096], traced;

__device__ void note(unsigned what) {
    trace[atomicAdd(&traced, 1)] = what;
}

__global__ void reset() {
    traced = 0;
    for (int i = 0; i < 4096; i++)
        trace[i] = 0;
}

struct big {
    double d[10];
    char c[7];
    short s;
};

__global__ void child(unsigned *out, big b, char tag, unsigned n) {
    extern __shared__ unsigned mem[];
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), size = blockDim.x * blockDim.y * blockDim.z;
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    mem[t] = t + n;
    __syncthreads();
    out[block * size + t] = mem[size - 1 - t] * 3 + unsigned(b.d[t % 10] * 10) + b.c[t % 7] + b.s + tag;
}

__global__ void shapes(unsigned *out) {
    big b;
    for (int i = 0; i < 10; i++)
        b.d[i] = i * 1.5;
    for (int i = 0; i < 7; i++)
        b.c[i] = char(i * i);
    b.s = -5;
    child<<<3, 64, 64 * sizeof(unsigned)>>>(out, b, 'x', 100);
    child<<<dim3(2, 2, 2), dim3(4, 4, 2), 32 * sizeof(unsigned)>>>(out + 192, b, 'y', 200);
}

// Launches of one block into the default stream follow each other.
__global__ void scale(unsigned *p, unsigned n, unsigned by, unsigned add) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] = p[i] * by + add;
}

__global__ void ordered(unsigned *p, unsigned n) {
    unsigned *mine = p + blockIdx.x * n;
    if (threadIdx.x == 0)
        for (unsigned k = 1; k <= 5; k++)
            scale<<<4, 64>>>(mine, n, k + 1, k * 10 + blockIdx.x);
}

// What the parent wrote before a launch its children see; what they write the host sees.
__global__ void reader(const unsigned *in, unsigned *out) {
    out[threadIdx.x] = in[threadIdx.x] ^ 0x5a5a;
}

__global__ void writer(unsigned *in, unsigned *out) {
    in[threadIdx.x] = threadIdx.x * 11;
    __syncthreads();
    if (threadIdx.x == 0)
        reader<<<1, 128>>>(in, out);
}

__global__ void mark(unsigned what) {
    note(what);
}

__global__ void chain(unsigned what, unsigned depth);

// Tail launches begin when the grid and all it launched is over, one after the other.
__global__ void tails() {
    mark<<<1, 1, 0, cudaStreamTailLaunch>>>(100);
    mark<<<1, 1, 0, cudaStreamTailLaunch>>>(101);
    chain<<<1, 1>>>(1, 3);
    mark<<<1, 1, 0, cudaStreamTailLaunch>>>(102);
}

__global__ void chain(unsigned what, unsigned depth) {
    note(what);
    if (depth)
        chain<<<1, 1>>>(what + 1, depth - 1);
}

__global__ void again(unsigned *count, unsigned limit) {
    if (++*count < limit)
        again<<<1, 1, 0, cudaStreamTailLaunch>>>(count, limit);
}

// Many independent children, and grandchildren.
__global__ void add(unsigned *p, unsigned v) {
    atomicAdd(p, v * (threadIdx.x + 1));
}

__global__ void forget(unsigned *p) {
    add<<<2, 32, 0, cudaStreamFireAndForget>>>(p, threadIdx.x + 1);
    add<<<1, 16, 0, cudaStreamFireAndForget>>>(p + 1, blockIdx.x + 1);
}

// Sorting by launches of itself.
__global__ void quicksort(int *a, int low, int high, int depth) {
    if (high - low < 16 || depth > 20) {
        for (int i = low + 1; i <= high; i++) {
            int v = a[i], j = i - 1;
            for (; j >= low && a[j] > v; j--)
                a[j + 1] = a[j];
            a[j + 1] = v;
        }
        return;
    }
    int pivot = a[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (a[i] < pivot)
            i++;
        while (a[j] > pivot)
            j--;
        if (i <= j) {
            int t = a[i];
            a[i++] = a[j];
            a[j--] = t;
        }
    }
    if (low < j) {
        cudaStream_t s;
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, s>>>(a, low, j, depth + 1);
        cudaStreamDestroy(s);
    }
    if (i < high) {
        cudaStream_t s;
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, s>>>(a, i, high, depth + 1);
        cudaStreamDestroy(s);
    }
}

__global__ void events(unsigned *p) {
    cudaStream_t s[2];
    cudaEvent_t e;
    unsigned r = 0;
    for (int k = 0; k < 2; k++)
        r |= cudaStreamCreateWithFlags(&s[k], cudaStreamNonBlocking);
    r |= cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    scale<<<2, 32, 0, s[0]>>>(p, 64, 3, 1);
    r |= cudaEventRecord(e, s[0]);
    r |= cudaStreamWaitEvent(s[1], e, 0);
    scale<<<2, 32, 0, s[1]>>>(p, 64, 5, 2);
    r |= cudaEventDestroy(e);
    for (int k = 0; k < 2; k++)
        r |= cudaStreamDestroy(s[k]);
    p[64] = r;
}

__global__ void copies(unsigned *p) {
    p[200] = cudaMemsetAsync(p, 0x11, 128);
    p[201] = cudaMemcpyAsync(p + 32, p, 64, cudaMemcpyDeviceToDevice);
    p[202] = cudaMemset2DAsync(p + 64, 32, 0x22, 8, 4);
    p[203] = cudaMemcpy2DAsync(p + 128, 16, p + 64, 32, 8, 4, cudaMemcpyDeviceToDevice);
}

__global__ void nothing() {
}

__global__ void __launch_bounds__(1024) wide(unsigned *p) {
    __shared__ unsigned big[4096];
    big[threadIdx.x] = threadIdx.x;
    p[0] = big[threadIdx.x];
}

// Errors of launches, as the device tells them.
__global__ void errors(int *e) {
    int n = 0;
    nothing<<<1, 2048>>>();
    e[n++] = cudaGetLastError();
    e[n++] = cudaGetLastError();
    nothing<<<0, 32>>>();
    e[n++] = cudaPeekAtLastError();
    e[n++] = cudaGetLastError();
    nothing<<<1, 0>>>();
    e[n++] = cudaGetLastError();
    nothing<<<1, 32, 300000>>>();
    e[n++] = cudaGetLastError();
    nothing<<<1, 32, 60000>>>();
    e[n++] = cudaGetLastError();
    nothing<<<dim3(1, 70000), 32>>>();
    e[n++] = cudaGetLastError();
    nothing<<<1, dim3(1, 1, 65)>>>();
    e[n++] = cudaGetLastError();
    nothing<<<1, 32>>>();
    e[n++] = cudaGetLastError();
    cudaStream_t s;
    e[n++] = cudaStreamCreateWithFlags(&s, cudaStreamDefault);
    e[n++] = cudaGetLastError();
    cudaEvent_t v;
    e[n++] = cudaEventCreateWithFlags(&v, cudaEventDefault);
    e[n++] = cudaGetLastError();
    int device = 7, count = 7, value = 7;
    e[n++] = cudaGetDevice(&device);
    e[n++] = device;
    e[n++] = cudaGetDeviceCount(&count);
    e[n++] = count;
    e[n++] = cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0);
    e[n++] = value;
    e[n++] = cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0);
    e[n++] = value;
    e[n++] = cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0);
    e[n++] = value;
    e[n++] = cudaDeviceGetAttribute(&value, cudaDeviceAttr(9999), 0);
    size_t limit = 0;
    e[n++] = cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount);
    e[n++] = int(limit);
    e[n++] = cudaDeviceGetLimit(&limit, cudaLimitStackSize);
    e[n++] = int(limit);
    e[n++] = cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
    e[n++] = int(limit);
    cudaFuncAttributes attr;
    e[n++] = cudaFuncGetAttributes(&attr, wide);
    e[n++] = attr.maxThreadsPerBlock;
    e[n++] = int(attr.sharedSizeBytes);
    e[n++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, wide, 1024, 0);
    e[n++] = value;
    int version = 0;
    e[n++] = cudaRuntimeGetVersion(&version);
    void *p = nullptr;
    e[n++] = cudaMalloc(&p, 256);
    e[n++] = p != nullptr;
    e[n++] = cudaFree(p);
    e[n++] = -1;
}

// A child that faults: the host is told, as of its parent.
__global__ void wild(int *p) {
    p[0] = 1;
}

__global__ void faulty() {
    wild<<<1, 1>>>(reinterpret_cast<int *>(16));
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 500);
    dev_array<unsigned> out(4096);
    auto clear = [&] { CHECK(cudaMemset(out, 0, out.count * sizeof(unsigned))); };
    clear();
    shapes<<<1, 1>>>(out);
    SYNC();
    print_sum("shapes", out.get());
    clear();
    ordered<<<4, 32>>>(out, 256);
    SYNC();
    print_sum("ordered", out.get());
    clear();
    writer<<<1, 128>>>(out, out + 128);
    SYNC();
    print_sum("visible", out.get());
    reset<<<1, 1>>>();
    tails<<<1, 1>>>();
    mark<<<1, 1>>>(999);
    SYNC();
    unsigned seen[4096], length;
    CHECK(cudaMemcpyFromSymbol(seen, trace, sizeof seen));
    CHECK(cudaMemcpyFromSymbol(&length, traced, sizeof length));
    printf("tails:");
    for (unsigned i = 0; i < length; i++)
        printf(" %u", seen[i]);
    printf("\n");
    clear();
    again<<<1, 1>>>(out, 40);
    SYNC();
    print_sum("again", out.get());
    clear();
    forget<<<8, 16>>>(out);
    SYNC();
    print_sum("forget", out.get());
    random_source rnd(5);
    std::vector<int> v(n);
    for (auto &x : v)
        x = int(rnd.below(100000));
    dev_array<int> a(n);
    a.put(v);
    quicksort<<<1, 1>>>(a, 0, n - 1, 0);
    SYNC();
    print_sum("quicksort", a.get());
    clear();
    events<<<1, 1>>>(out);
    SYNC();
    print_sum("events", out.get());
    clear();
    copies<<<1, 1>>>(out);
    SYNC();
    print_sum("copies", out.get());
    dev_array<int> e(64);
    CHECK(cudaMemset(e, 0, 64 * sizeof(int)));
    errors<<<1, 1>>>(e);
    SYNC();
    printf("errors:");
    for (int x : e.get())
        if (x == -1)
            break;
        else
            printf(" %d", x);
    printf("\n");
    faulty<<<1, 1>>>();
    printf("launch: %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("sync: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("copy: %s\n", cudaGetErrorName(cudaMemset(out, 0, 16)));
    return failures ? 1 : 0;
}
