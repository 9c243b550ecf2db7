#include "guest_rig.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void *rig_image(const uint32_t *code, uint32_t words, size_t *size) {
    struct {
        Elf64_Ehdr h;
        Elf64_Phdr p[2];
    } head = {
        .h = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
              .e_type = ET_EXEC,
              .e_machine = EM_AARCH64,
              .e_version = EV_CURRENT,
              .e_entry = RIG_CODE,
              .e_phoff = sizeof(Elf64_Ehdr),
              .e_ehsize = sizeof(Elf64_Ehdr),
              .e_phentsize = sizeof(Elf64_Phdr),
              .e_phnum = 2},
        .p = {{.p_type = PT_LOAD,
               .p_flags = PF_R | PF_X,
               .p_offset = sizeof head,
               .p_vaddr = RIG_CODE,
               .p_filesz = words * sizeof *code,
               .p_memsz = words * sizeof *code},
              {.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = RIG_DATA, .p_memsz = RIG_DATA_SIZE}},
    };
    *size = sizeof head + words * sizeof *code;
    char *image = xmalloc(*size);
    memcpy(image, &head, sizeof head);
    memcpy(image + sizeof head, code, words * sizeof *code);
    return image;
}

struct guest *rig_guest(const uint32_t *code, uint32_t words) {
    static const char *const argv[] = {"test", NULL};
    struct guest_options o = {.argv = argv};
    struct guest *g = xcalloc(1, sizeof *g);
    struct diag d = {0};
    size_t size;
    void *image = rig_image(code, words, &size);
    assert_true(guest_init_image(g, &o, image, size, &d));
    free(image);
    return g;
}

void rig_free(struct guest *g) {
    guest_free(g);
    free(g);
}
