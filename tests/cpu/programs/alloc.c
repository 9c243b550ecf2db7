/* Memory: many small blocks, large ones that are mapped, growth, and hash tables and lists on top. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    uint32_t key, count;
};

int main(void) {
    static struct node *table[1024];
    static char *blocks[500];
    uint32_t s = 99;
    uint64_t sum = 0;
    for (int k = 0; k < 50000; k++) {
        s = s * 1664525 + 1013904223;
        uint32_t key = s >> 20;
        struct node **p = &table[key % 1024];
        while (*p && (*p)->key != key)
            p = &(*p)->next;
        if (!*p) {
            *p = calloc(1, sizeof **p);
            (*p)->key = key;
        }
        (*p)->count++;
        char **b = &blocks[s % 500];
        size_t size = (s >> 8) % 100 ? (s >> 4) % 3000 : (s >> 4) % 400000;
        *b = realloc(*b, size + 1);
        memset(*b, (int)k, size);
        (*b)[size] = 0;
        sum += strlen(*b + size / 2);
        if (k % 7 == 0) {
            free(*b);
            *b = NULL;
        }
    }
    for (int k = 0; k < 1024; k++)
        for (struct node *n = table[k]; n; n = n->next)
            sum = sum * 31 + n->key * n->count;
    size_t size = 1 << 20;
    char *big = malloc(size);
    for (int k = 0; k < 6; k++) {
        memset(big, k, size);
        big = realloc(big, size *= 2);
        sum += (uint64_t)big[size / 2 - 1];
    }
    char *aligned = aligned_alloc(4096, 8192);
    printf("%llu %d\n", (unsigned long long)sum, (int)((uintptr_t)aligned % 4096));
    free(big);
    free(aligned);
    return 0;
}
