/* The check for how a program reaches CUDA, on files made here byte by byte. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cuda/elfcheck.h"

/* A program with one segment that holds the whole file, so that addresses are offsets. */
struct image {
    Elf64_Ehdr h;
    Elf64_Phdr load, dynamic;
    Elf64_Dyn entries[4];
    Elf64_Sym symbols[2];
    char strings[64];
    Elf64_Shdr sections[2];
    char names[32], rodata[64];
};

static struct image program(const char *library, const char *import, const char *section) {
    struct image f = {
        .h = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
              .e_phoff = offsetof(struct image, load),
              .e_phentsize = sizeof(Elf64_Phdr),
              .e_phnum = 2,
              .e_shoff = offsetof(struct image, sections),
              .e_shentsize = sizeof(Elf64_Shdr),
              .e_shnum = 2},
        .load = {.p_type = PT_LOAD, .p_filesz = sizeof f, .p_vaddr = 0},
        .dynamic = {.p_type = PT_DYNAMIC,
                    .p_offset = offsetof(struct image, entries),
                    .p_filesz = sizeof f.entries},
        .entries = {{.d_tag = DT_NEEDED, .d_un.d_val = 1},
                    {.d_tag = DT_STRTAB, .d_un.d_ptr = offsetof(struct image, strings)},
                    {.d_tag = DT_SYMTAB, .d_un.d_ptr = offsetof(struct image, symbols)}},
        .symbols = {{0}, {.st_name = 32, .st_shndx = SHN_UNDEF}},
        .sections = {{.sh_offset = offsetof(struct image, names)}, {.sh_name = 1}},
    };
    strcpy(f.strings + 1, library);
    strcpy(f.strings + 32, import);
    strcpy(f.names + 1, section);
    return f;
}

static enum elf_cuda_kind check(const char *library, const char *import, const char *section) {
    struct image f = program(library, import, section);
    return elf_check_image(&f, sizeof f);
}

static void test_kinds(void **state) {
    (void)state;
    assert_int_equal(check("libc.so.6", "malloc", ".text"), ELF_NO_CUDA);
    assert_int_equal(check("libcudart.so.13", "malloc", ".nv_fatbin"), ELF_CUDA_SHARED);
    assert_int_equal(check("libfoo.so", "__cudaRegisterFatBinary", ".nv_fatbin"), ELF_CUDA_SHARED);
    assert_int_equal(check("libcuda.so.1", "cuInit", ".text"), ELF_CUDA_SHARED);
    assert_int_equal(check("libc.so.6", "malloc", ".nv_fatbin"), ELF_CUDA_STATIC);
    assert_int_equal(check("libcuda.so.1", "cuInit", ".nvFatBinSegment"), ELF_CUDA_STATIC);
    /* nvcc leaves device code in any program it links; what counts is whether the runtime is there, too. */
    assert_int_equal(check("libcuda.so.1", "cuInit", ".nv_fatbin"), ELF_CUDA_SHARED);
    struct image f = program("libcuda.so.1", "cuInit", ".nv_fatbin");
    strcpy(f.rodata, "cudaGetDevice");
    strcpy(f.rodata + 14, "cudaStreamSynchronize");
    assert_int_equal(elf_check_image(&f, sizeof f), ELF_CUDA_STATIC);
    assert_int_equal(elf_check("/nonexistent/program"), ELF_UNREADABLE);
    assert_int_equal(elf_check_image("#!/bin/sh\n", 10), ELF_NOT_PROGRAM);
}

/* No truncation and no single wrong byte makes the check read outside the file (ASan watches). */
static void test_any_bytes(void **state) {
    (void)state;
    struct image f = program("libcudart.so.12", "__cudaRegisterFatBinary", ".nv_fatbin");
    for (size_t len = 0; len <= sizeof f; len++) {
        char *copy = malloc(len ? len : 1);
        memcpy(copy, &f, len);
        enum elf_cuda_kind kind = elf_check_image(copy, len);
        assert_true(len >= sizeof(Elf64_Ehdr) ? kind != ELF_UNREADABLE : kind == ELF_NOT_PROGRAM);
        free(copy);
    }
    for (size_t at = 0; at < sizeof f; at++) {
        struct image *copy = malloc(sizeof f);
        *copy = f;
        ((unsigned char *)copy)[at] ^= 0xff;
        assert_int_not_equal(elf_check_image(copy, sizeof f), ELF_UNREADABLE);
        free(copy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds), cmocka_unit_test(test_any_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
