/* A program that compiles its kernel while it runs: as machine code for the options given, then loads, links
 * and launches it. argv[1] is the library it asks for. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "reprise_cuda.h"

static void check(int error, const char *what) {
    if (!error)
        return;
    printf("%s: %d\n", what, error);
    exit(1);
}

/* Loads machine code and runs it. */
static void run(const char *how, const void *code) {
    CUmodule module;
    CUfunction k;
    CUdeviceptr p;
    int got = 0;
    check(cuModuleLoadData(&module, code), "load");
    check(cuModuleGetFunction(&k, module, "k"), "function");
    check(cuMemAlloc(&p, 4), "memory");
    void *args[] = {&p};
    check(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), "launch");
    check(cuMemcpyDtoH(&got, p, 4), "copy");
    printf("%s %d\n", how, got);
}

int main(int argc, char **argv) {
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL, *prog = NULL, *image;
    if (!library) {
        printf("no library: %s\n", dlerror());
        return 1;
    }
    int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
    int (*compile)(void *, int, char *const *);
    int (*size_of)(void *, size_t *);
    int (*get)(void *, char *);
    create = (int (*)(void **, const char *, const char *, int, const char *const *,
                      const char *const *))dlsym(library, "nvrtcCreateProgram");
    compile = (int (*)(void *, int, char *const *))dlsym(library, "nvrtcCompileProgram");
    size_of = (int (*)(void *, size_t *))dlsym(library, "nvrtcGetCUBINSize");
    get = (int (*)(void *, char *))dlsym(library, "nvrtcGetCUBIN");
    size_t size = 0;
    check(create(&prog, "", "k.cu", 0, NULL, NULL), "create");
    check(compile(prog, argc - 2, argv + 2), "compile");
    check(size_of(prog, &size), "size");
    char *code = calloc(1, size + 1);
    check(get(prog, code), "get");
    CUcontext context;
    CUlinkState link;
    check(cuInit(0), "init");
    check(cuDevicePrimaryCtxRetain(&context, 0), "context");
    check(cuCtxSetCurrent(context), "current");
    run("loaded", code);
    check(cuLinkCreate(0, NULL, NULL, &link), "link");
    check(cuLinkAddData(link, CU_JIT_INPUT_CUBIN, code, size, "code", 0, NULL, NULL), "add");
    check(cuLinkComplete(link, &image, &size), "complete");
    run("linked", image);
    free(code);
    return 0;
}
