/* Texture sampling, surfaces and device printf. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/ieee.h"
#include "exec/format.h"
#include "exec/texture.h"

/* One lane's view of sampling. */
static void sample(const struct rp_tex_desc *t, enum tex_geom g, bool float_coords, uint32_t layer,
                   const uint32_t coord[3], uint32_t out[4]) {
    _Alignas(64) uint32_t in[4][WARP_LANES] = {{0}}, all[4][WARP_LANES];
    enum { LANE = 5 };
    for (unsigned k = 0; k < 3; k++)
        in[k][LANE] = coord[k];
    in[3][LANE] = layer;
    struct tex_request q = {.t = t,
                            .geom = g,
                            .float_coords = float_coords,
                            .lanes = 1u << LANE,
                            .layer = in[3],
                            .coord = {in[0], in[1], in[2]}};
    tex_sample(&q, 0, 4, all);
    for (unsigned k = 0; k < 4; k++)
        out[k] = all[k][LANE];
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
    sample(t, TEX_2D, true, 0, (uint32_t[3]){bits_of_float(x), bits_of_float(y), 0}, out);
    assert_int_equal(out[1], 0);
    return float_of(out[0]);
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
    sample(&t, TEX_1D, true, 0, (uint32_t[3]){bits_of_float(0.5f)}, out);
    assert_int_equal(out[1], 128);
    t.normalized_float = true;
    sample(&t, TEX_1D, true, 0, (uint32_t[3]){bits_of_float(0.5f)}, out);
    assert_true(float_of(out[2]) == 1 && float_of(out[3]) == 0.2f);
    t.srgb = true;
    sample(&t, TEX_1D, true, 0, (uint32_t[3]){bits_of_float(0.5f)}, out);
    assert_true(fabsf(float_of(out[1]) - 0.21586f) < 1e-4f && float_of(out[3]) == 0.2f);
    t.format = RP_TEX_S8;
    sample(&t, TEX_1D, true, 0, (uint32_t[3]){bits_of_float(1.5f)}, out);
    assert_true(float_of(out[0]) == -1 && float_of(out[1]) == -1 && float_of(out[2]) == 1);
    uint16_t halves[2] = {0x3c00, 0xc000};
    t = (struct rp_tex_desc){
        .addr = (uint64_t)(uintptr_t)halves, .format = RP_TEX_F16, .channels = 2, .width = 1};
    sample(&t, TEX_1D, true, 0, (uint32_t[3]){0}, out);
    assert_true(float_of(out[0]) == 1 && float_of(out[1]) == -2 && out[2] == 0 && float_of(out[3]) == 1);
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
        sample(&t, TEX_1D, false, 0, (uint32_t[3]){(uint32_t)cases[k].at, 0, 0}, out);
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
        uint32_t coord[3] = {bits_of_float(dir[0]), bits_of_float(dir[1]), bits_of_float(dir[2])};
        sample(&t, TEX_ACUBE, true, 1, coord, out);
        assert_true(float_of(out[0]) == (float)(6 + face));
        sample(&t, TEX_A2D, true, face, (uint32_t[3]){0, 0, 0}, out); /* beyond the last layer: the last */
        assert_true(float_of(out[0]) == (face ? 1.0f : 0.0f));
    }
}

static void test_gather(void **state) {
    (void)state;
    struct rp_tex_desc t = grid_texture();
    _Alignas(64) uint32_t x[WARP_LANES], y[WARP_LANES], out[4][WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++) {
        x[l] = bits_of_float((float)(l % 6 + 1));
        y[l] = bits_of_float(2.0f);
    }
    struct tex_request q = {
        .t = &t, .geom = TEX_2D, .float_coords = true, .gather = true, .lanes = ~0u, .coord = {x, y, x}};
    tex_sample(&q, 0, 4, out);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        float i = (float)(l % 6);
        assert_true(float_of(out[0][l]) == 20 + i && float_of(out[1][l]) == 21 + i);
        assert_true(float_of(out[2][l]) == 11 + i && float_of(out[3][l]) == 10 + i);
    }
}

/* Numbers that look random and are the same everywhere. */
static uint32_t draw(uint32_t below) {
    static uint64_t rng = 1;
    rng = rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((rng >> 33) % below);
}

static float some_float(void) {
    static const float special[] = {NAN, INFINITY, -INFINITY, 0.5f, -0.0f, 1e30f};
    return draw(8) ? (float)draw(4000) / 100 - 10 : special[draw(6)];
}

static struct rp_tex_desc some_texture(uint8_t *bytes) {
    enum { PITCH = 336, ROWS = 8 };
    struct rp_tex_desc t = {.addr = (uint64_t)(uintptr_t)bytes,
                            .format = (enum rp_tex_format)draw(8),
                            .channels = 1 << draw(3),
                            .width = 1 + draw(20),
                            .height = draw(ROWS + 1),
                            .depth = draw(4),
                            .layers = draw(3),
                            .cubemap = draw(4) == 0,
                            .pitch = PITCH,
                            .slice = PITCH * ROWS,
                            .linear = draw(2),
                            .normalized_coords = draw(2),
                            .normalized_float = draw(2),
                            .border = {-3, 0.25f, 7, 1e10f}};
    for (unsigned k = 0; k < 3; k++)
        t.address[k] = (enum rp_tex_address)draw(4);
    return t;
}

/* All instruction sets of the host give the same bits, whatever the texture, and find the same texels. */
static void test_isas_agree(void **state) {
    (void)state;
    static const char *const isas[] = {"avx2", "avx512"};
    static uint8_t bytes[1 << 16];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)draw(256);
    for (unsigned round = 0; round < 5000; round++) {
        _Alignas(64) uint32_t in[4][WARP_LANES], plain[4][WARP_LANES], out[4][WARP_LANES];
        uint64_t at[2][WARP_LANES * TEX_FOOTPRINT];
        uint8_t lane[2][WARP_LANES * TEX_FOOTPRINT];
        struct rp_tex_desc t = some_texture(bytes);
        struct tex_request q = {.t = &t,
                                .geom = (enum tex_geom)draw(TEX_ACUBE + 1),
                                .float_coords = draw(4) != 0,
                                .lanes = draw(3) ? ~0u : draw(UINT32_MAX) | 1,
                                .layer = in[3],
                                .coord = {in[0], in[1], in[2]}};
        struct tex_request tiled;
        q.gather = q.float_coords && (q.geom == TEX_2D || q.geom == TEX_A2D) && draw(3) == 0;
        for (unsigned l = 0; l < WARP_LANES; l++) {
            for (unsigned k = 0; k < 3; k++)
                in[k][l] = q.float_coords ? bits_of_float(some_float()) : draw(24) - 2;
            in[3][l] = draw(5) - 1;
        }
        tiled = q;
        tiled.tiled = draw(2);
        assert_true(lane_use("generic"));
        tex_sample(&q, round % 4, 4, plain);
        uint8_t each[2][WARP_LANES] = {{0}};
        uint32_t n = tex_footprint(&tiled, at[0], lane[0], each[0]);
        for (uint32_t k = 0; k < n; k++)
            each[1][lane[0][k]]++;
        assert_memory_equal(each[1], each[0], sizeof each[0]); /* a lane's texels are as many as it says */
        for (unsigned k = 0; k < 2; k++) {
            if (!lane_use(isas[k]))
                continue;
            tex_sample(&q, round % 4, 4, out);
            for (unsigned l = 0; l < WARP_LANES; l++)
                for (unsigned c = 0; c < 4 && q.lanes >> l & 1; c++)
                    assert_int_equal(out[c][l], plain[c][l]);
            assert_int_equal(tex_footprint(&tiled, at[1], lane[1], each[1]), n);
            assert_memory_equal(at[1], at[0], n * sizeof *at[0]);
            assert_memory_equal(lane[1], lane[0], n);
        }
    }
    lane_use(NULL);
}

/* Different lines among the texels that lanes read. */
static unsigned lines_of(const struct rp_tex_desc *t, unsigned dx, unsigned dy) {
    _Alignas(64) uint32_t x[WARP_LANES], y[WARP_LANES];
    uint64_t at[WARP_LANES * TEX_FOOTPRINT];
    uint8_t lane[WARP_LANES * TEX_FOOTPRINT], each[WARP_LANES] = {0};
    for (unsigned l = 0; l < WARP_LANES; l++) {
        x[l] = l * dx;
        y[l] = l * dy;
    }
    struct tex_request q = {.t = t, .geom = TEX_2D, .tiled = true, .lanes = ~0u, .coord = {x, y, x}};
    uint32_t n = tex_footprint(&q, at, lane, each), lines = 0;
    assert_int_equal(n, WARP_LANES);
    for (uint32_t i = 0; i < n; i++) {
        bool known = false;
        assert_int_equal(lane[i], i);
        for (uint32_t k = 0; k < i; k++)
            known |= at[k] / 128 == at[i] / 128;
        lines += !known;
    }
    return lines;
}

/* A line holds 128 bytes of a row, or 32 bytes of 4 rows where the layout is tiled. */
static void test_tiles(void **state) {
    (void)state;
    enum { PITCH = 256, ROWS = 32 };
    static _Alignas(512) uint8_t image[ROWS * PITCH];
    static bool taken[ROWS * PITCH];
    struct rp_tex_desc t = {.addr = (uint64_t)(uintptr_t)image,
                            .format = RP_TEX_F32,
                            .channels = 1,
                            .width = PITCH / 4,
                            .height = ROWS,
                            .pitch = PITCH,
                            .slice = sizeof image};
    assert_int_equal(lines_of(&t, 1, 0), 1);
    assert_int_equal(lines_of(&t, 0, 1), 32);
    t.tiled = true;
    assert_int_equal(lines_of(&t, 1, 0), 4);
    assert_int_equal(lines_of(&t, 0, 1), 8);
    for (uint64_t y = 0; y < ROWS; y++) /* every byte has a place of its own */
        for (uint64_t x = 0; x < PITCH; x++) {
            uint64_t at = tex_tile_offset(x, y, PITCH);
            assert_true(at < sizeof image && !taken[at]);
            taken[at] = true;
            assert_int_equal(tex_tiled_address(&t, t.addr + y * PITCH + x), t.addr + at);
        }
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
        cmocka_unit_test(test_isas_agree),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_printf),
        cmocka_unit_test(test_printf_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
