/* Where the parts of Reprise are. */
#include "study/place.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *place_libraries(void) {
    static char path[PATH_MAX + 32];
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n < 0)
        return NULL;
    exe[n] = 0;
    char *slash = strrchr(exe, '/');
    if (slash)
        *slash = 0;
    static const char *const places[] = {"%s", "%s/../lib/reprise"}; /* built, installed */
    for (int i = 0; i < 2; i++) {
        char lib[PATH_MAX + 64];
        snprintf(path, sizeof path, places[i], exe);
        snprintf(lib, sizeof lib, "%s/libcuda.so.1", path);
        if (access(lib, R_OK) == 0)
            return path;
    }
    fprintf(stderr, "reprise: the CUDA libraries are not beside %s; build with 'make' first\n", exe);
    return NULL;
}

bool place_workload(const char *program, char *path, size_t size) {
    static const char *const places[] = {"%s/../workloads/%s", "%s/workloads/%s"}; /* built, installed */
    const char *dir = place_libraries();
    for (int i = 0; dir && i < 2; i++) {
        snprintf(path, size, places[i], dir, program);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

bool place_data(const char *name, char *path, size_t size) {
    static const char *const places[] = {"/../../data", "/../../share/reprise/data"}; /* built, installed */
    const char *dir = place_libraries();
    for (int i = 0; dir && i < 3; i++) {
        snprintf(path, size, "%s%s/%s", i < 2 ? dir : DATA_DIR, i < 2 ? places[i] : "", name);
        if (access(path, R_OK) == 0)
            return true;
    }
    fprintf(stderr, "reprise: %s was not found\n", name);
    return false;
}
