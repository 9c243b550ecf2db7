/* libFuzzer target: program files for the simulated CPU, loaded if they can be and run a little; and words
 * that it executes as they are. Whatever they are, they reach the guest's memory only, and the run ends. The
 * first byte in front of words picks registers: small numbers, addresses, or what follows. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/guest.h"

enum { CODE = 0x400000, DATA = 0x500000, DATA_SIZE = 0x4000, BUDGET = 2000 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char *const argv[] = {"fuzz", "argument", NULL};
static struct guest g;

static void run_file(const uint8_t *bytes, size_t size) {
    struct guest_options o = {.argv = argv};
    struct diag d = {0};
    if (guest_init_image(&g, &o, bytes, size, &d)) {
        memset(g.files, 0xff, sizeof g.files);
        guest_run(&g, BUDGET);
        guest_free(&g);
    }
    diag_free(&d);
}

static void run_words(const uint8_t *bytes, size_t size) {
    g = (struct guest){.options = {.argv = argv}, .mmap_below = SPACE_SIZE - (64ull << 20)};
    memset(g.files, 0xff, sizeof g.files);
    if (!space_init(&g.space))
        abort();
    cpu_init(&g.cpu, &g.space);
    space_map(&g.space, CODE, PAGE_SIZE, PERM_READ | PERM_WRITE | PERM_EXEC);
    space_map(&g.space, DATA, DATA_SIZE, PERM_READ | PERM_WRITE);
    space_map(&g.space, SPACE_SIZE - PAGE_SIZE, PAGE_SIZE, PERM_READ | PERM_WRITE);
    space_write(&g.space, CODE, bytes + 1, size - 1);
    for (uint32_t k = 0; k < 32; k++)
        switch ((bytes[0] + k) % 5) {
        case 0:
            g.cpu.x[k] = k;
            break;
        case 1:
            g.cpu.x[k] = DATA + DATA_SIZE - 64 + k;
            break;
        case 2:
            g.cpu.x[k] = SPACE_SIZE - k;
            break;
        case 3:
            g.cpu.x[k] = CODE + 4 * k;
            break;
        default:
            memcpy(&g.cpu.x[k], bytes, size < 8 ? size : 8);
            break;
        }
    for (uint32_t k = 0; k < 32; k++)
        memcpy(&g.cpu.v[k], bytes + size * k / 32, size - size * k / 32 < 16 ? size - size * k / 32 : 16);
    g.cpu.pc = CODE;
    struct str text = {0};
    if (guest_run(&g, BUDGET) == CPU_FAULT)
        cpu_describe_fault(&g.cpu, &text);
    for (size_t at = 1; at + 4 <= size; at += 4) {
        uint32_t word;
        struct a64_uses u;
        memcpy(&word, bytes + at, 4);
        a64_print(&text, word, CODE);
        if (a64_find(word) != A64_OPS)
            a64_uses(word, &u);
    }
    str_free(&text);
    guest_free(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size >= 4 && !memcmp(bytes, "\177ELF", 4))
        run_file(bytes, size);
    else if (size > 4 && size <= PAGE_SIZE)
        run_words(bytes, size);
    return 0;
}
