/* A program that ends itself by a signal. */
#include <assert.h>
#include <stdio.h>

int main(int argc, char **argv) {
    (void)argv;
    puts("before");
    fflush(stdout);
    assert(argc > 5);
    return 0;
}
