/* Declared results: the file, and what launches leave in them. */
#include "report/results.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"

static const char head[] = "reprise results 1\n";

/* ---- types ---- */

#define TYPE(name, type)                                                                                     \
    static double name##_value(const void *p) {                                                              \
        type v;                                                                                              \
        memcpy(&v, p, sizeof v);                                                                             \
        return (double)v;                                                                                    \
    }
TYPE(i8, int8_t)
TYPE(u8, uint8_t)
TYPE(i16, int16_t)
TYPE(u16, uint16_t)
TYPE(i32, int32_t)
TYPE(u32, uint32_t)
TYPE(i64, int64_t)
TYPE(u64, uint64_t)
TYPE(f32, float)
TYPE(f64, double)
#undef TYPE

static const struct {
    const char *name;
    size_t bytes;
    double (*value)(const void *p);
} types[RESULT_TYPES] = {
    {"i8", 1, i8_value},   {"u8", 1, u8_value},   {"i16", 2, i16_value}, {"u16", 2, u16_value},
    {"i32", 4, i32_value}, {"u32", 4, u32_value}, {"i64", 8, i64_value}, {"u64", 8, u64_value},
    {"f32", 4, f32_value}, {"f64", 8, f64_value},
};

const char *result_type_name(uint32_t type) {
    return types[type].name;
}

size_t result_type_bytes(uint32_t type) {
    return types[type].bytes;
}

/* The type that len characters name; RESULT_TYPES: none. */
static uint32_t type_called(const char *name, size_t len) {
    uint32_t t = 0;
    while (t < RESULT_TYPES && (strlen(types[t].name) != len || strncmp(types[t].name, name, len)))
        t++;
    return t;
}

double result_value(const struct result *r, uint64_t i) {
    return types[r->type].value((const char *)r->data + i * types[r->type].bytes);
}

/* ---- files ---- */

/* What is kept of single launches, of all together: enough for images, and no reason to fear long runs. */
enum { LAUNCH_BYTES = 64 << 20 };

static void free_list(struct result *at, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        free(at[i].name);
        free(at[i].data);
    }
}

void results_free(struct results *r) {
    free_list(r->all.at, r->all.len);
    free_list(r->launches.at, r->launches.len);
    vec_free(&r->all);
    vec_free(&r->launches);
}

static bool write_list(FILE *f, const struct result *at, uint32_t n) {
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++)
        ok = fprintf(f, "%s %" PRIu64 " %s\n", types[at[i].type].name, at[i].count, at[i].name) > 0 &&
             fwrite(at[i].data, types[at[i].type].bytes, at[i].count, f) == at[i].count;
    return ok;
}

bool results_write(const struct results *r, const char *path) {
    struct io_file f;
    if (!io_begin(&f, path))
        return false;
    bool ok = fputs(head, f.to) >= 0 && write_list(f.to, r->all.at, r->all.len) &&
              write_list(f.to, r->launches.at, r->launches.len);
    return io_end(&f, ok);
}

/* Reads the line of a result, and its elements from what is left of the file; false when they are not there.
 */
static bool read_result(FILE *f, const char *line, uint64_t left, struct result *x) {
    char *end;
    size_t name = strcspn(line, " ");
    x->type = type_called(line, name);
    if (x->type == RESULT_TYPES || line[name] != ' ' || line[name + 1] < '0' || line[name + 1] > '9')
        return false;
    x->count = strtoull(line + name + 1, &end, 10);
    size_t bytes = types[x->type].bytes;
    if (*end != ' ' || x->count > left / bytes)
        return false;
    x->name = xstrdup(end + 1);
    x->name[strcspn(x->name, "\n")] = 0;
    x->data = xmalloc(x->count * bytes + 1);
    return fread(x->data, bytes, x->count, f) == x->count;
}

/* The bytes between here and the end of a file. */
static uint64_t bytes_left(FILE *f) {
    long here = ftell(f), end = -1;
    if (!fseek(f, 0, SEEK_END))
        end = ftell(f);
    return here >= 0 && end >= here && !fseek(f, here, SEEK_SET) ? (uint64_t)(end - here) : 0;
}

bool results_read(struct results *r, const char *path, struct str *error) {
    FILE *f = fopen(path, "rb");
    char *line = NULL;
    size_t room = 0;
    bool ok = f && getline(&line, &room, f) > 0 && !strcmp(line, head);
    *r = (struct results){0};
    while (ok && getline(&line, &room, f) > 0) {
        struct result x = {0};
        ok = read_result(f, line, bytes_left(f), &x);
        if (ok && x.name[0] == '@')
            vec_push(&r->launches, x);
        else
            vec_push(&r->all, x);
    }
    free(line);
    if (f)
        fclose(f);
    if (!ok) {
        str_printf(error, f ? "%s is no file of results" : "%s cannot be read", path);
        results_free(r);
    }
    return ok;
}

/* ---- what launches leave ---- */

/* A number up to a colon or the end of a text; false when there is none. */
static bool read_number(const char **text, uint64_t *number) {
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    *number = strtoull(*text, &end, 10);
    *text = end;
    return !*end || *end == ':';
}

bool result_spec_read(struct result_spec *s, const char *text) {
    uint64_t param = 0, count = 0;
    *s = (struct result_spec){.kernel = text, .kernel_len = strcspn(text, ":")};
    text += s->kernel_len;
    if (!s->kernel_len || *text++ != ':' || !read_number(&text, &param) || *text++ != ':' ||
        param > UINT16_MAX)
        return false;
    size_t len = strcspn(text, ":");
    s->type = type_called(text, len);
    text += len;
    if (s->type == RESULT_TYPES)
        return false;
    if (*text == ':' && (text++, !read_number(&text, &count) || !count))
        return false;
    s->param = (uint32_t)param;
    s->count = count;
    return !*text;
}

/* The address in a parameter of a launch; 0 when it holds none. 32-bit pointers are the low half of
 * addresses. */
static uint64_t address_in(struct rp_kernel *k, const struct rp_launch *l, uint32_t param) {
    struct rp_param_info p;
    size_t width = (size_t)rp_kernel_address_bits(k) / 8;
    uint64_t address = 0;
    if (!rp_kernel_param(k, param, &p) || p.size < width || p.offset + p.size > l->param_bytes)
        return 0;
    memcpy(&address, (const char *)l->params + p.offset, width);
    return width < 8 && address ? RP_REGION | address : address;
}

/* The memory that a spec names, as a result without a name; why it is none, or NULL. */
static const char *find_memory(const struct result_spec *s, struct rp_gpu *gpu, struct rp_kernel *k,
                               const struct rp_launch *l, struct result *x) {
    uint64_t address = address_in(k, l, s->param);
    const struct rp_alloc *a = address ? rp_mem_find(gpu, address) : NULL;
    size_t bytes = types[s->type].bytes;
    if (!a)
        return "the kernel has no such parameter that points to memory";
    uint64_t most = (a->addr + a->size - address) / bytes;
    if (s->count > most)
        return "the allocation is not that large";
    *x = (struct result){.type = s->type, .count = s->count ? s->count : most};
    x->data = xmalloc(x->count * bytes + 1);
    memcpy(x->data, rp_mem_ptr(gpu, address, x->count * bytes), x->count * bytes);
    return NULL;
}

/* Puts a result in place of an earlier one of its name. */
static void replace(struct results *r, struct result x) {
    for (uint32_t i = 0; i < r->all.len; i++)
        if (!strcmp(r->all.at[i].name, x.name)) {
            free(r->all.at[i].name);
            free(r->all.at[i].data);
            r->all.at[i] = x;
            return;
        }
    vec_push(&r->all, x);
}

static char *label_of(const struct result_spec *s) {
    struct str label = {0};
    str_printf(&label, "%.*s:%u", (int)s->kernel_len, s->kernel, s->param);
    return label.at;
}

static void complain(struct results *r, const char *spec, const char *why) {
    if (!r->complained)
        fprintf(stderr, "reprise: there is no result %s: %s\n", spec, why);
    r->complained = true;
}

/* Keeps a copy of what a launch left, as long as there is room. */
static void keep_launch(struct results *r, const struct result *x, const char *label) {
    uint64_t bytes = x->count * types[x->type].bytes;
    if (r->bytes + bytes > LAUNCH_BYTES)
        return;
    struct str name = {0};
    struct result copy = *x;
    str_printf(&name, "@%" PRIu64 " %s", r->launched, label);
    copy.name = name.at;
    copy.data = xmalloc(bytes + 1);
    memcpy(copy.data, x->data, bytes);
    vec_push(&r->launches, copy);
    r->bytes += bytes;
}

static void keep_one(struct results *r, const char *text, struct rp_gpu *gpu, struct rp_kernel *k,
                     const struct rp_launch *l) {
    struct result_spec s;
    struct result x;
    const char *name = rp_kernel_name(k);
    if (!result_spec_read(&s, text) || strlen(name) != s.kernel_len || strncmp(name, s.kernel, s.kernel_len))
        return;
    const char *why = find_memory(&s, gpu, k, l, &x);
    if (why) {
        complain(r, text, why);
        return;
    }
    x.name = label_of(&s);
    keep_launch(r, &x, x.name);
    replace(r, x);
}

/* Says that a result is not there after all launches. */
static void miss_one(struct results *r, const char *text) {
    struct result_spec s;
    bool found = false;
    if (!result_spec_read(&s, text)) {
        complain(r, text, "it is not KERNEL:PARAMETER:TYPE[:COUNT]");
        return;
    }
    char *label = label_of(&s);
    for (uint32_t i = 0; i < r->all.len; i++)
        found |= !strcmp(r->all.at[i].name, label);
    if (!found)
        complain(r, text, "no kernel of that name was launched");
    free(label);
}

/* The file that the environment asks for, or NULL. */
static const char *wanted(void) {
    const char *path = getenv("REPRISE_RESULTS");
    return path && *path ? path : NULL;
}

/* That to which results of single launches are to be added, or NULL. */
static const char *to_add_to(void) {
    const char *path = getenv("REPRISE_LAUNCH_RESULTS");
    return path && *path ? path : NULL;
}

/* The specs in the environment, in lines that the caller frees. */
static char *specs(void) {
    const char *all = getenv("REPRISE_RESULT");
    return xstrdup(all ? all : "");
}

void results_launch(struct results *r, struct rp_gpu *gpu, struct rp_kernel *k, const struct rp_launch *l) {
    if (!wanted() && !to_add_to())
        return;
    char *lines = specs(), *save;
    for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        keep_one(r, line, gpu, k, l);
    free(lines);
    r->launched++;
}

/* Adds what single launches left to the results that the program has written; if it has written none, it has
 * failed, and there is nothing to say. */
static bool add_launches(struct results *r, const char *path) {
    struct results file;
    struct str why = {0};
    bool ok = true;
    if (r->launches.len && results_read(&file, path, &why)) {
        for (uint32_t i = 0; i < r->launches.len; i++)
            vec_push(&file.launches, r->launches.at[i]);
        r->launches.len = 0;
        ok = results_write(&file, path);
        results_free(&file);
    }
    str_free(&why);
    return ok;
}

bool results_end(struct results *r) {
    if (!wanted())
        return !to_add_to() || add_launches(r, to_add_to());
    char *lines = specs(), *save;
    for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        miss_one(r, line);
    free(lines);
    return results_write(r, wanted());
}
