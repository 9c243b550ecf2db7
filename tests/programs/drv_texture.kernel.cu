// Kernels of drv_texture.c: textures and surfaces as objects, handed over as 64-bit arguments.
#include <cuda_runtime.h>

extern "C" {
__global__ void sample2d(cudaTextureObject_t tex, float *out, int w, int h, float step) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = tex2D<float>(tex, x * step, y * step);
}

__global__ void fetch1d(cudaTextureObject_t tex, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex1Dfetch<int>(tex, (i * 7) % n);
}

__global__ void write3d(cudaSurfaceObject_t surf) {
    surf3Dwrite((unsigned short)(threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z), surf, threadIdx.x * 2,
                threadIdx.y, threadIdx.z);
}
}
