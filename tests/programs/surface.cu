// Surfaces: reads and writes of 1D, 2D and 3D arrays with the boundary modes, then the same array through a
// texture.
#include "test.h"

struct surface_array {
    cudaArray_t array = nullptr;
    cudaSurfaceObject_t surf = 0;
    surface_array(cudaChannelFormatDesc channel, cudaExtent size) {
        CHECK(cudaMalloc3DArray(&array, &channel, size, cudaArraySurfaceLoadStore));
        cudaResourceDesc res = {};
        res.resType = cudaResourceTypeArray;
        res.res.array.array = array;
        CHECK(cudaCreateSurfaceObject(&surf, &res));
    }
    ~surface_array() {
        cudaDestroySurfaceObject(surf);
        cudaFreeArray(array);
    }
};

__global__ void fill2d(cudaSurfaceObject_t s, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        surf2Dwrite(make_float2(float(x * y), float(x - y)), s, x * int(sizeof(float2)), y);
}

__global__ void blur2d(cudaSurfaceObject_t in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float sum = 0;
    for (int k = -1; k <= 1; k++) {
        float2 clamped = surf2Dread<float2>(in, (x + k) * int(sizeof(float2)), y + k, cudaBoundaryModeClamp);
        float2 zeroed =
            surf2Dread<float2>(in, (x - 2 * k) * int(sizeof(float2)), y - k, cudaBoundaryModeZero);
        sum += clamped.x + zeroed.y;
    }
    out[y * w + x] = sum;
}

__global__ void bytes1d(cudaSurfaceObject_t s, int n) {
    int x = threadIdx.x;
    if (x < n)
        surf1Dwrite((unsigned char)(x * 7), s, x);
    surf1Dwrite((unsigned char)1, s, n + 5 + x, cudaBoundaryModeZero); // outside: dropped
    __syncthreads();
    if (x < n) {
        unsigned char v = surf1Dread<unsigned char>(s, x);
        surf1Dwrite((unsigned char)(v ^ 0x5a), s, x);
    }
}

__global__ void ints3d(cudaSurfaceObject_t s, int n) {
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    surf3Dwrite(make_int4(x, y, z, x * 100 + y * 10 + z), s, x * int(sizeof(int4)), y, z);
}

__global__ void sum3d(cudaSurfaceObject_t s, int *out, int n) {
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    int4 v = surf3Dread<int4>(s, (n - 1 - x) * int(sizeof(int4)), y, z);
    out[(z * n + y) * n + x] = v.x + 2 * v.y + 3 * v.z + 5 * v.w;
}

__global__ void through_texture(cudaTextureObject_t tex, float2 *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = tex2D<float2>(tex, x + 0.5f, y + 0.5f);
}

int main(int argc, char **argv) {
    int w = size_arg(argc, argv, 60), h = w / 2;
    dim3 grid(div_up(w, 16), div_up(h, 8)), block(16, 8);
    surface_array a(cudaCreateChannelDesc<float2>(), make_cudaExtent(w, h, 0));
    dev_array<float> sums(w * h);
    fill2d<<<grid, block>>>(a.surf, w, h);
    blur2d<<<grid, block>>>(a.surf, sums, w, h);
    cudaResourceDesc res = {};
    res.resType = cudaResourceTypeArray;
    res.res.array.array = a.array;
    cudaTextureDesc desc = {};
    cudaTextureObject_t tex;
    CHECK(cudaCreateTextureObject(&tex, &res, &desc, nullptr));
    dev_array<float2> copy(w * h);
    through_texture<<<grid, block>>>(tex, copy, w, h);
    SYNC();
    print_sum("2d", sums.get());
    bool ok = true;
    std::vector<float2> got = copy.get(), host(w * h);
    CHECK(cudaMemcpy2DFromArray(host.data(), w * sizeof(float2), a.array, 0, 0, w * sizeof(float2), h,
                                cudaMemcpyDeviceToHost));
    for (int i = 0; i < w * h; i++) {
        float2 want = make_float2(float((i % w) * (i / w)), float(i % w - i / w));
        ok = ok && got[i].x == want.x && got[i].y == want.y && host[i].x == want.x && host[i].y == want.y;
    }
    verdict("texture and copy", ok);
    CHECK(cudaDestroyTextureObject(tex));

    surface_array b(cudaCreateChannelDesc<unsigned char>(), make_cudaExtent(200, 0, 0));
    bytes1d<<<1, 224>>>(b.surf, 200);
    std::vector<unsigned char> bytes(200);
    SYNC();
    CHECK(cudaMemcpy2DFromArray(bytes.data(), 200, b.array, 0, 0, 200, 1, cudaMemcpyDeviceToHost));
    print_sum("1d", bytes);

    int n = 8;
    surface_array c(cudaCreateChannelDesc<int4>(), make_cudaExtent(n, n, n));
    dev_array<int> out(n * n * n);
    ints3d<<<n, dim3(n, n)>>>(c.surf, n);
    sum3d<<<n, dim3(n, n)>>>(c.surf, out, n);
    SYNC();
    print_sum("3d", out.get());
    return finish();
}
