/* libFuzzer target: program files for the simulated CPU, loaded if they can be and run a little; and words
 * that it executes as they are, with a memoization unit, functionally or in time. Whatever they are, they
 * reach the guest's memory only, and the run ends. Files are also analysed for memoization and rewritten. The
 * first byte in front of words picks registers: small numbers, addresses, or what follows. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/dddg.h"
#include "cpu/guest.h"
#include "cpu/hpi.h"
#include "cpu/rewrite.h"

enum { CODE = 0x400000, DATA = 0x500000, DATA_SIZE = 0x4000, BUDGET = 2000 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char *const argv[] = {"fuzz", "argument", NULL};
static struct guest g;

/* The parameters of a CPU, as they are by default. */
static const struct cpu_config *parameters(void) {
    static struct config config;
    if (!config.blocks.len) {
        static const char text[] = "cpu:\n  name: fuzz\n";
        struct diag d = {0};
        config.what = "CPU";
        config_add(&config, &cpu_params);
        if (!config_parse(&config, text, sizeof text - 1, "fuzz", NULL, NULL, &d))
            abort();
        diag_free(&d);
    }
    return config_values(&config, &cpu_params);
}

/* Looks for blocks in what a program does, and rewrites it. */
static void analyse(const uint8_t *bytes, size_t size) {
    static const uint8_t bits[REGION_MAX];
    const struct dddg_limits limits = {.ratio = 1, .weight = 4, .inputs = 16, .vertices = 50, .overlap = 0.5};
    const struct region_limits blocks = {.ratio = 1, .weight = 4, .inputs = 16};
    struct cputrace t;
    struct dddg_result found;
    struct region r[REGION_MAX];
    struct diag d = {0};
    size_t len;
    cputrace_run(&t, &g, parameters(), BUDGET, false, 0);
    dddg_find(&t, &limits, &found);
    free(rewrite(bytes, size, r, bits, region_find(&t, &blocks, r), &len, &d));
    dddg_free(&found);
    cputrace_free(&t);
    diag_free(&d);
}

static void run_file(const uint8_t *bytes, size_t size) {
    struct guest_options o = {.argv = argv};
    struct diag d = {0};
    if (guest_init_image(&g, &o, bytes, size, &d)) {
        memset(g.files, 0xff, sizeof g.files);
        guest_run(&g, BUDGET);
        guest_free(&g);
    }
    if (guest_init_image(&g, &o, bytes, size, &d)) {
        memset(g.files, 0xff, sizeof g.files);
        analyse(bytes, size);
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
    struct arena arena = {0};
    struct memo memo;
    static struct cpumem memory;
    static struct hpi core;
    const struct memo_spec spec = {.l1_bytes = 4096,
                                   .l2_bytes = bytes[0] & 64 ? 8192 : 0,
                                   .truncate = true,
                                   .sample = 2,
                                   .window = 3,
                                   .bad = 1,
                                   .error = 0.1,
                                   .direct = bytes[0] & 32 ? 8 : 0,
                                   .epoch_bits = 1};
    memo_init(&memo, &arena, &spec, 0, spec.l2_bytes ? memo_l2_create(&arena, &spec) : NULL);
    g.cpu.memo = &memo;
    bool timed = bytes[0] & 128;
    if (timed) {
        cpumem_init(&memory, parameters(), 8);
        hpi_init(&core, parameters(), &memory.port[0], &memory.arena);
        hpi_attach(&core, &g.cpu);
    }
    if (guest_run(&g, BUDGET) == CPU_FAULT)
        cpu_describe_fault(&g.cpu, &text);
    if (timed) {
        hpi_finish(&core);
        cpumem_free(&memory);
    }
    memo_free(&memo);
    arena_free(&arena);
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
