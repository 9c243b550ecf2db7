/* Sorting by several algorithms, of integers, structures and strings. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 20000 };
static uint32_t seed = 12345;

static uint32_t next(void) {
    seed = seed * 1664525 + 1013904223;
    return seed >> 4;
}

struct record {
    int16_t key;
    double weight;
    char name[12];
};

static int by_key(const void *a, const void *b) {
    const struct record *x = a, *y = b;
    return x->key != y->key ? x->key - y->key : strcmp(x->name, y->name);
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void heapsort(int64_t *a, size_t n) {
    for (size_t phase = 0; phase < 2; phase++)
        for (size_t k = phase ? n - 1 : n / 2; k-- > 0;) {
            size_t root = phase ? 0 : k, end = phase ? k + 1 : n, child;
            if (phase) {
                int64_t t = a[0];
                a[0] = a[end];
                a[end] = t;
            }
            while ((child = 2 * root + 1) < end) {
                child += child + 1 < end && a[child] < a[child + 1];
                if (a[root] >= a[child])
                    break;
                int64_t t = a[root];
                a[root] = a[child];
                a[child] = t;
                root = child;
            }
        }
}

int main(void) {
    static int64_t a[N], b[N];
    static struct record r[2000];
    for (int k = 0; k < N; k++)
        a[k] = b[k] = (int64_t)next() * (next() & 1 ? 1 : -3);
    qsort(a, N, sizeof *a, by_value);
    heapsort(b, N);
    uint64_t h = 0;
    for (int k = 0; k < N; k++)
        h = h * 1000003 ^ (uint64_t)a[k];
    printf("%d %016llx\n", memcmp(a, b, sizeof a), (unsigned long long)h);
    for (int k = 0; k < 2000; k++) {
        r[k].key = (int16_t)(next() % 100);
        r[k].weight = next() / 7.0;
        snprintf(r[k].name, sizeof r[k].name, "n%u", next() % 1000);
    }
    qsort(r, 2000, sizeof *r, by_key);
    double sum = 0;
    for (int k = 0; k < 2000; k++)
        sum = sum * 0.99 + r[k].weight * k;
    printf("%d %s %.17g\n", r[1000].key, r[1000].name, sum);
    return 0;
}
