/* A simulated Linux process of one thread: a program file, memory, open files, the CPU.
 *
 * The guest sees files that the user named, the three standard streams, a clock that its own progress drives,
 * and nothing else of the host. The same program with the same arguments and files does the same on every
 * host. */
#ifndef REPRISE_CPU_GUEST_H
#define REPRISE_CPU_GUEST_H

#include "base/diag.h"
#include "cpu/cpu.h"

enum { GUEST_FILES = 64, GUEST_SIGNALS = 64 };

/* What a program wants to be done at a signal, as the kernel is told it. */
struct guest_action {
    uint64_t handler, flags, restorer, mask;
};

struct guest_signals {
    struct guest_action action[GUEST_SIGNALS + 1];
    uint64_t blocked, pending;
    uint64_t way_back; /* where handlers return to; 0: none was called yet */
    bool by_thread;    /* how the last was sent */
};

struct guest_options {
    const char *const *argv; /* NULL-terminated; the first is the program file */
    const char *const *env;  /* NULL-terminated "NAME=VALUE", or NULL: none */
    const char *const
        *files; /* NULL-terminated: what may be opened beside files that arguments name; or NULL */
};

struct guest {
    struct space space;
    struct cpu cpu;
    struct guest_options options;
    uint64_t brk_start, brk; /* the heap */
    uint64_t mmap_below;     /* where the next mapping is looked for first */
    uint64_t slept;          /* nanoseconds */
    uint64_t random;         /* state of what getrandom returns */
    int files[GUEST_FILES];  /* the host's file of each of the guest's, or -1 */
    struct guest_signals signals;
    bool exited;
    int status;                   /* of exit */
    int signal;                   /* that ended it, or 0 */
    uint64_t (*clock)(void *ctx); /* nanoseconds that passed in the guest; NULL: one for each instruction */
    void *clock_ctx;
};

/* Loads a program. False: the reason is in d, and nothing must be freed. */
bool guest_init(struct guest *g, const struct guest_options *o, struct diag *d);
/* The same with the contents of the program file in memory. */
bool guest_init_image(struct guest *g, const struct guest_options *o, const void *image, size_t size,
                      struct diag *d);
void guest_free(struct guest *g);
/* Runs at most so many instructions, or to the end. CPU_BUDGET: more could run; CPU_SYSCALL: it exited;
 * CPU_FAULT; CPU_PAUSE: the watcher of its CPU wants it; CPU_MARK: a region begins or ends. */
enum cpu_stop guest_run(struct guest *g, uint64_t budget);
/* What the shell would call the exit status: 128 and the signal if one ended it. */
int guest_status(const struct guest *g);

/* For guest_run: does the system call that the registers ask for. False: the guest ended. */
bool guest_syscall(struct guest *g);
/* Loads an ELF file: segments, entry. The table of its program headers for the auxiliary vector. */
struct elf_image {
    uint64_t entry, phdr, phnum, phent, end;
};
bool elf_load(struct space *s, const void *file, size_t size, const char *name, struct elf_image *out,
              struct diag *d);

#endif
