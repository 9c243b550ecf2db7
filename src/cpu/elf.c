/* Loads statically linked AArch64 programs. The file is not trusted: everything in it is checked before it is
 * used. */
#include <elf.h>
#include <string.h>

#include "cpu/guest.h"

/* Where position-independent programs are put. */
#define PIE_BASE 0x10000000ull
/* Above is for the stack and mappings. */
#define LOAD_LIMIT (SPACE_SIZE / 4)

static bool bad(struct diag *d, const char *name, const char *why) {
    diag_add(d, DIAG_ERROR, "%s: %s", name, why);
    return false;
}

static uint64_t page_down(uint64_t at) {
    return at & ~(uint64_t)(PAGE_SIZE - 1);
}

static uint64_t page_up(uint64_t at) {
    return page_down(at + PAGE_SIZE - 1);
}

static bool check_header(const Elf64_Ehdr *h, size_t size, const char *name, struct diag *d) {
    if (memcmp(h->e_ident, ELFMAG, SELFMAG))
        return bad(d, name, "not an ELF file");
    if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
        h->e_machine != EM_AARCH64)
        return bad(d, name, "not a program for AArch64");
    if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
        return bad(d, name, "not a program but some other kind of ELF file");
    if (h->e_phentsize != sizeof(Elf64_Phdr) || !h->e_phnum || h->e_phoff > size ||
        (size - h->e_phoff) / sizeof(Elf64_Phdr) < h->e_phnum)
        return bad(d, name, "its program headers are damaged");
    return true;
}

static bool load_segment(struct space *s, const Elf64_Phdr *p, uint64_t base, const uint8_t *file,
                         size_t size, const char *name, struct diag *d) {
    if (p->p_filesz > p->p_memsz || p->p_offset > size || size - p->p_offset < p->p_filesz)
        return bad(d, name, "a segment lies outside of the file");
    if (p->p_vaddr > LOAD_LIMIT - base || p->p_memsz > LOAD_LIMIT - base - p->p_vaddr)
        return bad(d, name, "a segment lies outside of the simulated memory");
    uint64_t at = base + p->p_vaddr, first = page_down(at) >> PAGE_BITS,
             end = page_up(at + p->p_memsz) >> PAGE_BITS;
    for (uint64_t page = first, next; page < end; page = next) { /* segments may share pages */
        for (next = page + 1; next < end && !s->perm[page] && !s->perm[next]; next++)
            ;
        if (!s->perm[page] && !space_map(s, page << PAGE_BITS, (next - page) << PAGE_BITS, 0))
            return bad(d, name, "the host has no memory for it");
    }
    memcpy(s->mem + at, file + p->p_offset, p->p_filesz);
    uint8_t perm = (uint8_t)((p->p_flags & PF_R ? PERM_READ : 0) | (p->p_flags & PF_W ? PERM_WRITE : 0) |
                             (p->p_flags & PF_X ? PERM_EXEC : 0));
    for (uint64_t page = first; page < end; page++)
        s->perm[page] |= perm;
    return true;
}

bool elf_load(struct space *s, const void *file, size_t size, const char *name, struct elf_image *out,
              struct diag *d) {
    Elf64_Ehdr h;
    if (size < sizeof h)
        return bad(d, name, "not an ELF file");
    memcpy(&h, file, sizeof h);
    if (!check_header(&h, size, name, d))
        return false;
    uint64_t base = h.e_type == ET_DYN ? PIE_BASE : 0;
    *out = (struct elf_image){.entry = base + h.e_entry, .phnum = h.e_phnum, .phent = h.e_phentsize};
    for (uint32_t k = 0; k < h.e_phnum; k++) {
        Elf64_Phdr p;
        memcpy(&p, (const uint8_t *)file + h.e_phoff + k * sizeof p, sizeof p);
        if (p.p_type == PT_INTERP)
            return bad(d, name, "linked dynamically; only programs linked with -static can be simulated");
        if (p.p_type != PT_LOAD || !p.p_memsz)
            continue;
        if (!load_segment(s, &p, base, file, size, name, d))
            return false;
        if (h.e_phoff >= p.p_offset && h.e_phoff - p.p_offset < p.p_filesz)
            out->phdr = base + p.p_vaddr + (h.e_phoff - p.p_offset);
        uint64_t end = page_up(base + p.p_vaddr + p.p_memsz);
        out->end = end > out->end ? end : out->end;
    }
    if (!out->end)
        return bad(d, name, "there is nothing to load in it");
    return true;
}
