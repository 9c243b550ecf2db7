/* Looks at a program file to tell how it reaches CUDA. A program with the runtime linked in statically talks
 * to the driver through private tables that no drop-in can offer. If the runtime's functions have names, they
 * are made to jump to ours (src/cuda/static); if not, that must be said before the program runs. */
#ifndef REPRISE_CUDA_ELFCHECK_H
#define REPRISE_CUDA_ELFCHECK_H

#include <stddef.h>

enum elf_cuda_kind {
    ELF_UNREADABLE,  /* no such file, or it cannot be read */
    ELF_NOT_PROGRAM, /* not a 64-bit little-endian ELF file: perhaps a script */
    ELF_NO_CUDA,     /* nothing of CUDA in it; a library it loads may still use CUDA */
    ELF_CUDA_SHARED, /* uses a shared libcudart or libcuda: can run */
    ELF_CUDA_INSIDE, /* has the CUDA runtime inside, with the names of its functions: they can be redirected
                      */
    ELF_CUDA_STATIC, /* has it inside without names: cannot run */
};

/* What the file at path is. */
enum elf_cuda_kind elf_check(const char *path);
/* The same for len bytes in memory, whatever they are. */
enum elf_cuda_kind elf_check_image(const void *image, size_t len);
/* What to tell the user about a program with the runtime inside. */
const char *elf_static_advice(void);

#endif
