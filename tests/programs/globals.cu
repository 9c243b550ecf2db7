// Variables with initial values: scalars, arrays, structures, pointers to other variables, strings, tables of
// strings, static locals, and template instances; in __device__ and __constant__ memory, and templates of
// constants.
#include "test.h"

struct entry {
    const char *name;
    int value;
    double weight;
};

__device__ int scalar = 41;
__device__ float table[5] = {1.5f, -2.5f, 3.5f};
__device__ unsigned char bytes[] = {1, 2, 3, 250, 251};
__device__ int *pointer = &scalar;
__device__ float *middle = &table[1];
__device__ const char *const words[] = {"zero", "one", "two", "three"};
__constant__ entry entries[3] = {{"alpha", 1, 0.5}, {"beta", -2, 1e10}, {"gamma", 3, -0.125}};
__constant__ unsigned long long wide[2] = {0x0123456789abcdefull, ~0ull};
__constant__ const int *chain = &scalar;
__device__ struct {
    short a;
    long long b;
    char c[3];
    struct {
        float x, y;
    } d[2];
} nested = {-3, 1ll << 50, {'x', 'y', 'z'}, {{1, 2}, {3, 4}}};
__device__ __align__(16) int aligned[4] = {9, 8, 7, 6};

template <int N> struct factorial { static const int value = N * factorial<N - 1>::value; };
template <> struct factorial<0> { static const int value = 1; };
template <class T> __device__ T instance = T(3);

__device__ int counter_value() {
    static int calls = 100;
    return atomicAdd(&calls, 1);
}

__device__ int length(const char *s) {
    int n = 0;
    while (s[n])
        n++;
    return n;
}

__global__ void read_all(double *out) {
    out[0] = scalar + *pointer * 2 + *chain;
    out[1] = table[0] + middle[0] * 10 + middle[1] * 100 + table[4];
    out[2] = bytes[3] + bytes[4] + sizeof bytes;
    out[3] = 0;
    for (int i = 0; i < 4; i++)
        out[3] = out[3] * 10 + length(words[i]) + words[i][0];
    for (int i = 0; i < 3; i++)
        out[4 + i] = entries[i].value * entries[i].weight + length(entries[i].name);
    out[7] = double(wide[0] >> 8) + (wide[1] == ~0ull);
    out[8] = nested.a + double(nested.b) + nested.c[2] + nested.d[1].x * nested.d[1].y;
    int4 v = *reinterpret_cast<int4 *>(aligned);
    out[9] = v.x * 1000 + v.y * 100 + v.z * 10 + v.w;
    out[10] = factorial<10>::value + instance<double> + instance<int>;
    instance<int> = 5;
    *pointer = 7; // through the pointer, seen below
    out[11] = scalar + *(volatile int *)chain;
    counter_value();
    out[12] = counter_value();
}

int main() {
    dev_array<double> out(13);
    for (int round = 0; round < 2; round++) { // the second launch sees what the first one wrote
        read_all<<<1, 1>>>(out);
        SYNC();
        for (double v : out.get())
            printf("%.17g ", v);
        printf("\n");
    }
    int *address;
    CHECK(cudaMemcpyFromSymbol(&address, pointer, sizeof address));
    int value = 0;
    CHECK(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDeviceToHost));
    void *symbol;
    CHECK(cudaGetSymbolAddress(&symbol, scalar));
    verdict("pointer in a symbol", value == 7 && symbol == address);
    return finish();
}
