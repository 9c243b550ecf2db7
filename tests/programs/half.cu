// Half and bfloat16 arithmetic: conversions of every bit pattern, scalar and paired operations, comparisons,
// fma, atomics. Everything here is correctly rounded, so the bits are fixed.
#include "test.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void convert(unsigned *from_half, unsigned short *to_half, unsigned short *to_bf,
                        const float *in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float wide = __half2float(__ushort_as_half((unsigned short)i));
    from_half[i] = wide != wide ? 0x7fc00000u : __float_as_uint(wide);
    float f = in[i];
    to_half[i] = __half_as_ushort(__float2half_rn(f)) ^ __half_as_ushort(__float2half_rz(f)) * 3 ^
                 __half_as_ushort(__float2half_ru(f)) * 5 ^ __half_as_ushort(__float2half_rd(f)) * 7;
    to_bf[i] = __bfloat16_as_ushort(__float2bfloat16_rn(f));
}

__global__ void scalar(const __half *a, const __half *b, unsigned short *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half x = a[i], y = b[i];
    unsigned short *o = out + i * 8;
    o[0] = __half_as_ushort(__hadd_rn(x, y));
    o[1] = __half_as_ushort(__hmul_rn(x, y));
    o[2] = __half_as_ushort(__hfma(x, y, a[(i + 1) % n]));
    o[3] = __half_as_ushort(__hsub_rn(x, y));
    o[4] = __half_as_ushort(__hneg(__habs(x)));
    o[5] = (unsigned short)(__hlt(x, y) | __hge(x, y) << 1 | __heq(x, x) << 2 | __hne(x, y) << 3 |
                            __hgt(x, y) << 4);
    o[6] = __half_as_ushort(__hmax(x, y));
    o[7] = __half_as_ushort(__hadd_sat(x, y));
}

__global__ void pairs(const __half2 *a, const __half2 *b, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half2 acc = __float2half2_rn(0.0f);
    for (int k = 0; k < 8; k++)
        acc = __hfma2(a[(i + k) % n], b[(i + 3 * k) % n], acc);
    __half2 mixed = __halves2half2(__high2half(acc), __low2half(__hmul2_rn(a[i], b[i])));
    __half2 s = __hadd2_rn(mixed, __lowhigh2highlow(a[i]));
    out[i] = *reinterpret_cast<unsigned *>(&s) ^ (__hbgt2(a[i], b[i]) ? 0x80008000u : 0);
}

__global__ void brain(const float *in, unsigned short *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __nv_bfloat16 x = __float2bfloat16(in[i]), y = __float2bfloat16(in[(i * 7 + 1) % n]);
    out[i * 4] = __bfloat16_as_ushort(__hadd_rn(x, y));
    out[i * 4 + 1] = __bfloat16_as_ushort(__hmul_rn(x, y));
    out[i * 4 + 2] = __bfloat16_as_ushort(__hfma(x, y, x));
    out[i * 4 + 3] = __bfloat16_as_ushort(__float2bfloat16(__bfloat162float(x) * 0.5f));
}

__global__ void integers(const int *in, unsigned short *out, int *back, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = __half_as_ushort(__int2half_rn(in[i]));
    __half h = __ushort_as_half((unsigned short)(in[i] & 0x7bff));
    back[i] = __half2int_rn(h) + 3 * __half2int_rz(h) + 5 * int(__half2uint_ru(h)) + 7 * __half2short_rd(h);
}

__global__ void atomics(__half2 *sum, __half *one) {
    atomicAdd(sum, __floats2half2_rn(0.5f, 2.0f)); // exact sums
    atomicAdd(one, __float2half(1.0f));
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 2048);
    random_source rng(35);
    std::vector<float> in(65536);
    for (float &f : in)
        f = (rng.unit() - 0.5f) * ldexpf(1.0f, int(rng.below(44)) - 26);
    dev_array<float> din(in);
    dev_array<unsigned> wide(65536);
    dev_array<unsigned short> narrow(65536), bf(65536);
    convert<<<256, 256>>>(wide, narrow, bf, din);
    SYNC();
    print_sum("half to float", wide.get());
    print_sum("float to half", narrow.get());
    print_sum("float to bfloat16", bf.get());

    std::vector<unsigned short> a(2 * n), b(2 * n);
    for (int i = 0; i < 2 * n; i++) { // finite values of moderate size
        a[i] = (unsigned short)((rng.next() & 0x83ff) | (8 + rng.below(14)) << 10);
        b[i] = (unsigned short)((rng.next() & 0x83ff) | (8 + rng.below(14)) << 10);
    }
    dev_array<unsigned short> da(a), db(b), out(8 * n), out_bf(4 * n), out_int(n);
    dev_array<unsigned> out2(n);
    std::vector<int> ints(n);
    for (int &v : ints)
        v = int(rng.next()) >> rng.below(20);
    dev_array<int> dints(ints), back(n);
    scalar<<<div_up(n, 128), 128>>>((__half *)da.ptr, (__half *)db.ptr, out, n);
    pairs<<<div_up(n, 128), 128>>>((__half2 *)da.ptr, (__half2 *)db.ptr, out2, n);
    brain<<<div_up(n, 128), 128>>>(din, out_bf, n);
    integers<<<div_up(n, 128), 128>>>(dints, out_int, back, n);
    SYNC();
    print_sum("scalar", out.get());
    print_sum("pairs", out2.get());
    print_sum("bfloat16", out_bf.get());
    print_sum("int to half", out_int.get());
    print_sum("half to int", back.get());

    dev_array<unsigned> sums(2);
    atomics<<<2, 64>>>((__half2 *)sums.ptr, (__half *)(sums.ptr + 1));
    SYNC();
    printf("atomics %08x %08x\n", sums.get()[0], sums.get()[1]);
    return finish();
}
