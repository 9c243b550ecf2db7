// Makes the image that drv_texref.c samples. (Texture references themselves exist in PTX alone since
// CUDA 12.)
extern "C" __global__ void ramp(float *p) {
    p[blockIdx.x * blockDim.x + threadIdx.x] = float((blockIdx.x * 7 + threadIdx.x * 13) % 64);
}
