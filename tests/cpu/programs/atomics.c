/* Atomic operations, variadic functions, computed gotos, bit-fields, and the clock, which never goes back. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static double sum_of(const char *kinds, ...) {
    va_list ap;
    double s = 0;
    va_start(ap, kinds);
    for (; *kinds; kinds++)
        s += *kinds == 'd' ? va_arg(ap, double) : *kinds == 'i' ? va_arg(ap, int) : (double)va_arg(ap, long);
    va_end(ap);
    return s;
}

static int machine(const uint8_t *code) {
    static const void *const ops[] = {&&push, &&add, &&mul, &&dup, &&end};
    int stack[32], sp = 0;
    goto *ops[*code];
push:
    stack[sp++] = code[1];
    code += 2;
    goto *ops[*code];
add:
    sp--;
    stack[sp - 1] += stack[sp];
    goto *ops[*++code];
mul:
    sp--;
    stack[sp - 1] *= stack[sp];
    goto *ops[*++code];
dup:
    stack[sp] = stack[sp - 1];
    sp++;
    goto *ops[*++code];
end:
    return stack[sp - 1];
}

struct fields {
    unsigned a : 3;
    int b : 7;
    unsigned long long c : 41;
    unsigned d : 1;
};

int main(void) {
    _Atomic uint8_t b = 250;
    _Atomic uint16_t h = 3;
    _Atomic int32_t w = -4;
    _Atomic uint64_t x = 5;
    for (int k = 0; k < 100; k++) {
        atomic_fetch_add(&b, (uint8_t)k);
        atomic_fetch_xor(&h, (uint16_t)(k * 77));
        atomic_fetch_sub(&w, k);
        uint64_t old = x;
        while (!atomic_compare_exchange_weak(&x, &old, old * 3 + 1)) {
        }
    }
    int32_t expected = 1;
    printf("%u %u %d %llu %d %d\n", b, h, w, (unsigned long long)x,
           atomic_compare_exchange_strong(&w, &expected, 9), expected);
    printf("%d %ld\n", atomic_exchange(&w, 17), (long)atomic_load(&w));
    static const uint8_t code[] = {0, 7, 3, 2, 0, 5, 1, 3, 2, 4};
    printf("%g %d\n", sum_of("didlid", 1.5, 2, 3.25, 4L, 5, 6.125), machine(code));
    struct fields f = {5, -33, 0x1ffffffffffull, 1};
    for (int k = 0; k < 5; k++) {
        f.a += 3;
        f.b = f.b * 3;
        f.c ^= 0x123456789ull << k;
    }
    printf("%u %d %llx %u\n", f.a, f.b, (unsigned long long)f.c, f.d);
    struct timespec t, u;
    clock_gettime(CLOCK_MONOTONIC, &t);
    clock_gettime(CLOCK_MONOTONIC, &u);
    printf("%d %d\n", u.tv_sec > t.tv_sec || (u.tv_sec == t.tv_sec && u.tv_nsec >= t.tv_nsec),
           time(NULL) > 1000000000);
    return 0;
}
