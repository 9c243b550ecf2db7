/* Fat binaries: every packing reads back, the right PTX is picked, and damage is named, not followed. */
#include <lz4.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/vec.h"
#include "cuda/fatbin.h"

static const char text[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                           ".visible .entry kernel() { ret; ret; ret; ret; ret; ret; ret; ret; }\n";

static void put(struct str *s, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++)
        str_add(s, &(char){(char)(value >> 8 * i)}, 1);
}

/* Appends an entry the way nvcc does; extra bytes of header hold the name. */
static void add_entry(struct str *s, unsigned kind, unsigned arch, uint64_t flags, const void *data,
                      size_t size, uint64_t raw_size, const char *name) {
    size_t name_room = (strlen(name) + 7) / 8 * 8, padded = (size + 7) / 8 * 8;
    put(s, kind, 2);
    put(s, 0x101, 2);
    put(s, 64 + name_room, 4);
    put(s, padded, 8);
    put(s, raw_size ? size : 0, 4);
    put(s, 0, 4);
    put(s, 5, 2);
    put(s, 7, 2);
    put(s, arch, 4);
    put(s, *name ? 64 : 0, 4);
    put(s, strlen(name), 4);
    put(s, flags, 8);
    put(s, 0, 8);
    put(s, raw_size, 8);
    str_add(s, name, strlen(name));
    while (s->len % 8)
        put(s, 0, 1);
    str_add(s, data, size);
    while (s->len % 8)
        put(s, 0, 1);
}

static struct str container(const struct str *body) {
    struct str s = {0};
    put(&s, FATBIN_CONTAINER_MAGIC, 4);
    put(&s, 1, 2);
    put(&s, 16, 2);
    put(&s, body->len, 8);
    str_add(&s, str_text(body), body->len);
    return s;
}

static struct str one_entry(uint64_t flags, const void *data, size_t size, uint64_t raw_size) {
    struct str body = {0};
    add_entry(&body, FATBIN_PTX, 75, flags, data, size, raw_size, "source.cu");
    struct str s = container(&body);
    str_free(&body);
    return s;
}

static void expect_text(const struct str *image) {
    struct fatbin f;
    struct fatbin_entry e;
    const char *why = NULL;
    size_t len = 0;
    assert_true(fatbin_open(&f, image->at, image->len));
    assert_true(fatbin_next(&f, &e));
    assert_int_equal(e.kind, FATBIN_PTX);
    assert_int_equal(e.arch, 75);
    assert_int_equal(e.major, 7);
    assert_int_equal(e.minor, 5);
    assert_int_equal(e.name_len, 9);
    assert_memory_equal(e.name, "source.cu", 9);
    char *got = fatbin_contents(&e, &len, &why);
    assert_non_null(got);
    assert_int_equal(len, strlen(text));
    assert_string_equal(got, text);
    free(got);
    assert_false(fatbin_next(&f, &e));
    assert_null(f.error);
    assert_int_equal(fatbin_size(image->at, image->len), image->len);
}

static void test_plain(void **state) {
    (void)state;
    struct str s = one_entry(0, text, sizeof text, 0);
    expect_text(&s);
    str_free(&s);
}

static void test_lz4(void **state) {
    (void)state;
    char packed[512];
    int n = LZ4_compress_default(text, packed, sizeof text, sizeof packed);
    assert_true(n > 0);
    struct str s = one_entry(FATBIN_LZ4, packed, (size_t)n, sizeof text);
    expect_text(&s);
    str_free(&s);
}

static void test_zstd(void **state) {
    (void)state;
    char packed[512];
    size_t n = ZSTD_compress(packed, sizeof packed, text, sizeof text, 3);
    assert_false(ZSTD_isError(n));
    struct str s = one_entry(FATBIN_ZSTD, packed, n, sizeof text);
    expect_text(&s);
    str_free(&s);
}

/* What is picked out of PTX for the given targets; "a" after one makes it architecture specific. */
static unsigned pick(const char *targets, unsigned cc) {
    struct str body = {0};
    struct fatbin_entry best = {0};
    struct fatbin_census census;
    const char *why;
    for (const char *t = targets; *t;) {
        char *end;
        unsigned arch = (unsigned)strtoul(t, &end, 10);
        add_entry(&body, FATBIN_PTX, arch, *end == 'a' ? FATBIN_ARCH_SPECIFIC : 0, text, sizeof text, 0, "");
        t = *end ? end + 1 : end;
        t += *t == ' ';
    }
    struct str s = container(&body);
    bool found = fatbin_pick(s.at, s.len, cc, &best, &census, &why);
    unsigned arch = best.arch;
    str_free(&body);
    str_free(&s);
    return found ? arch : 0;
}

static void test_pick(void **state) {
    (void)state;
    assert_int_equal(pick("50 75 90", 75), 75);
    assert_int_equal(pick("90 50 70", 75), 70);
    assert_int_equal(pick("90 80", 75), 80);
    assert_int_equal(pick("90a 80", 90), 80);
    assert_int_equal(pick("90a 100", 90), 100);
    assert_int_equal(pick("90a 100a", 75), 90);
    assert_int_equal(pick("", 75), 0);
}

static void test_machine_code_only(void **state) {
    (void)state;
    struct str body = {0};
    struct fatbin_entry best;
    struct fatbin_census census;
    const char *why;
    add_entry(&body, FATBIN_ELF, 80, 0, "\177ELF", 4, 0, "");
    add_entry(&body, FATBIN_ELF, 90, 0, "\177ELF", 4, 0, "");
    add_entry(&body, 16, 90, 0, "?", 1, 0, "");
    struct str s = container(&body);
    assert_false(fatbin_pick(s.at, s.len, 75, &best, &census, &why));
    assert_int_equal(census.elf, 2);
    assert_int_equal(census.other, 1);
    assert_int_equal(census.elf_archs[0], 80);
    assert_int_equal(census.elf_archs[1], 90);
    str_free(&body);
    str_free(&s);
}

/* Every truncation is refused or read without an entry that leaves the buffer; run under ASan this also
 * proves that nothing beyond the end is touched. */
static void test_truncated(void **state) {
    (void)state;
    struct str s = one_entry(0, text, sizeof text, 0);
    for (uint32_t len = 0; len < s.len; len++) {
        struct fatbin f;
        char *copy = malloc(len ? len : 1);
        memcpy(copy, s.at, len);
        assert_false(fatbin_open(&f, copy, len));
        assert_non_null(f.error);
        free(copy);
    }
    str_free(&s);
}

/* A container that is whole, around an entry whose header lies. */
static void expect_damage(uint32_t at, uint64_t value, unsigned bytes) {
    struct str s = one_entry(0, text, sizeof text, 0);
    struct fatbin f;
    struct fatbin_entry e;
    memcpy(s.at + 16 + at, &value, bytes);
    assert_true(fatbin_open(&f, s.at, s.len));
    assert_false(fatbin_next(&f, &e));
    assert_string_equal(f.error, "fat binary entry is damaged");
    str_free(&s);
}

static void test_damaged_entry(void **state) {
    (void)state;
    expect_damage(4, 63, 4);         /* header shorter than any */
    expect_damage(4, UINT32_MAX, 4); /* header longer than the container */
    expect_damage(8, UINT64_MAX, 8); /* payload longer than memory */
    expect_damage(8, 1 << 20, 8);    /* payload longer than the container */
}

static void test_name_outside_header(void **state) {
    (void)state;
    struct str s = one_entry(0, text, sizeof text, 0);
    struct fatbin f;
    struct fatbin_entry e;
    uint32_t huge = UINT32_MAX;
    memcpy(s.at + 16 + 36, &huge, 4);
    assert_true(fatbin_open(&f, s.at, s.len));
    assert_true(fatbin_next(&f, &e));
    assert_null(e.name);
    str_free(&s);
}

static void expect_no_contents(uint64_t flags, const void *data, size_t size, uint64_t raw_size,
                               const char *message) {
    struct str s = one_entry(flags, data, size, raw_size);
    struct fatbin f;
    struct fatbin_entry e;
    const char *why = NULL;
    size_t len;
    assert_true(fatbin_open(&f, s.at, s.len));
    assert_true(fatbin_next(&f, &e));
    assert_null(fatbin_contents(&e, &len, &why));
    assert_string_equal(why, message);
    str_free(&s);
}

static void test_bad_compression(void **state) {
    (void)state;
    static const char impossible[] = "fat binary entry states an impossible size";
    static const char undecodable[] = "fat binary entry cannot be decompressed";
    char packed[512];
    size_t n = ZSTD_compress(packed, sizeof packed, text, sizeof text, 3);
    expect_no_contents(FATBIN_LZ4, "\xff\xff\xff\xff", 4, 100, undecodable);
    expect_no_contents(FATBIN_LZ4, "\xff\xff\xff\xff", 4, 1 << 20, impossible);
    expect_no_contents(FATBIN_ZSTD, packed, n, sizeof text + 1, impossible);
    expect_no_contents(FATBIN_ZSTD, packed, n, UINT64_C(1) << 40, impossible);
    expect_no_contents(FATBIN_ZSTD, packed, n - 4, sizeof text, undecodable);
}

static void test_identify(void **state) {
    (void)state;
    struct fatbin_wrapper w = {.magic = FATBIN_WRAPPER_MAGIC, .version = 1};
    struct str s = one_entry(0, text, sizeof text, 0);
    assert_int_equal(fatbin_identify(text, sizeof text), FATBIN_IMAGE_TEXT);
    assert_int_equal(fatbin_identify("", 0), FATBIN_IMAGE_TEXT);
    assert_int_equal(fatbin_identify(&w, sizeof w), FATBIN_IMAGE_WRAPPER);
    assert_int_equal(fatbin_identify(s.at, s.len), FATBIN_IMAGE_CONTAINER);
    assert_int_equal(fatbin_identify("\177ELF", 4), FATBIN_IMAGE_ELF);
    str_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),         cmocka_unit_test(test_lz4),
        cmocka_unit_test(test_zstd),          cmocka_unit_test(test_pick),
        cmocka_unit_test(test_truncated),     cmocka_unit_test(test_machine_code_only),
        cmocka_unit_test(test_damaged_entry), cmocka_unit_test(test_name_outside_header),
        cmocka_unit_test(test_identify),      cmocka_unit_test(test_bad_compression),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
