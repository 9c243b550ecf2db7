// Device printf: conversions, widths and flags, strings from memory, many arguments, and the count it
// returns. One thread prints at a time, so the order of the lines is fixed.
#include "test.h"

__device__ char greeting[] = "hello";
__constant__ char fixed[] = "constant";

__global__ void formats(int dummy) {
    printf("plain text\n");
    printf("%d %i %5d|%-5d|%05d|%+d|% d\n", 42, -42, 42, 42, 42, 42, 42);
    printf("%u %x %X %#x %o %08x\n", 3000000000u, 0xbeefu, 0xbeefu, 255u, 8u, 0x1234u);
    printf("%lld %llu %llx\n", -1234567890123456789ll, 12345678901234567890ull, 0x123456789abcdefull);
    printf("%ld %lu %hd\n", -5l, 5ul, short(-7));
    printf("%f %.2f %10.3f|%-10.1f|%e %g %G\n", 3.14159, 2.71828, -1.5, 1.25, 12345.678, 1e-10, 1e20);
    printf("%f %f %f\n", 1.0 / 0.0, -1.0 / 0.0, 0.5f);
    printf("%s %.3s|%10s|%-8s|\n", "literal", "truncate", "right", "left");
    printf("%s %s\n", greeting, fixed);
    printf("%c%c%c %% done\n", 'a', 'b', 'c');
    printf("%*d|%-*d|\n", 6, 42, 6, 42);
    printf("%p\n", (void *)0x1234);
    printf("%a\n", 1.0);
    printf("%d %d %d %d %d %d %d %d %d %d %f %s\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11.5, "twelve");
}

__global__ void counted(int *out) {
    out[0] = printf("%d %d\n", 1, 2);
    out[1] = printf("none\n");
}

__global__ void in_turn(int n) {
    for (int t = 0; t < n; t++) {
        if (threadIdx.x == t)
            printf("thread %d of block %d\n", int(threadIdx.x), int(blockIdx.x));
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 5);
    setvbuf(stdout, nullptr, _IONBF, 0); // the host's lines and the device's keep their order
    CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
    formats<<<1, 1>>>(0);
    SYNC();
    dev_array<int> out(2);
    counted<<<1, 1>>>(out);
    SYNC();
    printf("returned %d %d\n", out.get()[0], out.get()[1]);
    in_turn<<<1, 40>>>(n);
    SYNC();
    for (int b = 0; b < 2; b++) {
        in_turn<<<1, 33>>>(1);
        CHECK(cudaStreamSynchronize(0));
    }
    return finish();
}
