/* Where the vendor's libnvrtc may be: where REPRISE_NVRTC says, where the loader was told to look, where the
 * objects of the program look, beside nvcc, and where toolkits are installed. The loader itself cannot be
 * asked, since it would find the library that asks. */
#include "cuda/nvrtc/find.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"

static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
static const char *const places[] = {"/usr/local/cuda/lib64",
                                     "/usr/local/cuda-*/lib64",
                                     "/opt/cuda/lib64",
                                     "/usr/lib/x86_64-linux-gnu",
                                     "/usr/lib64",
                                     "/usr/lib"};

/* Directories to look into. */
struct search {
    struct str dirs; /* separated by colons */
};

static void add_dir(struct search *s, const char *dir, size_t len) {
    if (len)
        str_printf(&s->dirs, "%.*s:", (int)len, dir);
}

/* Adds the directories of a list as in LD_LIBRARY_PATH; $ORIGIN is the directory of the object. */
static void add_list(struct search *s, const char *list, const char *object) {
    for (const char *at = list; at && *at; at += strcspn(at, ":"), at += *at == ':') {
        size_t len = strcspn(at, ":");
        const char *slash = object ? strrchr(object, '/') : NULL;
        size_t origin = !strncmp(at, "$ORIGIN", 7) ? 7 : !strncmp(at, "${ORIGIN}", 9) ? 9 : 0;
        if (!origin) {
            add_dir(s, at, len);
        } else if (slash) {
            char path[PATH_MAX];
            int n = snprintf(path, sizeof path, "%.*s%.*s", (int)(slash - object), object,
                             (int)(len - origin), at + origin);
            add_dir(s, path, n > 0 && n < PATH_MAX ? (size_t)n : 0);
        }
    }
}

/* What an object of the program says about where its libraries are. */
static int add_object(struct dl_phdr_info *info, size_t size, void *search) {
    (void)size;
    const ElfW(Dyn) *dynamic = NULL;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    const char *strings = NULL;
    for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB) /* the loader has made it an address, but for the vDSO's */
            strings = d->d_un.d_ptr > info->dlpi_addr ? (const char *)d->d_un.d_ptr : NULL;
    char self[PATH_MAX];
    const char *name = info->dlpi_name;
    if (!*name) {
        ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
        self[n > 0 ? n : 0] = '\0';
        name = self;
    }
    for (const ElfW(Dyn) *d = dynamic; strings && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_RUNPATH || d->d_tag == DT_RPATH)
            add_list(search, strings + d->d_un.d_val, name);
    return 0;
}

static void add_places(struct search *s) {
    static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *home = getenv(variables[i]);
        int n = home ? snprintf(path, sizeof path, "%s/lib64", home) : 0;
        add_dir(s, path, n > 0 && n < PATH_MAX ? (size_t)n : 0);
    }
    const char *list = getenv("PATH");
    for (const char *at = list; at && *at; at += strcspn(at, ":"), at += *at == ':') {
        int n = snprintf(path, sizeof path, "%.*s/nvcc", (int)strcspn(at, ":"), at);
        if (n <= 0 || n >= PATH_MAX || access(path, X_OK))
            continue;
        n = snprintf(path, sizeof path, "%.*s/../lib64", (int)strcspn(at, ":"), at);
        add_dir(s, path, n > 0 && n < PATH_MAX ? (size_t)n : 0);
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        glob_t g;
        if (!glob(places[i], 0, NULL, &g))
            for (size_t k = g.gl_pathc; k-- > 0;) /* newer releases first */
                add_dir(s, g.gl_pathv[k], strlen(g.gl_pathv[k]));
        globfree(&g);
    }
}

/* Loads a file, unless it is a library of ours. */
static void *load(const char *path) {
    void *handle = access(path, R_OK) ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle && dlsym(handle, "nvrtcCompileProgram") && !dlsym(handle, "nvrtcIsStandIn"))
        return handle;
    if (handle)
        dlclose(handle);
    return NULL;
}

static void *search(struct search *s, const char *name) {
    const char *dirs = str_text(&s->dirs);
    for (const char *at = dirs; *at; at += strcspn(at, ":"), at += *at == ':') {
        char path[PATH_MAX];
        int n = snprintf(path, sizeof path, "%.*s/%s", (int)strcspn(at, ":"), at, name);
        void *handle = n > 0 && n < PATH_MAX ? load(path) : NULL;
        if (handle)
            return handle;
    }
    return NULL;
}

void *nvrtc_find(const char *name) {
    struct search s = {0};
    const char *chosen = getenv("REPRISE_NVRTC");
    void *handle = NULL;
    if (chosen && *chosen) {
        handle = load(chosen);
    } else {
        add_list(&s, getenv("LD_LIBRARY_PATH"), NULL);
        dl_iterate_phdr(add_object, &s);
        add_places(&s);
        handle = search(&s, name);
        for (size_t i = 0; !handle && i < sizeof names / sizeof *names; i++)
            handle = search(&s, names[i]); /* of another release: the calls are the same */
    }
    if (!handle && chosen && *chosen)
        fprintf(stderr, "reprise: %s, which REPRISE_NVRTC names, is no libnvrtc that can be loaded\n",
                chosen);
    else if (!handle)
        fprintf(stderr,
                "reprise: the program compiles CUDA C++ while it runs, which needs the vendor's compiler "
                "library.\nreprise: %s was not found; it comes with the CUDA toolkit (no GPU is needed). "
                "REPRISE_NVRTC=/path/to/%s names one elsewhere.\n",
                name, name);
    str_free(&s.dirs);
    return handle;
}
