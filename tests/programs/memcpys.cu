// Every shape of copy and fill: 1D in all directions, 2D pitched, 3D with offsets, to and from symbols,
// arrays, sets of bytes and rows, and overlapping kinds through unified addressing.
#include "test.h"

__device__ int symbol[100];
__constant__ float weights[16];
__device__ double scalar = 2.5;
__device__ struct {
    int a;
    char b[12];
} record = {7, "initial"};

__global__ void use_symbols(float *out) {
    int t = threadIdx.x;
    symbol[t] = symbol[t] * 2 + int(weights[t & 15]);
    if (t == 0) {
        scalar *= 2;
        record.a++;
        record.b[0] = 'I';
        *out = weights[15];
    }
}

__global__ void pitched_sum(const char *base, size_t pitch, int w, int h, int *out) {
    int y = threadIdx.x, sum = 0;
    if (y >= h)
        return;
    const int *row = reinterpret_cast<const int *>(base + y * pitch);
    for (int x = 0; x < w; x++)
        sum += row[x] * (x + 1);
    out[y] = sum;
}

static std::vector<int> iota(int n, int step) {
    std::vector<int> v(n);
    for (int i = 0; i < n; i++)
        v[i] = i * step;
    return v;
}

static void symbols() {
    std::vector<int> init = iota(100, 3);
    std::vector<float> w(16);
    for (int i = 0; i < 16; i++)
        w[i] = i + 0.5f;
    CHECK(cudaMemcpyToSymbol(symbol, init.data(), 400));
    CHECK(cudaMemcpyToSymbol(symbol, init.data() + 50, 40, 20)); // ten of them at offset 20 bytes
    CHECK(cudaMemcpyToSymbolAsync(weights, w.data(), 64, 0, cudaMemcpyHostToDevice, 0));
    dev_array<float> out(1);
    use_symbols<<<1, 100>>>(out);
    SYNC();
    std::vector<int> got(100);
    CHECK(cudaMemcpyFromSymbol(got.data(), symbol, 400));
    print_sum("symbol", got);
    double d;
    CHECK(cudaMemcpyFromSymbol(&d, scalar, sizeof d));
    struct {
        int a;
        char b[12];
    } r;
    CHECK(cudaMemcpyFromSymbol(&r, record, sizeof r));
    printf("scalar %g record %d %s weight %g\n", d, r.a, r.b, out.get()[0]);
    void *address;
    size_t size;
    CHECK(cudaGetSymbolAddress(&address, symbol));
    CHECK(cudaGetSymbolSize(&size, symbol));
    int tenth;
    CHECK(cudaMemcpy(&tenth, static_cast<int *>(address) + 10, sizeof tenth, cudaMemcpyDeviceToHost));
    verdict("address", tenth == got[10] && size == 400);
}

static void flat() {
    std::vector<int> v = iota(1000, 7), back(1000);
    dev_array<int> a(v), b(1000);
    CHECK(cudaMemcpy(b, a + 10, 500 * sizeof(int), cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(b + 500, v.data(), 300 * sizeof(int), cudaMemcpyDefault));
    CHECK(cudaMemset(b + 800, 0x5a, 200 * sizeof(int) - 3));
    CHECK(cudaMemcpy(back.data(), b, 1000 * sizeof(int), cudaMemcpyDefault));
    print_sum("flat", back);
    CHECK(cudaMemcpy(back.data() + 1, back.data() + 500, 100 * sizeof(int), cudaMemcpyHostToHost));
    print_sum("host", back);
    CHECK(cudaMemcpy(back.data(), a, 0, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyPeer(b, 0, a, 0, 100));
    CHECK(cudaDeviceSynchronize());
}

static void two_d() {
    int w = 37, h = 21;
    std::vector<int> v = iota(w * h, 11), back(w * h), sums(h);
    char *p;
    size_t pitch;
    CHECK(cudaMallocPitch(&p, &pitch, w * sizeof(int), h));
    printf("pitch covers the row %d, is aligned %d\n", pitch >= w * sizeof(int), pitch % 32 == 0);
    CHECK(cudaMemset2D(p, pitch, 0x11, w * sizeof(int), h));
    CHECK(cudaMemcpy2D(p + 4 * sizeof(int), pitch, v.data(), w * sizeof(int), (w - 8) * sizeof(int), h - 2,
                       cudaMemcpyHostToDevice));
    dev_array<int> out(h);
    pitched_sum<<<1, 32>>>(p, pitch, w, h, out);
    SYNC();
    print_sum("rows", out.get());
    CHECK(cudaMemcpy2D(back.data(), w * sizeof(int), p, pitch, w * sizeof(int), h, cudaMemcpyDeviceToHost));
    print_sum("2d", back);
    dev_array<int> packed(w * h);
    CHECK(cudaMemcpy2DAsync(packed, w * sizeof(int), p, pitch, w * sizeof(int), h, cudaMemcpyDeviceToDevice,
                            0));
    verdict("packed", packed.get() == back);
    CHECK(cudaFree(p));
}

static void three_d() {
    cudaExtent size = make_cudaExtent(20 * sizeof(int), 10, 6);
    cudaPitchedPtr box;
    CHECK(cudaMalloc3D(&box, size));
    CHECK(cudaMemset3D(box, 0, size));
    std::vector<int> v = iota(20 * 10 * 6, 5), back(20 * 10 * 6, -1);
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(v.data(), 20 * sizeof(int), 20, 10);
    p.srcPos = make_cudaPos(4 * sizeof(int), 1, 2);
    p.dstPtr = box;
    p.dstPos = make_cudaPos(8 * sizeof(int), 3, 1);
    p.extent = make_cudaExtent(12 * sizeof(int), 6, 4);
    p.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&p));
    cudaMemcpy3DParms q = {};
    q.srcPtr = box;
    q.dstPtr = make_cudaPitchedPtr(back.data(), 20 * sizeof(int), 20, 10);
    q.extent = size;
    q.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&q));
    bool ok = true;
    for (int z = 0; z < 6; z++)
        for (int y = 0; y < 10; y++)
            for (int x = 0; x < 20; x++) {
                bool in = x >= 8 && y >= 3 && y < 9 && z >= 1 && z < 5;
                ok = ok && back[(z * 10 + y) * 20 + x] == (in ? v[((z + 1) * 10 + y - 2) * 20 + x - 4] : 0);
            }
    verdict("3d", ok);
    CHECK(cudaFree(box.ptr));
}

static void arrays() {
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>();
    cudaArray_t a, b;
    CHECK(cudaMallocArray(&a, &desc, 24, 12));
    CHECK(cudaMallocArray(&b, &desc, 24, 12));
    std::vector<int> v = iota(24 * 12, 9), back(24 * 12);
    CHECK(cudaMemcpy2DToArray(a, 0, 0, v.data(), 24 * sizeof(int), 24 * sizeof(int), 12,
                              cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy2DArrayToArray(b, 8, 2, a, 4, 1, 20, 9, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 24 * sizeof(int), 2, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2DFromArray(back.data(), 24 * sizeof(int), b, 0, 0, 24 * sizeof(int), 2,
                                cudaMemcpyDeviceToHost));
    verdict("array", memcmp(back.data(), v.data(), 48 * sizeof(int)) == 0);
    CHECK(cudaMemcpy2DFromArray(back.data(), 5 * sizeof(int), b, 8, 2, 5 * sizeof(int), 9,
                                cudaMemcpyDeviceToHost));
    verdict("part of an array", back[0] == v[24 + 1] && back[5 * 8 + 4] == v[9 * 24 + 5]);
    cudaChannelFormatDesc got;
    cudaExtent extent;
    unsigned flags;
    CHECK(cudaArrayGetInfo(&got, &extent, &flags, a));
    printf("array %d bits %zu x %zu\n", got.x, extent.width, extent.height);
    CHECK(cudaFreeArray(a));
    CHECK(cudaFreeArray(b));
}

int main() {
    symbols();
    flat();
    two_d();
    three_d();
    arrays();
    return finish();
}
