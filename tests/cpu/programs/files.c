/* Files that an argument names; what is not named is not there. Standard input. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    FILE *f = fopen(argv[1], "w+");
    if (argc != 2 || !f)
        return 1;
    for (int k = 0; k < 3000; k++)
        fprintf(f, "line %d %x\n", k, k * k);
    fseek(f, 1000, SEEK_SET);
    char line[64];
    if (!fgets(line, sizeof line, f))
        return 2;
    fgets(line, sizeof line, f);
    printf("%s%ld\n", line, ftell(f));
    fseek(f, 0, SEEK_END);
    printf("%ld\n", ftell(f));
    rewind(f);
    long sum = 0;
    while (fgets(line, sizeof line, f))
        sum += strtol(strrchr(line, ' ') + 1, NULL, 16);
    printf("%ld %d\n", sum, feof(f) != 0);
    fclose(f);
    f = fopen("/does/not/exist", "r");
    printf("%s\n", f ? "opened" : strerror(errno));
    while (fgets(line, sizeof line, stdin))
        printf("> %s", line);
    fprintf(stderr, "an error message\n");
    return 3;
}
