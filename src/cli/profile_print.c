/* The profile as tables: all of it at a glance, kinds of redundancy, mechanisms, kernels, source lines. */
#include "cli/profile_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"

enum { WIDTH = 100 };

/* ---- figures ----------------------------------------------------------------------------------------- */

static uint64_t count(const json_t *counts, const char *name) {
    return (uint64_t)json_integer_value(json_object_get(counts, name));
}

static uint64_t redundant(const json_t *counts) {
    return count(counts, "old") + count(counts, "one_lane");
}

static double percent(uint64_t part, uint64_t of) {
    return of ? 100 * (double)part / (double)of : 0;
}

/* A number with its digits in groups of three. */
static const char *grouped(uint64_t v, char out[32]) {
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, v), at = 0;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = 0;
    return out;
}

static const char *text_of(const json_t *o, const char *name) {
    const char *s = json_string_value(json_object_get(o, name));
    return s ? s : "";
}

static uint64_t line_number(const json_t *line) {
    return (uint64_t)json_integer_value(json_object_get(line, "line"));
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* What a kernel is called. */
static const char *kernel_name(const json_t *kernel) {
    const char *plain = text_of(kernel, "demangled");
    return *plain ? plain : text_of(kernel, "name");
}

/* Prints text in at most so many columns: control characters, which would end the line, as blanks. */
static void put(FILE *to, const char *text, int width) {
    int n = 0;
    for (; *text && n < width; text++) {
        unsigned char c = (unsigned char)*text;
        n += (c & 0xc0) != 0x80;
        fputc(c < ' ' || c == 0x7f ? ' ' : c, to);
    }
    while (((unsigned char)*text & 0xc0) == 0x80)
        fputc(*text++, to);
}

/* The same, broken at blanks into lines that begin behind so many columns. */
static void put_wrapped(FILE *to, const char *text, int indent) {
    while (*text) {
        size_t n = strlen(text), room = (size_t)(WIDTH - indent);
        if (n > room) {
            n = room;
            while (n && text[n] != ' ')
                n--;
            n = n ? n : room;
        }
        fprintf(to, "%*s", indent, "");
        put(to, text, (int)n);
        fputc('\n', to);
        text += n;
        while (*text == ' ')
            text++;
    }
}

/* ---- at a glance ------------------------------------------------------------------------------------- */

/* A line of the source, in all kernels and wherever it was inlined. */
struct spot {
    char *place; /* FILE:LINE */
    uint64_t heat;
    uint32_t number; /* in the order in which they were found */
};

static int hotter(const void *a, const void *b) {
    const struct spot *x = a, *y = b;
    return x->heat != y->heat ? (x->heat < y->heat ? 1 : -1) : x->number < y->number ? -1 : 1;
}

static void put_hottest(FILE *to, const json_t *profile, uint64_t insts) {
    enum { SPOTS = 3 };
    VEC(struct spot) all = {0};
    struct map known = {0}; /* to numbers from 1 */
    size_t i, j;
    json_t *kernel, *line;
    json_array_foreach(json_object_get(profile, "kernels"), i, kernel) {
        json_array_foreach(json_object_get(kernel, "lines"), j, line) {
            struct str place = {0};
            str_printf(&place, "%s:%" PRIu64, text_of(line, "file"), line_number(line));
            uintptr_t number = (uintptr_t)map_get(&known, place.at);
            if (!number) {
                number = all.len + 1;
                vec_push(&all, (struct spot){.place = place.at, .number = all.len});
                map_set(&known, place.at, (void *)number);
            } else {
                str_free(&place);
            }
            all.at[number - 1].heat += redundant(json_object_get(line, "counts"));
        }
    }
    if (all.len)
        qsort(all.at, all.len, sizeof *all.at, hotter);
    struct str text = {0};
    for (uint32_t k = 0; k < all.len && k < SPOTS; k++)
        str_printf(&text, "%s%s (%.1f%%)", k ? ", " : "Most of it: ", base_name(all.at[k].place),
                   percent(all.at[k].heat, insts));
    if (text.len)
        put_wrapped(to, str_text(&text), 0);
    str_free(&text);
    map_free(&known);
    for (uint32_t k = 0; k < all.len; k++)
        free(all.at[k].place);
    vec_free(&all);
}

/* The mechanisms that would reach most, in words. */
static void put_best(FILE *to, const json_t *profile, uint64_t insts) {
    size_t i;
    json_t *m, *best[2] = {NULL, NULL};
    json_array_foreach(json_object_get(profile, "mechanisms"), i, m) {
        if (!best[0] || count(m, "reaches") > count(best[0], "reaches")) {
            best[1] = best[0];
            best[0] = m;
        } else if (!best[1] || count(m, "reaches") > count(best[1], "reaches")) {
            best[1] = m;
        }
    }
    struct str text = {0};
    for (uint32_t k = 0; k < 2 && best[k] && count(best[k], "reaches"); k++)
        str_printf(&text, "%s %s could save %s (%.1f%%)",
                   k ? "," : "What would remove it:", text_of(best[k], "name"), text_of(best[k], "saves"),
                   percent(count(best[k], "reaches"), insts));
    if (text.len)
        put_wrapped(to, str_text(&text), 0);
    str_free(&text);
}

static void put_glance(FILE *to, const json_t *profile, const char *title) {
    const json_t *t = json_object_get(profile, "totals"), *kernels = json_object_get(profile, "kernels");
    uint64_t insts = count(t, "insts"), launches = 0;
    char n[32];
    size_t i;
    json_t *k;
    json_array_foreach(kernels, i, k) launches += count(k, "launches");
    put(to, title, WIDTH);
    fprintf(to, "\n%zu kernel%s, %" PRIu64 " launch%s, %s warp instructions, %s\n\n",
            json_array_size(kernels), json_array_size(kernels) == 1 ? "" : "s", launches,
            launches == 1 ? "" : "es", grouped(insts, n),
            json_is_true(json_object_get(profile, "timed")) ? "timed" : "functional");
    const char *incomplete = text_of(profile, "incomplete");
    if (*incomplete)
        fprintf(to, "The program was %s: this is what it had done.\n\n", incomplete);
    fprintf(
        to,
        "%.1f%% of the warp instructions do nothing new; another %.1f%% compute one value in all lanes.\n",
        percent(count(t, "old"), insts), percent(count(t, "one_lane"), insts));
    put_hottest(to, profile, insts);
    put_best(to, profile, insts);
}

/* ---- kinds ------------------------------------------------------------------------------------------- */

/* What the table of kinds has: a row with up to three counts, in per cent of the sum of others. */
static const struct {
    const char *title;
    const char *parts[3], *of[6];
    const char *labels; /* of the parts */
} rows[] = {
    {"repeated within 1,000 instructions of an SM", {"repeat.1k"}, {"insts"}, ""},
    {"repeated within 10,000", {"repeat.10k"}, {"insts"}, ""},
    {"same in all warps of the grid",
     {"grid.uniform", "grid.affine", "grid.unstructured"},
     {"insts"},
     "uniform, affine, unstructured"},
    {"same in all warps of the block",
     {"block.uniform", "block.affine", "block.unstructured"},
     {"insts"},
     "uniform, affine, unstructured"},
    {"whole warps, by their sources",
     {"warp.uniform", "warp.affine", "warp.unstructured"},
     {"insts"},
     "uniform, affine, unstructured"},
    {"one lane could do it for a whole warp or half", {"scalar", "half"}, {"insts"}, "warp, half"},
    {"divergent, and of these with equal operands", {"divergent", "divergent.scalar"}, {"insts"}, ""},
    {"all operands affine", {"affine.operands"}, {"insts"}, ""},
    {"addresses that are affine", {"affine.addresses"}, {"addresses"}, "% of accesses"},
    {"predicates that are affine", {"affine.predicates"}, {"predicates"}, "% of comparisons"},
    {"silent stores", {"stores.silent"}, {"stores"}, "% of stores"},
    {"loads that return what they returned", {"loads.again"}, {"loads"}, "% of loads"},
    {"registers whose lanes share 4, 3, 2 bytes",
     {"access.scalar", "access.3byte", "access.2byte"},
     {"access.scalar", "access.3byte", "access.2byte", "access.1byte", "access.none", "access.divergent"},
     "% of registers accessed"},
    {"registers of 1, 2, 3 bytes",
     {"width.1", "width.2", "width.3"},
     {"width.1", "width.2", "width.3", "width.4"},
     "% of registers accessed"},
};

static void put_kinds(FILE *to, const json_t *counts) {
    fprintf(to, "\nredundancy, %% of warp instructions\n");
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        uint64_t of = 0;
        for (size_t k = 0; k < sizeof rows[r].of / sizeof *rows[r].of && rows[r].of[k]; k++)
            of += count(counts, rows[r].of[k]);
        fprintf(to, "  %-46s", rows[r].title);
        for (size_t k = 0; k < sizeof rows[r].parts / sizeof *rows[r].parts; k++)
            if (rows[r].parts[k])
                fprintf(to, "%6.1f", percent(count(counts, rows[r].parts[k]), of));
            else if (*rows[r].labels)
                fprintf(to, "%6s", "");
        fprintf(to, "%s%s\n", *rows[r].labels ? "  " : "", rows[r].labels);
    }
}

static void put_mechanisms(FILE *to, const json_t *profile) {
    uint64_t insts = count(json_object_get(profile, "totals"), "insts");
    size_t i;
    json_t *m;
    fprintf(to, "\nwhat mechanisms could reach at best, %% of warp instructions\n");
    json_array_foreach(json_object_get(profile, "mechanisms"), i, m)
        fprintf(to, "  %-10s%6.1f  %s\n", text_of(m, "name"), percent(count(m, "reaches"), insts),
                text_of(m, "saves"));
}

/* ---- kernels and lines ------------------------------------------------------------------------------- */

static void put_kernels(FILE *to, const json_t *profile) {
    uint64_t insts = count(json_object_get(profile, "totals"), "insts");
    size_t i;
    json_t *k;
    char n[32];
    fprintf(to, "\n%16s %6s %8s %8s %8s %8s  kernel\n", "warp insts", "share", "old", "one lane", "launches",
            "cycles");
    json_array_foreach(json_object_get(profile, "kernels"), i, k) {
        const json_t *c = json_object_get(k, "counts"), *cycles = json_object_get(k, "cycles");
        uint64_t own = count(c, "insts");
        fprintf(to, "%16s %5.1f%% %7.1f%% %7.1f%% %8" PRIu64 " %8s  ", grouped(own, n), percent(own, insts),
                percent(count(c, "old"), own), percent(count(c, "one_lane"), own), count(k, "launches"),
                cycles ? grouped(count(k, "cycles"), (char[32]){0}) : "-");
        put(to, kernel_name(k), WIDTH - 61);
        fputc('\n', to);
    }
}

/* The names of mechanisms that would catch something, in so many columns: how many more there are. */
static void add_mechanisms(struct str *out, const json_t *of, size_t width) {
    const json_t *all = json_object_get(of, "mechanisms");
    size_t i, end = strlen(", +9"), n = json_array_size(all);
    json_t *m;
    json_array_foreach(all, i, m) {
        const char *name = json_string_value(m);
        if (i && out->len + 2 + strlen(name) + (i + 1 < n ? end : 0) > width) {
            str_printf(out, ", +%zu", n - i);
            break;
        }
        str_printf(out, "%s%s", i ? ", " : "", name);
    }
    if (!out->len)
        str_printf(out, "-");
}

static void put_lines(FILE *to, const json_t *kernel, uint64_t insts, uint32_t top) {
    size_t i;
    json_t *l;
    fprintf(to, "\n%8s %6s %6s  %-24s %-24s source\n", "heat", "old", "one", "line", "caught by");
    json_array_foreach(json_object_get(kernel, "lines"), i, l) {
        const json_t *c = json_object_get(l, "counts");
        if (i == top || !redundant(c))
            break;
        struct str place = {0}, mechs = {0};
        str_printf(&place, "%s:%" PRIu64, base_name(text_of(l, "file")), line_number(l));
        add_mechanisms(&mechs, l, 24);
        const char *text = text_of(l, "text");
        text += strspn(text, " \t");
        fprintf(to, "%7.1f%% %6.1f %6.1f  ", percent(redundant(c), insts),
                percent(count(c, "old"), count(c, "insts")),
                percent(count(c, "one_lane"), count(c, "insts")));
        fprintf(to, "%-24.24s %-24.24s ", str_text(&place), str_text(&mechs));
        put(to, text, WIDTH - 74);
        fputc('\n', to);
        str_free(&place);
        str_free(&mechs);
    }
}

/* ---- the annotated source ---------------------------------------------------------------------------- */

/* Kinds that a line is told to have, when they are at least a tenth of it. */
static const struct {
    const char *name, *words;
} told[] = {
    {"repeat.1k", "repeats within 1,000"},
    {"repeat.10k", "within 10,000"},
    {"follows", "follows another warp"},
    {"scalar", "scalar"},
    {"half", "half-scalar"},
    {"divergent.scalar", "divergent scalar"},
    {"affine.operands", "affine"},
    {"stores.silent", "silent stores"},
    {"loads.again", "loads what it had"},
};

static void put_told(FILE *to, const json_t *counts, int indent) {
    struct str text = {0};
    uint64_t insts = count(counts, "insts");
    for (size_t k = 0; k < sizeof told / sizeof *told; k++)
        if (10 * count(counts, told[k].name) >= insts)
            str_printf(&text, "%s%s %.0f%%", text.len ? ", " : "", told[k].words,
                       percent(count(counts, told[k].name), insts));
    if (text.len)
        put_wrapped(to, str_text(&text), indent);
    str_free(&text);
}

static bool same_place(const json_t *a, const json_t *b) {
    return json_equal(json_object_get(a, "file"), json_object_get(b, "file")) &&
           json_equal(json_object_get(a, "line"), json_object_get(b, "line")) &&
           (json_object_get(a, "inlined_at")
                ? json_equal(json_object_get(a, "inlined_at"), json_object_get(b, "inlined_at"))
                : !json_object_get(b, "inlined_at"));
}

/* The machine instructions of a line, as they stand in the code. */
static void put_insts(FILE *to, const json_t *kernel, const json_t *line, uint64_t insts, int indent) {
    size_t i;
    json_t *in;
    json_array_foreach(json_object_get(kernel, "insts"), i, in) {
        const json_t *c = json_object_get(in, "counts");
        if (!count(c, "insts") || !same_place(in, line))
            continue;
        uint64_t own = count(c, "insts");
        fprintf(to, "%7.1f%% %6.1f %6.1f  %*s%04x  ", percent(redundant(c), insts),
                percent(count(c, "old"), own), percent(count(c, "one_lane"), own), indent - 24, "",
                (unsigned)json_integer_value(json_object_get(in, "pc")));
        put(to, text_of(in, "text"), WIDTH - indent - 6);
        fputc('\n', to);
    }
}

static void put_annotated(FILE *to, const json_t *kernel, uint64_t insts, uint32_t top) {
    enum { INDENT = 26 };
    size_t i, j;
    json_t *l, *via;
    fprintf(to, "\n%8s %6s %6s  source, then the machine code of the line\n", "heat", "old", "one");
    json_array_foreach(json_object_get(kernel, "lines"), i, l) {
        const json_t *c = json_object_get(l, "counts");
        uint64_t own = count(c, "insts");
        if (i == top || !redundant(c))
            break;
        struct str place = {0}, mechs = {0};
        str_printf(&place, "%s:%" PRIu64 ":", base_name(text_of(l, "file")), line_number(l));
        const char *text = text_of(l, "text");
        text += strspn(text, " \t");
        fprintf(to, "\n%7.1f%% %6.1f %6.1f  %s ", percent(redundant(c), insts), percent(count(c, "old"), own),
                percent(count(c, "one_lane"), own), str_text(&place));
        put(to, text, WIDTH - 25 - (int)place.len);
        fputc('\n', to);
        json_array_foreach(json_object_get(l, "inlined_at"), j, via) {
            fprintf(to, "%*sinlined at %s:%" PRIu64 "\n", INDENT, "", base_name(text_of(via, "file")),
                    line_number(via));
        }
        put_wrapped(to, text_of(l, "reason"), INDENT);
        put_told(to, c, INDENT);
        str_printf(&mechs, "caught by: ");
        size_t before = mechs.len;
        struct str names = {0};
        add_mechanisms(&names, l, WIDTH);
        str_printf(&mechs, "%s", str_text(&names));
        if (mechs.len > before + 1)
            put_wrapped(to, str_text(&mechs), INDENT);
        put_insts(to, kernel, l, insts, INDENT);
        str_free(&names);
        str_free(&mechs);
        str_free(&place);
    }
}

void profile_print(const json_t *profile, const char *title, const struct profile_view *v, FILE *to) {
    const json_t *t = json_object_get(profile, "totals");
    uint64_t insts = count(t, "insts");
    size_t i;
    json_t *k;
    put_glance(to, profile, title);
    put_kinds(to, t);
    put_mechanisms(to, profile);
    put_kernels(to, profile);
    json_array_foreach(json_object_get(profile, "kernels"), i, k) {
        if (!redundant(json_object_get(k, "counts")))
            continue;
        fputc('\n', to);
        put(to, kernel_name(k), WIDTH);
        (v->lines ? put_annotated : put_lines)(to, k, insts, v->top);
        if (json_object_get(k, "untracked"))
            fprintf(to, "%8s instructions of long loops were not compared between blocks\n",
                    grouped(count(k, "untracked"), (char[32]){0}));
    }
    fprintf(to, "\nheat: redundant instructions of the line, %% of the program's; old: of the line's, do "
                "nothing new;\none: of the line's, one lane would do\n");
}
