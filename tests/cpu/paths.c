/* A block of which one path alone reads a second input: with a negative argument no round takes the other
 * path, so that a trace knows nothing of it. What was memoized then must be right with a positive argument,
 * too. */
#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) float block(float x, float flag) {
    float a = x * 0.125f + 1, b = x * x + 0.5f, c = b / (a * a + 1), d = c * 3 + a, y;
    if (x < 0) {
        y = -x;
        __asm__ volatile("" : "+w"(y)); /* two paths, not a selection */
    } else {
        y = x + flag;
        __asm__ volatile("" : "+w"(y));
    }
    return (y * a + c) / (b * y + d * d + 1) + (d + y) / (c * c + a * a + 2);
}

int main(int argc, char **argv) {
    float sign = argc > 1 ? strtof(argv[1], NULL) : 1, sum = 0;
    for (int k = 0; k < 3000; k++)
        sum = sum * 0.5f + block(sign * (float)(k % 20 + 1), (float)(k / 20 % 3));
    printf("%a\n", sum);
    return 0;
}
