// Indirect calls: tables of function pointers, pointers passed through symbols, virtual functions on objects
// made on the device, and a functor with state.
#include "test.h"

typedef int (*operation)(int, int);

__device__ __noinline__ int op_add(int a, int b) {
    return a + b;
}
__device__ __noinline__ int op_sub(int a, int b) {
    return a - b;
}
__device__ __noinline__ int op_mul(int a, int b) {
    return a * b;
}
__device__ __noinline__ int op_max(int a, int b) {
    return a > b ? a : b;
}

__device__ operation table[4] = {op_add, op_sub, op_mul, op_max};
__device__ operation chosen = op_mul;

__global__ void by_table(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = table[in[i] & 3](in[i], i); // lanes of a warp call different functions
}

__global__ void by_pointer(operation f, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = f(out[i], i + 1);
}

class shape {
  public:
    __device__ virtual ~shape() {}
    __device__ virtual float area() const = 0;
    __device__ virtual int sides() const {
        return 0;
    }
};
class square : public shape {
    float side;

  public:
    __device__ explicit square(float s) : side(s) {}
    __device__ float area() const override {
        return side * side;
    }
    __device__ int sides() const override {
        return 4;
    }
};
class triangle : public shape {
    float base, height;

  public:
    __device__ triangle(float b, float h) : base(b), height(h) {}
    __device__ float area() const override {
        return 0.5f * base * height;
    }
    __device__ int sides() const override {
        return 3;
    }
};
class disc : public shape {
    float r;

  public:
    __device__ explicit disc(float radius) : r(radius) {}
    __device__ float area() const override {
        return 3.0f * r * r;
    }
};

__global__ void make(shape **objects, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (i % 3 == 0)
        objects[i] = new square(float(i % 10));
    else if (i % 3 == 1)
        objects[i] = new triangle(float(i % 7), 2.0f);
    else
        objects[i] = new disc(float(i % 5));
}

__global__ void measure(shape **objects, float *area, int *sides, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    area[i] = objects[i]->area();
    sides[i] = objects[i]->sides();
    delete objects[i];
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 1000), blocks = div_up(n, 64);
    random_source rng(32);
    std::vector<int> in(n);
    for (int &v : in)
        v = int(rng.next()) >> 8;
    dev_array<int> src(in), out(n), sides(n);
    by_table<<<blocks, 64>>>(src, out, n);
    SYNC();
    std::vector<int> want(n);
    for (int i = 0; i < n; i++)
        want[i] = int((in[i] & 3) == 0   ? unsigned(in[i]) + i
                      : (in[i] & 3) == 1 ? unsigned(in[i]) - i
                      : (in[i] & 3) == 2 ? unsigned(in[i]) * i
                                         : unsigned(in[i] > i ? in[i] : i));
    verdict("table", out.get() == want);
    operation f;
    CHECK(cudaMemcpyFromSymbol(&f, chosen, sizeof f));
    by_pointer<<<blocks, 64>>>(f, out, n);
    SYNC();
    print_sum("pointer", out.get());

    dev_array<shape *> objects(n);
    dev_array<float> area(n);
    make<<<blocks, 64>>>(objects, n);
    measure<<<blocks, 64>>>(objects, area, sides, n);
    SYNC();
    print_sum("areas", area.get());
    print_sum("sides", sides.get());
    return finish();
}
