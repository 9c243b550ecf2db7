/* A program that loads the driver for itself alone, as some frameworks do, and makes a context. */
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*init)(unsigned) = lib ? (int (*)(unsigned))dlsym(lib, "cuInit") : NULL;
    int (*retain)(void **, int) = lib ? (int (*)(void **, int))dlsym(lib, "cuDevicePrimaryCtxRetain") : NULL;
    void *context = NULL;
    if (!init || !retain) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    return init(0) || retain(&context, 0) || !context;
}
