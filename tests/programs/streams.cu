// Streams and events: chunked pipelines, waits across streams, queries, host callbacks, priorities, and the
// order that the default stream imposes.
#include "test.h"

__global__ void scale(int *data, int n, int factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = data[i] * factor + 1;
}

__global__ void append(int *log, int *length, int tag) {
    log[(*length)++] = tag;
}

struct note {
    int order[4], count;
};

static void CUDART_CB on_host(void *arg) {
    note *n = static_cast<note *>(arg);
    n->order[n->count] = n->count + 1;
    n->count++;
}

static void CUDART_CB on_stream(cudaStream_t, cudaError_t status, void *arg) {
    note *n = static_cast<note *>(arg);
    n->order[n->count++] = status == cudaSuccess ? 100 : -1;
}

int main(int argc, char **argv) {
    const int chunks = 4;
    int n = size_arg(argc, argv, 8000) / chunks * chunks, part = n / chunks;
    int *host;
    CHECK(cudaMallocHost(&host, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        host[i] = i;
    dev_array<int> dev(n);
    cudaStream_t s[chunks];
    cudaEvent_t done[chunks], start, stop;
    int least, greatest;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    printf("priorities ordered %d\n", greatest <= least);
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreateWithFlags(&stop, cudaEventBlockingSync));
    CHECK(cudaStreamCreate(&s[0]));
    CHECK(cudaStreamCreateWithFlags(&s[1], cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithPriority(&s[2], cudaStreamNonBlocking, greatest));
    CHECK(cudaStreamCreateWithFlags(&s[3], cudaStreamDefault));
    CHECK(cudaEventRecord(start));
    for (int c = 0; c < chunks; c++) {
        CHECK(cudaEventCreateWithFlags(&done[c], cudaEventDisableTiming));
        CHECK(cudaMemcpyAsync(dev + c * part, host + c * part, part * sizeof(int), cudaMemcpyHostToDevice,
                              s[c]));
        scale<<<div_up(part, 128), 128, 0, s[c]>>>(dev + c * part, part, c + 2);
        CHECK(cudaMemcpyAsync(host + c * part, dev + c * part, part * sizeof(int), cudaMemcpyDeviceToHost,
                              s[c]));
        CHECK(cudaEventRecord(done[c], s[c]));
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(stop, 0));
    CHECK(cudaEventSynchronize(stop));
    float ms = -1;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    printf("time is not negative %d\n", ms >= 0);
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok = ok && host[i] == i * (i / part + 2) + 1;
    verdict("chunks", ok);
    for (int c = 0; c < chunks; c++)
        printf("event %s stream %s\n", cudaGetErrorName(cudaEventQuery(done[c])),
               cudaGetErrorName(cudaStreamQuery(s[c])));
    printf("untimed event: %s\n", cudaGetErrorName(cudaEventElapsedTime(&ms, done[0], done[1])));
    (void)cudaGetLastError();

    dev_array<int> log(32), length(1);
    for (int round = 0; round < 4; round++) // each stream waits for the one before it
        for (int c = 0; c < chunks; c++) {
            if (round || c)
                CHECK(cudaStreamWaitEvent(s[c], done[(c + chunks - 1) % chunks], 0));
            append<<<1, 1, 0, s[c]>>>(log, length, round * 10 + c);
            CHECK(cudaEventRecord(done[c], s[c]));
        }
    SYNC();
    for (int i = 0; i < 16; i++)
        printf("%d%c", log.get()[i], i == 15 ? '\n' : ' ');

    note n1 = {};
    CHECK(cudaLaunchHostFunc(s[1], on_host, &n1));
    CHECK(cudaStreamAddCallback(s[1], on_stream, &n1, 0));
    CHECK(cudaLaunchHostFunc(s[1], on_host, &n1));
    CHECK(cudaStreamSynchronize(s[1]));
    printf("callbacks %d: %d %d %d\n", n1.count, n1.order[0], n1.order[1], n1.order[2]);

    CHECK(cudaMemsetAsync(dev, 0, n * sizeof(int), s[2]));
    CHECK(cudaStreamSynchronize(s[2]));
    scale<<<div_up(n, 256), 256, 0, s[0]>>>(dev, n, 3);
    scale<<<div_up(n, 256), 256>>>(dev, n, 5); // the default stream waits for the blocking ones
    scale<<<div_up(n, 256), 256, 0, s[3]>>>(dev, n, 7);
    CHECK(cudaStreamSynchronize(s[3]));
    printf("default stream order %d\n", dev.get()[n - 1]);

    int *pool;
    CHECK(cudaMallocAsync(&pool, 1024, s[1]));
    CHECK(cudaMemsetAsync(pool, 1, 1024, s[1]));
    int first = 0;
    CHECK(cudaMemcpyAsync(&first, pool, sizeof first, cudaMemcpyDeviceToHost, s[1]));
    CHECK(cudaFreeAsync(pool, s[1]));
    CHECK(cudaStreamSynchronize(s[1]));
    printf("pool %x\n", first);
    for (int c = 0; c < chunks; c++) {
        CHECK(cudaStreamDestroy(s[c]));
        CHECK(cudaEventDestroy(done[c]));
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaFreeHost(host));
    return finish();
}
