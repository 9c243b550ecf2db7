/* Simulated processes: loading, faults, budgets, system calls, what they can reach. */
#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest_rig.h"

enum {
    MOVZ_X0 = 0xd2800000, /* movz x0, #0; the immediate is at bit 5 */
    MOVZ_X1 = 0xd2800001,
    MOVZ_X8 = 0xd2800008,
    SVC = 0xd4000001,
    MOV_X1_DATA = 0xd2a00a01, /* movz x1, #0x50, lsl #16: RIG_DATA */
};
#define IMM16(v)     ((uint32_t)(v) << 5)
#define EXIT(status) MOVZ_X0 | IMM16(status), MOVZ_X8 | IMM16(93), SVC

static const char *fault_of(struct guest *g) {
    static struct str s;
    str_free(&s);
    s = (struct str){0};
    assert_int_equal(guest_run(g, 1000), CPU_FAULT);
    cpu_describe_fault(&g->cpu, &s);
    return str_text(&s);
}

static void test_exit(void **unused) {
    (void)unused;
    struct guest *g = RIG_GUEST(EXIT(7));
    assert_int_equal(guest_run(g, 1000), CPU_SYSCALL);
    assert_true(g->exited);
    assert_int_equal(guest_status(g), 7);
    assert_int_equal(cpu_counter(&g->cpu), 3);
    rig_free(g);
}

static void test_faults_say_where(void **unused) {
    (void)unused;
    struct guest *g = RIG_GUEST(MOVZ_X1 | IMM16(0x1234), 0xf9400020 /* ldr x0, [x1] */);
    assert_string_equal(fault_of(g),
                        "at 0x400004: ldr x0, [x1] (0xf9400020) reads memory that is not there: 0x1234");
    assert_int_equal(cpu_counter(&g->cpu), 1);
    rig_free(g);
    g = RIG_GUEST(0x10000001 /* adr x1, . */, 0xf9000020 /* str x0, [x1] */);
    assert_string_equal(
        fault_of(g), "at 0x400004: str x0, [x1] (0xf9000020) writes memory that is not there or must not be "
                     "written: 0x400000");
    rig_free(g);
    g = RIG_GUEST(0xd503201f /* nop */, 0xf8200000 /* ldadd x0, x0, [x0] */);
    assert_string_equal(fault_of(g),
                        "at 0x400004: ldadd (atomics, ARMv8.1) (0xf8200000) is no instruction of this CPU");
    rig_free(g);
    g = RIG_GUEST(0xffffffff);
    assert_string_equal(fault_of(g),
                        "at 0x400000: .inst 0xffffffff (0xffffffff) is no instruction of this CPU");
    rig_free(g);
    g = RIG_GUEST(0xd61f0000 /* br x0 */);
    assert_string_equal(fault_of(g), "at 0x0: there is no code");
    rig_free(g);
    g = RIG_GUEST(MOV_X1_DATA, 0xd61f0020 /* br x1 */);
    assert_string_equal(fault_of(g), "at 0x500000: there is no code");
    rig_free(g);
    g = RIG_GUEST(MOVZ_X1 | IMM16(2), 0xd61f0020);
    assert_string_equal(fault_of(g), "at 0x2: there is no code");
    rig_free(g);
    g = RIG_GUEST(MOV_X1_DATA, 0x91000421 /* add x1, x1, #1 */, 0xc85f7c20 /* ldxr x0, [x1] */);
    assert_string_equal(fault_of(g),
                        "at 0x400008: ldxr x0, [x1] (0xc85f7c20) needs an aligned address: 0x500001");
    rig_free(g);
}

/* An access that starts where it may and ends where it may not changes nothing. */
static void test_accesses_across_pages(void **unused) {
    (void)unused;
    struct guest *g = RIG_GUEST(0xd2a00a21 /* movz x1, #0x51, lsl #16: the end of the data */,
                                0x92800000 /* movn x0, #0 */, 0xf81fc020 /* stur x0, [x1, #-4] */);
    fault_of(g);
    uint32_t word;
    assert_true(space_read(&g->space, RIG_DATA + RIG_DATA_SIZE - 4, &word, 4));
    assert_int_equal(word, 0);
    rig_free(g);
}

static void test_the_top_byte_is_ignored(void **unused) {
    (void)unused;
    struct guest *g =
        RIG_GUEST(MOV_X1_DATA, MOVZ_X0 | IMM16(42), 0xf9000020 /* str x0, [x1] */,
                  0xf2ffe001 /* movk x1, #0xff00, lsl #48 */, 0xf9400022 /* ldr x2, [x1] */, EXIT(0));
    assert_int_equal(guest_run(g, 1000), CPU_SYSCALL);
    assert_int_equal(g->cpu.x[2], 42);
    assert_int_equal(g->cpu.ea, RIG_DATA);
    rig_free(g);
}

/* Budgets end at the very instruction, inside of blocks and at branches, and the sum of pieces is the whole.
 */
static void test_budgets(void **unused) {
    (void)unused;
    const uint32_t loop[] = {
        MOVZ_X1 | IMM16(10),
        0x91000400, /* add x0, x0, #1 */
        0x36000060, /* tbz w0, #0, +12 */
        0x91000842, /* add x2, x2, #2 */
        0x14000002, /* b +8 */
        0x91000c63, /* add x3, x3, #3 */
        0xf1000421, /* subs x1, x1, #1 */
        0x54ffff41, /* b.ne -24 */
        EXIT(0),
    };
    struct guest *whole = rig_guest(loop, sizeof loop / sizeof loop[0]);
    assert_int_equal(guest_run(whole, 1000), CPU_SYSCALL);
    uint64_t total = cpu_counter(&whole->cpu);
    assert_int_equal(total, 1 + 5 * 6 + 5 * 5 + 3);
    assert_int_equal(whole->cpu.x[2], 10);
    assert_int_equal(whole->cpu.x[3], 15);
    for (uint64_t step = 1; step < 12; step++) {
        struct guest *g = rig_guest(loop, sizeof loop / sizeof loop[0]);
        for (uint64_t at = 0; at < total; at += step) {
            assert_int_equal(cpu_counter(&g->cpu), at);
            guest_run(g, step);
        }
        assert_true(g->exited);
        assert_int_equal(cpu_counter(&g->cpu), total);
        assert_int_equal(g->cpu.x[2], 10);
        rig_free(g);
    }
    rig_free(whole);
}

/* New code is executed after the instruction cache was told, old code before. */
static void test_new_code(void **unused) {
    (void)unused;
    struct guest *g = RIG_GUEST(0x58000140, /* ldr x0, +40: the new words */
                                0x100000e1, /* adr x1, +28: f */
                                0x94000006, /* bl f */
                                0xf9000020, /* str x0, [x1] */
                                0xd50b7521, /* ic ivau, x1 */
                                0xd5033fdf, /* isb */
                                0x94000002, /* bl f */
                                SVC,        /* not reached by a call */
                                0xd2800022, /* f: movz x2, #1 */
                                0xd65f03c0, /* ret */
                                0xd2800042, 0xd65f03c0 /* movz x2, #2; ret */);
    assert_true(space_protect(&g->space, RIG_CODE, PAGE_SIZE, PERM_READ | PERM_WRITE | PERM_EXEC));
    g->cpu.x[1] = 0;
    guest_run(g, 5);
    assert_int_equal(g->cpu.x[2], 1);
    guest_run(g, 6);
    assert_int_equal(g->cpu.x[2], 2);
    rig_free(g);
}

/* ---- files that are not programs ---- */

static void refuse(const void *image, size_t size, const char *why) {
    static const char *const argv[] = {"file", NULL};
    struct guest_options o = {.argv = argv};
    struct guest *g = xcalloc(1, sizeof *g);
    struct diag d = {0};
    assert_false(guest_init_image(g, &o, image, size, &d));
    if (!strstr(str_text(&d.text), why))
        fail_msg("said: %s expected: %s", str_text(&d.text), why);
    diag_free(&d);
    free(g);
}

static void test_files_that_are_refused(void **unused) {
    (void)unused;
    size_t size;
    uint32_t code[] = {EXIT(0)};
    char *image = rig_image(code, 3, &size), *copy = xmalloc(size);
    Elf64_Ehdr *h = (Elf64_Ehdr *)copy;
    Elf64_Phdr *p = (Elf64_Phdr *)(copy + sizeof *h);
#define REFUSE(change, why)                                                                                  \
    memcpy(copy, image, size);                                                                               \
    change;                                                                                                  \
    refuse(copy, size, why)
    refuse("", 0, "not an ELF file");
    refuse(image, 40, "not an ELF file");
    REFUSE(copy[0] = 'x', "not an ELF file");
    REFUSE(h->e_machine = EM_X86_64, "not a program for AArch64");
    REFUSE(h->e_ident[EI_CLASS] = ELFCLASS32, "not a program for AArch64");
    REFUSE(h->e_type = ET_REL, "not a program but");
    REFUSE(h->e_phnum = 0, "headers are damaged");
    REFUSE(h->e_phnum = 200, "headers are damaged");
    REFUSE(h->e_phoff = size - 8, "headers are damaged");
    REFUSE(p->p_type = PT_INTERP, "linked dynamically");
    REFUSE(p->p_offset = size, "outside of the file");
    REFUSE(p->p_filesz = UINT64_MAX, "outside of the file");
    REFUSE(p->p_vaddr = UINT64_MAX - 4, "outside of the simulated memory");
    REFUSE(p[1].p_memsz = 1ull << 60, "outside of the simulated memory");
    REFUSE(p->p_type = p[1].p_type = PT_NULL, "nothing to load");
    free(copy);
    free(image);
}

/* ---- system calls ---- */

/* Makes a call with these arguments and returns its result. */
static int64_t make_call(struct guest *g, uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                         uint64_t e) {
    const uint64_t x[] = {a, b, c, d, e, 0};
    memcpy(g->cpu.x, x, sizeof x);
    g->cpu.x[8] = number;
    guest_syscall(g);
    return (int64_t)g->cpu.x[0];
}

static void test_memory_calls(void **unused) {
    (void)unused;
    enum {
        BRK = 214,
        MUNMAP = 215,
        MREMAP = 216,
        MMAP = 222,
        MPROTECT = 226,
        MADVISE = 233,
        ANONYMOUS = 0x22,
        FIXED = 0x10
    };
    struct guest *g = RIG_GUEST(EXIT(0));
    uint64_t heap = (uint64_t)make_call(g, BRK, 0, 0, 0, 0, 0);
    assert_int_equal(make_call(g, BRK, heap + 100, 0, 0, 0, 0), heap + 100);
    assert_true(space_allows(&g->space, heap, 100, PERM_WRITE));
    assert_false(space_allows(&g->space, heap + PAGE_SIZE, 1, PERM_READ));
    assert_int_equal(make_call(g, BRK, UINT64_MAX, 0, 0, 0, 0), heap + 100);
    assert_int_equal(make_call(g, BRK, heap, 0, 0, 0, 0), heap);
    assert_false(space_allows(&g->space, heap, 1, PERM_READ));

    int64_t a = make_call(g, MMAP, 0, 3 * PAGE_SIZE - 1, 3, ANONYMOUS, (uint64_t)-1);
    assert_true(a > 0 && a % PAGE_SIZE == 0 &&
                space_allows(&g->space, (uint64_t)a, 3 * PAGE_SIZE, PERM_READ | PERM_WRITE));
    memset(g->space.mem + a, 5, 3 * PAGE_SIZE);
    assert_int_equal(make_call(g, MPROTECT, (uint64_t)a + PAGE_SIZE, PAGE_SIZE, 1, 0, 0), 0);
    assert_false(space_allows(&g->space, (uint64_t)a + PAGE_SIZE, 1, PERM_WRITE));
    int64_t b = make_call(g, MREMAP, (uint64_t)a, PAGE_SIZE, 8 * PAGE_SIZE, 1, 0);
    assert_true(b > 0 && g->space.mem[b + 17] == 5 && g->space.mem[b + 2 * PAGE_SIZE] == 0);
    assert_int_equal(make_call(g, MADVISE, (uint64_t)b, PAGE_SIZE, 4, 0, 0), 0);
    assert_int_equal(g->space.mem[b + 17], 0);
    assert_int_equal(make_call(g, MUNMAP, (uint64_t)b, 8 * PAGE_SIZE, 0, 0, 0), 0);
    assert_false(space_allows(&g->space, (uint64_t)b, 1, PERM_READ));
    int64_t f = make_call(g, MMAP, 0x700000, PAGE_SIZE, 3, ANONYMOUS | FIXED, (uint64_t)-1);
    assert_int_equal(f, 0x700000);
    assert_int_equal(g->space.mem[0x700000], 0);

    assert_int_equal(make_call(g, MMAP, 0, 0, 3, ANONYMOUS, 0), -EINVAL);
    assert_int_equal(make_call(g, MMAP, 0, 1ull << 50, 3, ANONYMOUS, 0), -EINVAL);
    assert_int_equal(make_call(g, MMAP, 0, 40ull << 30, 3, ANONYMOUS, 0), -ENOMEM);
    assert_int_equal(make_call(g, MMAP, UINT64_MAX - 4095, PAGE_SIZE, 3, ANONYMOUS | FIXED, 0), -ENOMEM);
    assert_int_equal(make_call(g, MMAP, 0, PAGE_SIZE, 3, 2, 77), -EBADF);
    assert_int_equal(make_call(g, MPROTECT, 0x900000, PAGE_SIZE, 1, 0, 0), -ENOMEM);
    assert_int_equal(make_call(g, MUNMAP, 1, PAGE_SIZE, 0, 0, 0), -EINVAL);
    assert_int_equal(make_call(g, 9999, 0, 0, 0, 0, 0), -ENOSYS);
    rig_free(g);
}

static void test_files_must_be_named(void **unused) {
    (void)unused;
    enum { OPENAT = 56, CLOSE = 57, READ = 63, WRITE = 64, FSTAT = 80, READLINKAT = 78, CWD = -100 };
    char name[] = "/tmp/reprise_guest_XXXXXX";
    int file = mkstemp(name);
    assert_true(file >= 0 && write(file, "contents", 8) == 8);
    close(file);
    struct guest *g = RIG_GUEST(EXIT(0));
    const char *const files[] = {name, NULL};
    uint64_t path = RIG_DATA, buffer = RIG_DATA + 1000;
    assert_true(space_write(&g->space, path, name, sizeof name));
    assert_int_equal(make_call(g, OPENAT, (uint64_t)CWD, path, 0, 0, 0), -ENOENT);
    g->options.files = files;
    int64_t fd = make_call(g, OPENAT, (uint64_t)CWD, path, 0, 0, 0);
    assert_true(fd > 2);
    assert_int_equal(make_call(g, READ, (uint64_t)fd, buffer, 100, 0, 0), 8);
    assert_memory_equal(g->space.mem + buffer, "contents", 8);
    assert_int_equal(make_call(g, FSTAT, (uint64_t)fd, buffer, 0, 0, 0), 0);
    assert_int_equal(*(uint64_t *)(g->space.mem + buffer + 48), 8); /* its size */
    assert_int_equal(make_call(g, READ, (uint64_t)fd, RIG_CODE, 100, 0, 0), -EFAULT);
    assert_int_equal(make_call(g, READ, (uint64_t)fd, UINT64_MAX - 10, 100, 0, 0), -EFAULT);
    assert_int_equal(make_call(g, CLOSE, (uint64_t)fd, 0, 0, 0, 0), 0);
    assert_int_equal(make_call(g, READ, (uint64_t)fd, buffer, 100, 0, 0), -EBADF);
    assert_int_equal(make_call(g, WRITE, 5000, buffer, 100, 0, 0), -EBADF);
    assert_true(space_write(&g->space, path, "/etc/passwd", 12));
    assert_int_equal(make_call(g, OPENAT, (uint64_t)CWD, path, 0, 0, 0), -ENOENT);
    assert_int_equal(make_call(g, OPENAT, (uint64_t)CWD, 77, 0, 0, 0), -EFAULT);
    rig_free(g);
    unlink(name);
}

/* Clock and randomness are the guest's own. */
static void test_time_is_what_was_executed(void **unused) {
    (void)unused;
    enum { CLOCK_GETTIME = 113, NANOSLEEP = 101, GETRANDOM = 278, MONOTONIC = 1 };
    struct guest *g = RIG_GUEST(0x14000000 /* b . */), *h = RIG_GUEST(0x14000000);
    uint64_t at = RIG_DATA, t[2] = {2, 500};
    guest_run(g, 12345);
    assert_int_equal(make_call(g, CLOCK_GETTIME, MONOTONIC, at, 0, 0, 0), 0);
    assert_int_equal(*(uint64_t *)(g->space.mem + at + 8), 12345);
    assert_true(space_write(&g->space, at, t, sizeof t));
    assert_int_equal(make_call(g, NANOSLEEP, at, 0, 0, 0, 0), 0);
    assert_int_equal(make_call(g, CLOCK_GETTIME, MONOTONIC, at, 0, 0, 0), 0);
    assert_int_equal(*(uint64_t *)(g->space.mem + at), 2);
    assert_int_equal(*(uint64_t *)(g->space.mem + at + 8), 12845);
    assert_int_equal(make_call(g, GETRANDOM, at, 100, 0, 0, 0), 100);
    assert_int_equal(make_call(h, GETRANDOM, at, 100, 0, 0, 0), 100);
    assert_memory_equal(g->space.mem + at, h->space.mem + at, 100);
    rig_free(g);
    rig_free(h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit),
        cmocka_unit_test(test_faults_say_where),
        cmocka_unit_test(test_accesses_across_pages),
        cmocka_unit_test(test_the_top_byte_is_ignored),
        cmocka_unit_test(test_budgets),
        cmocka_unit_test(test_new_code),
        cmocka_unit_test(test_files_that_are_refused),
        cmocka_unit_test(test_memory_calls),
        cmocka_unit_test(test_files_must_be_named),
        cmocka_unit_test(test_time_is_what_was_executed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
