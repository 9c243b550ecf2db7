// What kernels print appears when the program synchronises, in the order of the launches of a stream.
#include "test.h"

__global__ void speak(volatile int *flag, int number) {
    while (*flag == 0)
        ;
    printf("kernel %d\n", number);
}

static void say(const char *text) {
    puts(text);
    fflush(stdout);
}

int main() {
    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, speak));
    int *flag, *view;
    CHECK(cudaHostAlloc(&flag, 4096, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&view, flag, 0));
    cudaStream_t s;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
    *(volatile int *)flag = 0;
    speak<<<1, 1, 0, s>>>(view, 1);
    speak<<<1, 1, 0, s>>>(view, 2);
    CHECK(cudaGetLastError());
    say("launched");
    *(volatile int *)flag = 1;
    say("gate open");
    CHECK(cudaStreamSynchronize(s));
    say("synchronised");
    speak<<<1, 1, 0, s>>>(view, 3);
    speak<<<1, 1, 0, s>>>(view, 4);
    CHECK(cudaGetLastError());
    say("launched again");
    CHECK(cudaDeviceSynchronize());
    say("done");
    CHECK(cudaFreeHost(flag));
    return finish();
}
