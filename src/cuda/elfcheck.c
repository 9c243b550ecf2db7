/* Reads just enough of ELF: the dynamic section, through the program headers, for the libraries a program
 * needs and the symbols it imports; and the section names, for device code. Every offset is checked. */
#include "cuda/elfcheck.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct elf {
    const uint8_t *at;
    size_t len;
    Elf64_Ehdr h;
};

/* Copies n bytes at offset off out of the file; false when they are not there. */
static bool get(const struct elf *e, uint64_t off, void *out, size_t n) {
    if (off > e->len || n > e->len - off)
        return false;
    memcpy(out, e->at + off, n);
    return true;
}

/* The string at offset off of a table, or NULL when it does not end inside the file. */
static const char *string_at(const struct elf *e, uint64_t table, uint64_t off) {
    if (table > e->len || off >= e->len - table)
        return NULL;
    const char *s = (const char *)e->at + table + off;
    return memchr(s, '\0', e->len - table - off) ? s : NULL;
}

static bool program_header(const struct elf *e, unsigned i, Elf64_Phdr *p) {
    return e->h.e_phentsize == sizeof *p && get(e, e->h.e_phoff + (uint64_t)i * sizeof *p, p, sizeof *p);
}

/* Where in the file a virtual address is; 0 when nowhere. */
static uint64_t file_offset(const struct elf *e, uint64_t addr) {
    Elf64_Phdr p;
    for (unsigned i = 0; i < e->h.e_phnum && program_header(e, i, &p); i++)
        if (p.p_type == PT_LOAD && addr >= p.p_vaddr && addr - p.p_vaddr < p.p_filesz)
            return p.p_offset + (addr - p.p_vaddr);
    return 0;
}

struct dynamic {
    uint64_t at, count;        /* the entries */
    uint64_t strings, symbols; /* file offsets; 0 when absent */
};

static bool dynamic_entry(const struct elf *e, const struct dynamic *d, uint64_t i, Elf64_Dyn *out) {
    return i < d->count && get(e, d->at + i * sizeof *out, out, sizeof *out) && out->d_tag != DT_NULL;
}

static bool find_dynamic(const struct elf *e, struct dynamic *d) {
    Elf64_Phdr p;
    Elf64_Dyn entry;
    *d = (struct dynamic){0};
    for (unsigned i = 0; i < e->h.e_phnum && program_header(e, i, &p); i++)
        if (p.p_type == PT_DYNAMIC) {
            d->at = p.p_offset;
            d->count = p.p_filesz / sizeof entry;
        }
    for (uint64_t i = 0; dynamic_entry(e, d, i, &entry); i++)
        if (entry.d_tag == DT_STRTAB)
            d->strings = file_offset(e, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_SYMTAB)
            d->symbols = file_offset(e, entry.d_un.d_ptr);
    return d->strings != 0;
}

/* Whether the program names a library whose name starts so among those it needs. */
static bool needs(const struct elf *e, const struct dynamic *d, const char *library) {
    Elf64_Dyn entry;
    for (uint64_t i = 0; dynamic_entry(e, d, i, &entry); i++) {
        const char *name = entry.d_tag == DT_NEEDED ? string_at(e, d->strings, entry.d_un.d_val) : NULL;
        if (name && !strncmp(name, library, strlen(library)))
            return true;
    }
    return false;
}

/* Whether the program imports the function that registers device code: then a library provides it. The
 * symbol table has no length of its own; linkers put the string table right behind it. */
static bool imports_registration(const struct elf *e, const struct dynamic *d) {
    Elf64_Sym sym;
    uint64_t end = d->strings > d->symbols ? d->strings : e->len;
    for (uint64_t at = d->symbols; d->symbols && at < end && get(e, at, &sym, sizeof sym); at += sizeof sym) {
        const char *name = sym.st_shndx == SHN_UNDEF ? string_at(e, d->strings, sym.st_name) : NULL;
        if (name && !strcmp(name, "__cudaRegisterFatBinary"))
            return true;
    }
    return false;
}

static bool section_header(const struct elf *e, unsigned i, Elf64_Shdr *s) {
    return e->h.e_shentsize == sizeof *s && get(e, e->h.e_shoff + (uint64_t)i * sizeof *s, s, sizeof *s);
}

static bool has_section(const struct elf *e, const char *wanted) {
    Elf64_Shdr names, s;
    if (!section_header(e, e->h.e_shstrndx, &names))
        return false;
    for (unsigned i = 0; i < e->h.e_shnum && section_header(e, i, &s); i++) {
        const char *name = string_at(e, names.sh_offset, s.sh_name);
        if (name && !strcmp(name, wanted))
            return true;
    }
    return false;
}

/* The runtime library keeps the names of its calls, for tools that watch them. */
static bool holds_runtime(const struct elf *e) {
    static const char name[] = "\0cudaStreamSynchronize";
    return memmem(e->at, e->len, name, sizeof name) != NULL;
}

/* Whether the program, which a loader starts, defines the runtime's functions under their names. */
static bool names_runtime(const struct elf *e) {
    Elf64_Shdr s, names;
    Elf64_Phdr p;
    Elf64_Sym sym;
    bool loaded = false;
    for (unsigned i = 0; i < e->h.e_phnum && program_header(e, i, &p); i++)
        loaded |= p.p_type == PT_INTERP;
    for (unsigned i = 0; loaded && i < e->h.e_shnum && section_header(e, i, &s); i++) {
        if (s.sh_type != SHT_SYMTAB || !section_header(e, s.sh_link, &names))
            continue;
        for (uint64_t k = 0;
             k < s.sh_size / sizeof sym && get(e, s.sh_offset + k * sizeof sym, &sym, sizeof sym); k++) {
            const char *name = sym.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(sym.st_info) == STT_FUNC
                                   ? string_at(e, names.sh_offset, sym.st_name)
                                   : NULL;
            if (name && !strcmp(name, "cudaLaunchKernel"))
                return true;
        }
    }
    return false;
}

enum elf_cuda_kind elf_check_image(const void *image, size_t len) {
    struct elf e = {.at = image, .len = len};
    struct dynamic d;
    if (!get(&e, 0, &e.h, sizeof e.h) || memcmp(e.h.e_ident, ELFMAG, SELFMAG) != 0 ||
        e.h.e_ident[EI_CLASS] != ELFCLASS64 || e.h.e_ident[EI_DATA] != ELFDATA2LSB)
        return ELF_NOT_PROGRAM;
    bool dynamic = find_dynamic(&e, &d);
    if (dynamic && (needs(&e, &d, "libcudart.so") || imports_registration(&e, &d)))
        return ELF_CUDA_SHARED;
    bool driver = dynamic && needs(&e, &d, "libcuda.so");
    /* nvcc's device linker leaves some code in any program: in one for the driver alone it means nothing. */
    bool code = has_section(&e, ".nv_fatbin") && (!driver || holds_runtime(&e));
    if (code || has_section(&e, ".nvFatBinSegment"))
        return names_runtime(&e) ? ELF_CUDA_INSIDE : ELF_CUDA_STATIC;
    return driver ? ELF_CUDA_SHARED : ELF_NO_CUDA;
}

enum elf_cuda_kind elf_check(const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ELF_UNREADABLE;
    enum elf_cuda_kind kind = ELF_UNREADABLE;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        size_t len = (size_t)st.st_size;
        void *image = len ? mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
        kind = len ? kind : ELF_NOT_PROGRAM;
        if (image != MAP_FAILED) {
            kind = elf_check_image(image, len);
            munmap(image, len);
        }
    }
    close(fd);
    return kind;
}

const char *elf_static_advice(void) {
    return "the program has the CUDA runtime linked in statically (nvcc's default) and no names for its "
           "functions, so it would look for a real driver.\nDo not strip it; or relink it with the shared "
           "runtime: nvcc -cudart shared ..., or in CMake set_target_properties(... CUDA_RUNTIME_LIBRARY "
           "Shared), or with clang -lcudart instead of -lcudart_static.\n";
}
