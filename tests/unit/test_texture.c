/* Texture sampling, surfaces and device printf. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "exec/format.h"
#include "exec/texture.h"

static uint32_t word(float f) {
    uint32_t v;
    memcpy(&v, &f, sizeof v);
    return v;
}

static float number(uint32_t v) {
    float f;
    memcpy(&f, &v, sizeof f);
    return f;
}

static float grid[4][8]; /* value 10 * y + x */

static struct rp_tex_desc grid_texture(void) {
    for (unsigned y = 0; y < 4; y++)
        for (unsigned x = 0; x < 8; x++)
            grid[y][x] = (float)(10 * y + x);
    return (struct rp_tex_desc){.addr = (uint64_t)(uintptr_t)grid,
                                .format = RP_TEX_F32,
                                .channels = 1,
                                .width = 8,
                                .height = 4,
                                .pitch = sizeof grid[0],
                                .slice = sizeof grid,
                                .address = {RP_ADDR_CLAMP, RP_ADDR_CLAMP, RP_ADDR_CLAMP}};
}

static float sample2(const struct rp_tex_desc *t, float x, float y) {
    uint32_t out[4];
    tex_sample(t, TEX_2D, true, 0, (uint32_t[3]){word(x), word(y), 0}, out);
    assert_int_equal(out[1], 0);
    return number(out[0]);
}

static void test_point(void **state) {
    (void)state;
    struct rp_tex_desc t = grid_texture();
    assert_true(sample2(&t, 3.99f, 2.0f) == 23);
    assert_true(sample2(&t, -5, 99) == 30);
    assert_true(sample2(&t, NAN, INFINITY) == 30);
    t.address[0] = RP_ADDR_WRAP; /* counts for normalized coordinates only */
    assert_true(sample2(&t, 9, 0) == 7);
    t.normalized_coords = true;
    assert_true(sample2(&t, 1.25f, 0.3f) == 12);
    assert_true(sample2(&t, -0.125f, 0) == 7);
    t.address[0] = RP_ADDR_MIRROR;
    assert_true(sample2(&t, 1.0f, 0) == 7);
    assert_true(sample2(&t, -0.01f, 0) == 0);
    t.address[0] = RP_ADDR_BORDER;
    t.border[0] = 77;
    assert_true(sample2(&t, 1.0f, 0) == 77);
    assert_true(sample2(&t, 0.99f, 0) == 7);
}

static void test_linear(void **state) {
    (void)state;
    struct rp_tex_desc t = grid_texture();
    t.linear = true;
    assert_true(sample2(&t, 2.5f, 1.5f) == 12);
    assert_true(sample2(&t, 3.0f, 2.0f) == 17.5f);
    assert_true(sample2(&t, 0.0f, 0.5f) == 0);
    /* the weight has eight bits */
    assert_true(sample2(&t, 2.5f + 0.3f, 0.5f) == 2 + 77.0f / 256);
    t.address[0] = RP_ADDR_BORDER;
    assert_true(sample2(&t, 8.0f, 0.5f) == 3.5f);
    grid[0][4] = INFINITY; /* next to the sample, with weight 0 */
    assert_true(sample2(&t, 3.5f, 0.5f) == 3);
}

static void test_formats(void **state) {
    (void)state;
    uint8_t bytes[8] = {0, 128, 255, 51, 0x80, 0x81, 0x7f, 0xff};
    struct rp_tex_desc t = {
        .addr = (uint64_t)(uintptr_t)bytes, .format = RP_TEX_U8, .channels = 4, .width = 2};
    uint32_t out[4];
    tex_sample(&t, TEX_1D, true, 0, (uint32_t[3]){word(0.5f)}, out);
    assert_int_equal(out[1], 128);
    t.normalized_float = true;
    tex_sample(&t, TEX_1D, true, 0, (uint32_t[3]){word(0.5f)}, out);
    assert_true(number(out[2]) == 1 && number(out[3]) == 0.2f);
    t.srgb = true;
    tex_sample(&t, TEX_1D, true, 0, (uint32_t[3]){word(0.5f)}, out);
    assert_true(fabsf(number(out[1]) - 0.21586f) < 1e-4f && number(out[3]) == 0.2f);
    t.format = RP_TEX_S8;
    tex_sample(&t, TEX_1D, true, 0, (uint32_t[3]){word(1.5f)}, out);
    assert_true(number(out[0]) == -1 && number(out[1]) == -1 && number(out[2]) == 1);
    uint16_t halves[2] = {0x3c00, 0xc000};
    t = (struct rp_tex_desc){
        .addr = (uint64_t)(uintptr_t)halves, .format = RP_TEX_F16, .channels = 2, .width = 1};
    tex_sample(&t, TEX_1D, true, 0, (uint32_t[3]){0}, out);
    assert_true(number(out[0]) == 1 && number(out[1]) == -2 && out[2] == 0 && number(out[3]) == 1);
}

static void test_fetch(void **state) {
    (void)state;
    int32_t line[5] = {5, 6, 7, 8, 9};
    struct rp_tex_desc t = {.addr = (uint64_t)(uintptr_t)line,
                            .format = RP_TEX_S32,
                            .channels = 1,
                            .width = 5,
                            .linear_memory = true};
    static const struct {
        int32_t at, want;
    } cases[] = {{0, 5}, {4, 9}, {5, 0}, {-1, 0}, {INT32_MAX, 0}, {INT32_MIN, 0}};
    for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
        uint32_t out[4];
        tex_sample(&t, TEX_1D, false, 0, (uint32_t[3]){(uint32_t)cases[k].at, 0, 0}, out);
        assert_int_equal((int32_t)out[0], cases[k].want);
    }
}

static void test_layers_and_cubes(void **state) {
    (void)state;
    float texels[12];
    for (unsigned k = 0; k < 12; k++)
        texels[k] = (float)k;
    struct rp_tex_desc t = {.addr = (uint64_t)(uintptr_t)texels,
                            .format = RP_TEX_F32,
                            .channels = 1,
                            .width = 1,
                            .height = 1,
                            .layers = 2,
                            .pitch = 4,
                            .slice = 4,
                            .cubemap = true,
                            .normalized_coords = true,
                            .address = {RP_ADDR_CLAMP, RP_ADDR_CLAMP, RP_ADDR_CLAMP}};
    for (unsigned face = 0; face < 6; face++) {
        float dir[3] = {0.1f, -0.2f, 0.3f};
        uint32_t out[4];
        dir[face / 2] = face % 2 ? -2.0f : 2.0f;
        uint32_t coord[3] = {word(dir[0]), word(dir[1]), word(dir[2])};
        tex_sample(&t, TEX_ACUBE, true, 1, coord, out);
        assert_true(number(out[0]) == (float)(6 + face));
        tex_sample(&t, TEX_A2D, true, face, (uint32_t[3]){0, 0, 0},
                   out); /* beyond the last layer: the last */
        assert_true(number(out[0]) == (face ? 1.0f : 0.0f));
    }
}

static void test_gather(void **state) {
    (void)state;
    struct rp_tex_desc t = grid_texture();
    uint32_t out[4];
    tex_gather(&t, TEX_2D, true, 0, 0, (uint32_t[3]){word(3.0f), word(2.0f), 0}, out);
    assert_true(number(out[0]) == 22 && number(out[1]) == 23 && number(out[2]) == 13 && number(out[3]) == 12);
}

static void test_surfaces(void **state) {
    (void)state;
    struct rp_tex_desc t = grid_texture();
    uint8_t *at = NULL;
    assert_int_equal(surf_locate(&t, TEX_2D, SURF_TRAP, 0, (int32_t[3]){12, 2, 0}, 4, &at), SURF_HIT);
    assert_ptr_equal(at, &grid[2][3]);
    assert_int_equal(surf_locate(&t, TEX_2D, SURF_TRAP, 0, (int32_t[3]){32, 2, 0}, 4, &at), SURF_FAULT);
    assert_int_equal(surf_locate(&t, TEX_2D, SURF_ZERO, 0, (int32_t[3]){-4, 2, 0}, 4, &at), SURF_MISS);
    assert_int_equal(surf_locate(&t, TEX_2D, SURF_CLAMP, 0, (int32_t[3]){400, -7, 0}, 8, &at), SURF_HIT);
    assert_ptr_equal(at, &grid[0][6]);
    uint8_t pixel[4] = {0};
    struct rp_tex_desc p = {.addr = (uint64_t)(uintptr_t)pixel,
                            .format = RP_TEX_U8,
                            .channels = 4,
                            .width = 1,
                            .height = 1,
                            .pitch = 4};
    assert_int_equal(
        surf_store_formatted(&p, TEX_2D, SURF_TRAP, 0, (int32_t[3]){0, 0, 0}, (uint32_t[4]){1, 300, 3, 4}, 4),
        SURF_HIT);
    assert_int_equal(pixel[1], 255);
    assert_int_equal(
        surf_store_formatted(&p, TEX_2D, SURF_ZERO, 0, (int32_t[3]){INT32_MAX, 0, 0}, (uint32_t[4]){0}, 4),
        SURF_MISS);
}

/* ---- printf ---- */
static const char *find_string(void *ctx, uint64_t addr, size_t *len) {
    (void)ctx;
    if (addr != 0x1000)
        return NULL;
    *len = 100;
    return "device";
}

static void check_format(const char *want, const char *fmt, const void *args, size_t n) {
    struct str out = {0};
    format_device(&out, fmt, args, n, find_string, NULL);
    assert_string_equal(str_text(&out), want);
    str_free(&out);
}

static void test_printf(void **state) {
    (void)state;
    struct {
        int32_t a;
        double b;
        uint8_t c, pad[7];
        int64_t d;
        uint64_t s;
    } args = {.a = -5, .b = 2.5, .c = 'x', .d = 1234567890123, .s = 0x1000};
    check_format("-5 2.500 x 1234567890123 [  device]", "%d %.3f %c %lld [%8s]", &args, sizeof args);
    check_format("000fb 0xfffffffb %", "%05hhx %#x %%", (int32_t[2]){-5, -5}, 8);
    check_format("[7   ] [+0007]", "[%-*d] [%+.4d]", (int32_t[3]){4, 7, 7}, 12);
    check_format("0x7f001000 dev", "%p %.3s", (uint64_t[2]){0x7f001000, 0x1000}, 16);
    check_format("(null) 0 0.0", "%s %d %.1f", NULL, 0);
    check_format("%y 100% %", "%y 100%% %", NULL, 0);
    check_format("65535 -1", "%hu %hd", (int32_t[2]){-1, 0xffff}, 8);
}

/* Formats from a hostile program: any bytes end in text of bounded size. */
static void test_printf_hostile(void **state) {
    (void)state;
    uint32_t seed = 1;
    static const char letters[] = "%%%%-+ #0123456789*..hlzjtLdiuoxXcfFeEgGaAspn";
    for (unsigned n = 0; n < 20000; n++) {
        char fmt[16];
        uint32_t args[6];
        for (unsigned k = 0; k < sizeof fmt; k++)
            fmt[k] = letters[((seed = seed * 1664525 + 1013904223) >> 16) % (sizeof letters - 1)];
        fmt[15] = 0;
        for (unsigned k = 0; k < 6; k++)
            args[k] = seed = seed * 1664525 + 1013904223;
        struct str out = {0};
        format_device(&out, fmt, (const uint8_t *)args, sizeof args, find_string, NULL);
        assert_true(out.len < 8 * (4096 + 512));
        str_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_point),
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_fetch),
        cmocka_unit_test(test_layers_and_cubes),
        cmocka_unit_test(test_gather),
        cmocka_unit_test(test_surfaces),
        cmocka_unit_test(test_printf),
        cmocka_unit_test(test_printf_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
