/* The C++ library of the host demangles. It is loaded when it is first needed: most programs have it already,
 * and those that do not should not have to. */
#include "base/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef char *(*demangler)(const char *name, char *room, size_t *size, int *status);

static demangler found;

static void find(void) {
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (library)
        found = (demangler)dlsym(library, "__cxa_demangle");
}

char *demangle(const char *name) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int status;
    if (strncmp(name, "_Z", 2)) /* the library would also read the names of types: "i" */
        return NULL;
    pthread_once(&once, find);
    return found ? found(name, NULL, NULL, &status) : NULL;
}

void str_add_name(struct str *to, const char *name) {
    char *plain = demangle(name);
    str_printf(to, "%s", plain ? plain : name);
    free(plain);
}
