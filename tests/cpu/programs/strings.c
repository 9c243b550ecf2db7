/* The string functions of the library, whose fast versions use vectors, at all alignments. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static uint64_t h = 1;

static void note(uint64_t v) {
    h = (h ^ v) * 0x100000001b3ull;
}

int main(void) {
    static char a[600], b[600], c[600];
    for (int from = 0; from < 33; from += 3)
        for (int to = 0; to < 17; to += 2)
            for (int n = 0; n < 300; n += n < 40 ? 1 : 29) {
                for (int k = 0; k < 600; k++) {
                    a[k] = (char)('a' + (k * 7 + n) % 23);
                    b[k] = (char)('A' + k % 26);
                }
                a[from + n] = 0;
                memcpy(b + to, a + from, (size_t)n + 1);
                note(strlen(b + to));
                note((uint64_t)(strcmp(a + from, b + to) == 0));
                memmove(c, a, 600);
                memmove(c + to, c + from, (size_t)n);
                note((uint64_t)c[to + n / 2]);
                memset(c + to, n, (size_t)n);
                note((uint64_t)(unsigned char)c[to + n]);
                char *found = strchr(b + to, 'f');
                note(found ? (uint64_t)(found - b) : 999);
                found = strrchr(b + to, 'f');
                note(found ? (uint64_t)(found - b) : 999);
                found = memchr(b, 'Z', (size_t)n);
                note(found ? (uint64_t)(found - b) : 999);
                b[to + n / 2]++;
                note((uint64_t)(memcmp(a + from, b + to, (size_t)n) > 0));
                note((uint64_t)(strncmp(a + from, b + to, (size_t)n / 3) > 0));
                found = strstr(a + from, "hov");
                note(found ? (uint64_t)(found - a) : 999);
                strcpy(c, a + from);
                strncat(c, "xyz", 2);
                note(strlen(c));
                note(strnlen(c, (size_t)n / 2));
                note(strspn(c, "abcdefghijklmnop"));
            }
    printf("%016llx\n", (unsigned long long)h);
    char text[] = "one,two;;three four";
    for (char *t = strtok(text, ",; "); t; t = strtok(NULL, ",; "))
        printf("[%s]", t);
    wchar_t wide[32];
    size_t n = mbstowcs(wide, "plain", 32);
    printf(" %zu %zu %d\n", n, wcslen(wide), wcscmp(wide, L"plain"));
    printf("%s|%10s|%-10s|%.3s|%c|%5d|%-5d|%05d|%x|%#o|%lld|%zu|%p\n", "s", "right", "left", "cut", 'c', 42,
           42, 42, 255, 8, -1LL, (size_t)7, (void *)0x1234);
    int x;
    unsigned y;
    char word[16];
    float f;
    printf("%d ", sscanf("12 0x1f word 2.75", "%d %x %15s %f", &x, &y, word, &f));
    printf("%d %u %s %g\n", x, y, word, (double)f);
    return 0;
}
