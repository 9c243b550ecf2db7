/* A process from its start to its end: its first stack, and the loop around the CPU. */
#include "cpu/guest.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define STACK_TOP  (SPACE_SIZE - (16ull << 20))
#define STACK_SIZE (8ull << 20)
#define MMAP_TOP   (SPACE_SIZE - (64ull << 20))

/* What the kernel would say the CPU can do. */
enum { CAP_FP = 1, CAP_ASIMD = 2, CAP_CRC32 = 1 << 7 };

static char *read_file(const char *path, size_t *size, struct diag *d) {
    FILE *f = fopen(path, "rb");
    if (!f) {
        diag_add(d, DIAG_ERROR, "%s: %s", path, strerror(errno));
        return NULL;
    }
    struct str s = {0};
    char buf[65536];
    size_t n;
    while ((n = fread(buf, 1, sizeof buf, f)) > 0 && s.len < UINT32_MAX / 2)
        str_add(&s, buf, n);
    bool failed = ferror(f);
    fclose(f);
    if (failed) {
        diag_add(d, DIAG_ERROR, "%s: cannot be read", path);
        str_free(&s);
        return NULL;
    }
    *size = s.len;
    return s.at ? s.at : xstrdup("");
}

/* The first stack, built downwards. */
struct stack {
    struct space *space;
    uint64_t at;
    bool full;
};

static uint64_t push(struct stack *s, const void *bytes, size_t size) {
    if (s->at - size < STACK_TOP - STACK_SIZE / 2) {
        s->full = true;
        return 0;
    }
    s->at -= size;
    space_write(s->space, s->at, bytes, size);
    return s->at;
}

static bool build_stack(struct guest *g, const struct elf_image *elf, struct diag *d) {
    static const uint8_t random[16] = {0x52, 0x65, 0x70, 0x72, 0x69, 0x73, 0x65, 0x2e,
                                       1,    2,    3,    4,    5,    6,    7,    8};
    struct stack s = {&g->space, STACK_TOP, false};
    VEC(uint64_t) words = {0};
    if (!space_map(&g->space, STACK_TOP - STACK_SIZE, STACK_SIZE, PERM_READ | PERM_WRITE)) {
        diag_add(d, DIAG_ERROR, "the host has no memory for a stack");
        return false;
    }
    uint64_t name = push(&s, g->options.argv[0], strlen(g->options.argv[0]) + 1);
    uint64_t platform = push(&s, "aarch64", 8), random_at = push(&s, random, sizeof random), argc = 0;
    vec_push(&words, 0);
    for (; g->options.argv[argc]; argc++)
        vec_push(&words, push(&s, g->options.argv[argc], strlen(g->options.argv[argc]) + 1));
    words.at[0] = argc;
    vec_push(&words, 0);
    for (const char *const *e = g->options.env; e && *e; e++)
        vec_push(&words, push(&s, *e, strlen(*e) + 1));
    vec_push(&words, 0);
    const uint64_t aux[][2] = {
        {AT_PHDR, elf->phdr},
        {AT_PHENT, elf->phent},
        {AT_PHNUM, elf->phnum},
        {AT_PAGESZ, PAGE_SIZE},
        {AT_BASE, 0},
        {AT_FLAGS, 0},
        {AT_ENTRY, elf->entry},
        {AT_UID, 1000},
        {AT_EUID, 1000},
        {AT_GID, 1000},
        {AT_EGID, 1000},
        {AT_SECURE, 0},
        {AT_CLKTCK, 100},
        {AT_HWCAP, CAP_FP | CAP_ASIMD | CAP_CRC32},
        {AT_RANDOM, random_at},
        {AT_EXECFN, name},
        {AT_PLATFORM, platform},
        {AT_NULL, 0},
    };
    for (size_t k = 0; k < sizeof aux / sizeof aux[0]; k++) {
        vec_push(&words, aux[k][0]);
        vec_push(&words, aux[k][1]);
    }
    s.at = (s.at - words.len * sizeof *words.at) / 16 * 16 +
           words.len * sizeof *words.at; /* so that it ends aligned */
    g->cpu.x[A64_SP] = push(&s, words.at, words.len * sizeof *words.at);
    vec_free(&words);
    if (s.full)
        diag_add(d, DIAG_ERROR, "arguments and environment do not fit on the stack");
    return !s.full;
}

bool guest_init_image(struct guest *g, const struct guest_options *o, const void *image, size_t size,
                      struct diag *d) {
    *g = (struct guest){.options = *o, .random = 0x9e3779b97f4a7c15ull, .mmap_below = MMAP_TOP};
    for (int k = 0; k < GUEST_FILES; k++)
        g->files[k] = k < 3 ? k : -1;
    if (!space_init(&g->space)) {
        diag_add(d, DIAG_ERROR, "the host has no room for a simulated memory of %llu GiB", SPACE_SIZE >> 30);
        return false;
    }
    cpu_init(&g->cpu, &g->space);
    struct elf_image elf;
    bool ok = elf_load(&g->space, image, size, o->argv[0], &elf, d);
    if (ok) {
        g->brk = g->brk_start = elf.end;
        g->cpu.pc = elf.entry;
        ok = build_stack(g, &elf, d);
    }
    if (!ok)
        guest_free(g);
    return ok;
}

bool guest_init(struct guest *g, const struct guest_options *o, struct diag *d) {
    size_t size;
    char *file = read_file(o->argv[0], &size, d);
    bool ok = file && guest_init_image(g, o, file, size, d);
    free(file);
    return ok;
}

enum cpu_stop guest_run(struct guest *g, uint64_t budget) {
    while (budget && !g->exited) {
        uint64_t before = cpu_counter(&g->cpu);
        enum cpu_stop why = cpu_run(&g->cpu, budget);
        budget -= cpu_counter(&g->cpu) - before;
        if (why == CPU_FAULT || why == CPU_PAUSE || why == CPU_MARK)
            return why;
        if (why == CPU_SYSCALL)
            guest_syscall(g);
    }
    return g->exited ? CPU_SYSCALL : CPU_BUDGET;
}

int guest_status(const struct guest *g) {
    return g->signal ? 128 + g->signal : g->status;
}
