// Escape counts of the Mandelbrot set in float and double: divergent loops, exact arithmetic through explicit
// fma.
#include "test.h"

template <class T> __host__ __device__ int escape(T cx, T cy, int limit) {
    T x = 0, y = 0;
    int i = 0;
    for (; i < limit; i++) {
        T xx = x * x, yy = y * y;
        if (fma(x, x, yy) > T(4))
            break;
        T d = xx - yy;
        y = fma(x + x, y, cy);
        x = d + cx;
    }
    return i;
}

template <class T> __global__ void mandelbrot(unsigned short *out, int w, int h, int limit) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px < w && py < h)
        out[py * w + px] = (unsigned short)escape(T(px * 3) / T(w) - T(2.25), T(py * 2) / T(h) - T(1), limit);
}

template <class T> static void run(const char *name, int w, int h, int limit) {
    dev_array<unsigned short> out(w * h);
    mandelbrot<T><<<dim3(div_up(w, 16), div_up(h, 8)), dim3(16, 8)>>>(out, w, h, limit);
    SYNC();
    print_sum(name, out.get());
    if (w > 256) // the host would take longer than the GPU is worth
        return;
    std::vector<unsigned short> want(w * h);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            want[y * w + x] =
                (unsigned short)escape(T(x * 3) / T(w) - T(2.25), T(y * 2) / T(h) - T(1), limit);
    verdict(name, out.get() == want);
}

int main(int argc, char **argv) {
    int w = size_arg(argc, argv, 144), h = w * 2 / 3;
    run<float>("float", w, h, 200);
    run<double>("double", w / 2, h / 2, 100);
    return finish();
}
