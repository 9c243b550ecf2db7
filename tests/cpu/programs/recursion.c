/* Recursion, mutual and through pointers; permutations, queens, big stacks; setjmp and longjmp out of them.
 */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned ackermann(unsigned m, unsigned n) {
    return !m ? n + 1 : ackermann(m - 1, n ? ackermann(m, n - 1) : 1);
}

static int queens(int n, unsigned columns, unsigned left, unsigned right) {
    int found = 0;
    if (columns == (1u << n) - 1)
        return 1;
    for (unsigned free = ~(columns | left | right) & ((1u << n) - 1); free; free &= free - 1) {
        unsigned bit = free & -free;
        found += queens(n, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return found;
}

static int is_odd(unsigned n);

static int is_even(unsigned n) {
    return n ? is_odd(n - 1) : 1;
}

static int is_odd(unsigned n) {
    return n ? is_even(n - 1) : 0;
}

static jmp_buf back;
static double kept;

static void dive(int depth, double x) {
    volatile char room[512];
    memset((char *)room, depth, sizeof room);
    if (depth == 2000) {
        kept = x + room[17];
        longjmp(back, depth);
    }
    dive(depth + 1, x * 1.0001 + 1);
    room[0]++;
}

static void permute(char *s, int n, uint32_t *h) {
    if (!n) {
        for (char *c = s; *c; c++)
            *h = *h * 31 + (uint32_t)*c;
        return;
    }
    for (int k = 0; k < n; k++) {
        char t = s[k];
        s[k] = s[n - 1];
        s[n - 1] = t;
        permute(s, n - 1, h);
        t = s[k];
        s[k] = s[n - 1];
        s[n - 1] = t;
    }
}

static int calls;

static int indirect(int (*fn[])(unsigned), int depth) {
    calls++;
    return depth ? indirect(fn, depth - 1) ^ fn[depth & 1]((unsigned)depth) : 0;
}

int main(void) {
    char s[] = "abcdefg";
    uint32_t h = 0;
    int (*fn[])(unsigned) = {is_even, is_odd};
    printf("%u %d %d\n", ackermann(2, 300), queens(8, 0, 0, 0), is_even(5001));
    permute(s, 7, &h);
    printf("%08x %d %d\n", h, indirect(fn, 100), calls);
    volatile double saved = 3.25;
    int code = setjmp(back);
    if (!code)
        dive(0, 1);
    printf("%d %.12g %g\n", code, kept, saved);
    return code == 2000 ? 42 : 1;
}
