/* A libnvrtc in front of the vendor's: compiles by it, but to PTX, because machine code cannot be simulated.
 *
 * A program asks for the architecture of the GPU it finds, often as machine code (sm_90). The virtual one is
 * asked for instead (compute_90), and one that the library knows; PTX is what nvrtcGetCUBIN then gives, which
 * every call takes that loads or links machine code. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cuda/nvrtc/find.h"

typedef struct _nvrtcProgram *nvrtcProgram;
enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7 };

/* Tells it from the vendor's. */
int nvrtcIsStandIn(void);
int nvrtcIsStandIn(void) {
    return 1;
}

static void *library;

static void find_library(void) {
    library = nvrtc_find(NVRTC_NAME);
}

/* A function of the vendor's library, or NULL. */
static void *theirs(const char *name) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_library);
    return library ? dlsym(library, name) : NULL;
}

#define CALL(name, params, args)                                                                             \
    int name params;                                                                                         \
    int name params {                                                                                        \
        int(*fn) params = (int(*) params)theirs(#name);                                                      \
        return fn ? fn args : NVRTC_ERROR_BUILTIN_OPERATION_FAILURE;                                         \
    }
#include "cuda/nvrtc/calls.def"
#undef CALL

int nvrtcCompileProgram(nvrtcProgram prog, int n, const char *const *options);
int nvrtcGetCUBINSize(nvrtcProgram prog, size_t *size);
int nvrtcGetCUBIN(nvrtcProgram prog, char *out);
const char *nvrtcGetErrorString(int result);

const char *nvrtcGetErrorString(int result) {
    const char *(*fn)(int) = (const char *(*)(int))theirs("nvrtcGetErrorString");
    return fn ? fn(result) : "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE";
}

/* The nearest architecture that the library compiles for. */
static long nearest_arch(long wanted) {
    int n = 0;
    if (nvrtcGetNumSupportedArchs(&n) != NVRTC_SUCCESS || n <= 0)
        return wanted;
    int *known = calloc((size_t)n, sizeof *known);
    long below = 0, above = 0;
    if (known && nvrtcGetSupportedArchs(known) == NVRTC_SUCCESS)
        for (int i = 0; i < n; i++) {
            below = known[i] <= wanted && known[i] > below ? known[i] : below;
            above = known[i] >= wanted && (!above || known[i] < above) ? known[i] : above;
        }
    free(known);
    return below ? below : above ? above : wanted;
}

/* The value of an option that names the architecture, with what stands before it in the same word; NULL when
 * it names none or its value is the next word. */
static const char *arch_value(const char *option, bool *next) {
    static const char *const words[] = {"--gpu-architecture", "-arch"};
    *next = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i]);
        if (strncmp(option, words[i], len))
            continue;
        *next = !option[len];
        return option[len] == '=' ? option + len + 1 : NULL;
    }
    return NULL;
}

/* A copy of an option with compute_NN instead of sm_NN as its value, which is the rest of it. */
static char *virtual_arch(const char *option, const char *value) {
    const char *number = !strncmp(value, "sm_", 3)        ? value + 3
                         : !strncmp(value, "compute_", 8) ? value + 8
                                                          : NULL;
    if (!number)
        return xstrdup(option); /* lto_NN, or a mistake */
    char *rest = NULL;
    long wanted = strtol(number, &rest, 10), arch = nearest_arch(wanted);
    size_t size = strlen(option) + 32;
    char *text = xmalloc(size);
    snprintf(text, size, "%.*scompute_%ld%s", (int)(value - option), option, arch,
             arch == wanted ? rest : "");
    return text;
}

int nvrtcCompileProgram(nvrtcProgram prog, int n, const char *const *options) {
    typedef int compile_fn(nvrtcProgram, int, const char *const *);
    compile_fn *fn = (compile_fn *)theirs("nvrtcCompileProgram");
    if (!fn)
        return NVRTC_ERROR_BUILTIN_OPERATION_FAILURE;
    if (n <= 0 || !options)
        return fn(prog, n, options);
    char **changed = xcalloc((size_t)n, sizeof *changed);
    bool here = false;
    for (int i = 0; i < n; i++) {
        const char *option = options[i] ? options[i] : "";
        bool next = false;
        const char *value = here ? option : arch_value(option, &next);
        changed[i] = value ? virtual_arch(option, value) : xstrdup(option);
        here = next;
    }
    int result = fn(prog, n, (const char *const *)changed);
    for (int i = 0; i < n; i++)
        free(changed[i]);
    free(changed);
    return result;
}

int nvrtcGetCUBINSize(nvrtcProgram prog, size_t *size) {
    return nvrtcGetPTXSize(prog, size);
}

int nvrtcGetCUBIN(nvrtcProgram prog, char *out) {
    return nvrtcGetPTX(prog, out);
}
