// 64-bit integers: division and remainder of all signs and sizes, multiplication high and wide, shifts, bit
// counts, and a modular power that chains them (Miller-Rabin).
#include "test.h"

__host__ __device__ unsigned long long mulhi(unsigned long long a, unsigned long long b) {
#ifdef __CUDA_ARCH__
    return __umul64hi(a, b);
#else
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
#endif
}

__host__ __device__ void mix(long long a, long long b, unsigned long long *o) {
    unsigned long long ua = a, ub = b;
    if (b == 0 || (b == -1 && a == (long long)(1ull << 63)))
        b = 3;
    if (ub == 0)
        ub = 5;
    o[0] = (unsigned long long)(a / b);
    o[1] = (unsigned long long)(a % b);
    o[2] = ua / ub;
    o[3] = ua % ub;
    o[4] = ua * ub + mulhi(ua, ub);
    o[5] = (ua << (ub & 63)) ^ (ua >> (ub >> 7 & 63)) ^ (unsigned long long)(a >> (ub >> 13 & 63));
    o[6] = (a < b) | (ua < ub) << 1 | (a <= (long long)ub) << 2 | (ua != ub) << 3;
    o[7] = (unsigned long long)(a < 0 ? -ua : ua) + (a > b ? ua : ub) +
           (unsigned long long)((long long)(int)a * (int)b) + (unsigned long long)(unsigned)a * (unsigned)b +
           ua / 1000000007u + ub % 10u + (unsigned long long)(a / 7);
}

__global__ void run(const long long *a, const long long *b, unsigned long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        mix(a[i], b[i], out + i * 8);
}

__global__ void bits(const long long *a, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long v = a[i];
    unsigned long long r = __brevll(v);
    out[i] = __clzll(v) + 100 * __popcll(v) + 10000 * __ffsll(v) + unsigned(r ^ (r >> 32));
    out[i] ^= unsigned(__double2ll_rn(__ll2double_rn(a[i] >> 12)) ^ __float2ll_rz(float(a[i] >> 40)));
    out[i] += unsigned(__double_as_longlong(__ull2double_rn(v)) >> 20) ^ __float_as_uint(__ll2float_rd(a[i]));
}

__host__ __device__ unsigned long long power_mod(unsigned long long base, unsigned long long exp,
                                                 unsigned long long mod) {
    unsigned long long r = 1;
    for (base %= mod; exp; exp >>= 1, base = base * base % mod)
        if (exp & 1)
            r = r * base % mod;
    return r;
}

__host__ __device__ bool is_prime(unsigned long long n) { // exact below 3,215,031,751
    if (n < 2 || n % 2 == 0)
        return n == 2;
    unsigned long long d = n - 1;
    int s = 0;
    while (d % 2 == 0) {
        d /= 2;
        s++;
    }
    for (unsigned long long witness : {2ull, 3ull, 5ull, 7ull}) {
        if (n == witness)
            return true;
        unsigned long long x = power_mod(witness, d, n);
        bool composite = x != 1 && x != n - 1;
        for (int k = 1; k < s && composite; k++) {
            x = x * x % n;
            composite = x != n - 1;
        }
        if (composite)
            return false;
    }
    return true;
}

__global__ void primes(unsigned long long first, unsigned *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && is_prime(first + i))
        atomicAdd(count, 1u);
}

int main(int argc, char **argv) {
    int n = size_arg(argc, argv, 2000);
    random_source rng(36);
    std::vector<long long> a(n), b(n);
    auto wide = [&] {
        return (long long)(((unsigned long long)rng.next() << 32 | rng.next()) >> rng.below(60)) *
               (rng.below(2) ? 1 : -1);
    };
    for (int i = 0; i < n; i++)
        a[i] = wide(), b[i] = wide();
    const long long edge[] = {
        0, 1, -1, 2, (long long)(1ull << 63), ~(1ll << 63), 0xffffffffll, 0x100000000ll};
    for (int i = 0; i < 64 && i < n; i++)
        a[i] = edge[i / 8], b[i] = edge[i % 8];
    dev_array<long long> da(a), db(b);
    dev_array<unsigned long long> out(n * 8);
    dev_array<unsigned> flags(n), count(1);
    run<<<div_up(n, 128), 128>>>(da, db, out, n);
    bits<<<div_up(n, 128), 128>>>(da, flags, n);
    SYNC();
    std::vector<unsigned long long> want(n * 8);
    for (int i = 0; i < n; i++)
        mix(a[i], b[i], &want[i * 8]);
    verdict("arithmetic", out.get() == want);
    print_sum("arithmetic", out.get());
    print_sum("bits", flags.get());
    primes<<<div_up(n, 64), 64>>>(3000000000ull, count, n);
    SYNC();
    unsigned primes_host = 0;
    for (int i = 0; i < n; i++)
        primes_host += is_prime(3000000000ull + i);
    verdict("primes", count.get()[0] == primes_host);
    printf("primes %u\n", primes_host);
    return finish();
}
