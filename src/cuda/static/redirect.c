/* For programs with the CUDA runtime linked in: a library to be loaded before them, which makes the runtime's
 * functions jump to those of ours.
 *
 * Such a program talks to a driver through private tables. But its functions have names, unless it was
 * stripped, so the beginning of each is overwritten in memory, before the program's own start-up code calls
 * the first one. Which release the runtime is of shows in what it has: layouts of structures depend on it. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { JUMP_BYTES = 14 };

/* An object's file, and where it was loaded. */
struct object {
    const uint8_t *file;
    size_t size;
    uintptr_t base;
    const Elf64_Sym *symbols;
    size_t count;
    const char *names;
    size_t names_size;
};

static const void *piece(const struct object *o, uint64_t at, uint64_t size) {
    return at <= o->size && size <= o->size - at ? o->file + at : NULL;
}

static bool find_symbols(struct object *o) {
    const Elf64_Ehdr *h = piece(o, 0, sizeof *h);
    if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
        h->e_shentsize != sizeof(Elf64_Shdr))
        return false;
    const Elf64_Shdr *s = piece(o, h->e_shoff, (uint64_t)h->e_shnum * sizeof *s);
    for (unsigned i = 0; s && i < h->e_shnum; i++) {
        if (s[i].sh_type != SHT_SYMTAB || s[i].sh_link >= h->e_shnum)
            continue;
        const Elf64_Shdr *names = &s[s[i].sh_link];
        o->symbols = piece(o, s[i].sh_offset, s[i].sh_size);
        o->count = s[i].sh_size / sizeof *o->symbols;
        o->names = piece(o, names->sh_offset, names->sh_size);
        o->names_size = names->sh_size;
        return o->symbols && o->names && names->sh_size && !o->names[names->sh_size - 1];
    }
    return false;
}

/* The name of a function that is defined here and may be the runtime's, or NULL. */
static const char *runtime_function(const struct object *o, const Elf64_Sym *s) {
    if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx == SHN_UNDEF || s->st_name >= o->names_size)
        return NULL;
    const char *name = o->names + s->st_name;
    return !strncmp(name, "cuda", 4) || !strncmp(name, "__cuda", 6) ? name : NULL;
}

static bool has(const struct object *o, const char *wanted) {
    for (size_t i = 0; i < o->count; i++) {
        const char *name = runtime_function(o, &o->symbols[i]);
        if (name && !strcmp(name, wanted))
            return true;
    }
    return false;
}

/* Our runtime of the same release, or NULL. */
static void *ours(const struct object *o) {
    static const char *const files[] = {"libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"};
    unsigned release = has(o, "cudaBindTexture") ? 0 : has(o, "cudaGetDeviceProperties_v2") ? 1 : 2;
    Dl_info self;
    char path[PATH_MAX];
    if (!dladdr((void *)runtime_function, &self))
        return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    int n = snprintf(path, sizeof path, "%.*s/%s", slash ? (int)(slash - self.dli_fname) : 1,
                     slash ? self.dli_fname : ".", files[release]);
    void *library = n < PATH_MAX ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library)
        fprintf(stderr, "reprise: the runtime that the program has inside cannot be replaced: %s\n",
                dlerror());
    return library;
}

/* jmp to an address that follows. */
static void write_jump(uint8_t *at, void *to) {
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
    memcpy(at, jump, sizeof jump);
    memcpy(at + sizeof jump, &to, sizeof to);
}

static void redirect(const struct object *o, void *library) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < o->count; i++) {
        const Elf64_Sym *s = &o->symbols[i];
        const char *name = runtime_function(o, s);
        void *to = name ? dlsym(library, name) : NULL;
        uintptr_t at = o->base + s->st_value, first = at & ~(page - 1);
        size_t bytes = at + JUMP_BYTES - first;
        if (!to || mprotect((void *)first, bytes, PROT_READ | PROT_WRITE | PROT_EXEC))
            continue;
        write_jump((uint8_t *)at, to);
        mprotect((void *)first, bytes, PROT_READ | PROT_EXEC);
    }
}

static int visit(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    struct object o = {.base = info->dlpi_addr};
    struct stat st;
    int fd = open(*info->dlpi_name ? info->dlpi_name : "/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (!fstat(fd, &st) && st.st_size > 0) {
        o.size = (size_t)st.st_size;
        void *file = mmap(NULL, o.size, PROT_READ, MAP_PRIVATE, fd, 0);
        o.file = file;
        if (file != MAP_FAILED) {
            if (find_symbols(&o) && has(&o, "cudaLaunchKernel") && has(&o, "cudaMalloc")) {
                void *library = ours(&o);
                if (library)
                    redirect(&o, library);
            }
            munmap(file, o.size);
        }
    }
    close(fd);
    return *info->dlpi_name == '\0'; /* the program comes first, and is all that is looked at */
}

__attribute__((constructor)) static void start(void) {
    dl_iterate_phdr(visit, NULL);
}
