/* Which stream the default one is. Programs that were compiled with a default stream for each thread call
 * functions with names of their own (cudaLaunchKernel_ptsz, cudaMemcpy_ptds), which do the same here: what a
 * program calls is asked of it once, by the relocations of what is loaded. A program that has code of both
 * kinds gets the legacy stream, which orders more. */
#include <elf.h>
#include <link.h>
#include <string.h>

#include "cuda/queue.h"

struct imports {
    bool per_thread, legacy;
};

static bool ends_in(const char *name, const char *suffix) {
    size_t n = strlen(name), m = strlen(suffix);
    return n > m && !strcmp(name + n - m, suffix);
}

static void note(struct imports *all, const char *name) {
    static const char *const legacy[] = {"cudaLaunchKernel", "cuLaunchKernel"};
    while (*name == '_')
        name++;
    if (strncmp(name, "cu", 2) != 0)
        return;
    all->per_thread |= ends_in(name, "_ptsz") || ends_in(name, "_ptds");
    for (size_t i = 0; i < sizeof legacy / sizeof *legacy; i++)
        all->legacy |= !strcmp(name, legacy[i]);
}

/* The loader has replaced offsets by addresses, except in objects that it maps as they are. */
static const void *place(const struct dl_phdr_info *o, ElfW(Addr) addr) {
    return (const void *)(addr < o->dlpi_addr ? o->dlpi_addr + addr : addr);
}

static int look(struct dl_phdr_info *o, size_t size, void *ctx) {
    (void)size;
    struct {
        const ElfW(Rela) * at;
        size_t bytes;
    } tables[2] = {0};
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    const char *file = strrchr(o->dlpi_name, '/');
    if (!strncmp(file ? file + 1 : o->dlpi_name, "libcuda", 7)) /* libcudart calls libcuda */
        return 0;
    for (int i = 0; i < o->dlpi_phnum; i++) {
        if (o->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        const ElfW(Dyn) *d = (const void *)(o->dlpi_addr + o->dlpi_phdr[i].p_vaddr);
        for (; d->d_tag != DT_NULL; d++) {
            if (d->d_tag == DT_RELA)
                tables[0].at = place(o, d->d_un.d_ptr);
            else if (d->d_tag == DT_RELASZ)
                tables[0].bytes = d->d_un.d_val;
            else if (d->d_tag == DT_JMPREL)
                tables[1].at = place(o, d->d_un.d_ptr);
            else if (d->d_tag == DT_PLTRELSZ)
                tables[1].bytes = d->d_un.d_val;
            else if (d->d_tag == DT_SYMTAB)
                symbols = place(o, d->d_un.d_ptr);
            else if (d->d_tag == DT_STRTAB)
                strings = place(o, d->d_un.d_ptr);
        }
    }
    for (int t = 0; symbols && strings && t < 2; t++)
        for (size_t i = 0; tables[t].at && i < tables[t].bytes / sizeof *tables[t].at; i++) {
            const ElfW(Sym) *s = &symbols[ELF64_R_SYM(tables[t].at[i].r_info)];
            if (s->st_shndx == SHN_UNDEF)
                note(ctx, strings + s->st_name);
        }
    return 0;
}

bool cud_default_per_thread(void) {
    static bool asked, answer;
    if (!asked) {
        struct imports all = {0};
        dl_iterate_phdr(look, &all);
        answer = all.per_thread && !all.legacy;
        asked = true;
    }
    return answer;
}

struct CUstream_st *cud_thread_stream(struct CUctx_st *ctx) {
    struct cud_thread *t = cud_thread();
    struct CUstream_st *s = cud_object_get(t->own, CUD_STREAM);
    if (!s || s->obj.ctx != ctx || s->id != t->own_id) {
        cud_stream_create(&s, 0, 0);
        t->own = s;
        t->own_id = s->id;
    }
    return s;
}
