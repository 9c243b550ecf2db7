/* Findings: counted by kind and place, made into text when their launch has ended. */
#include <inttypes.h>
#include <string.h>

#include "base/demangle.h"
#include "sanitize/tool.h"

struct finding *finding_add(struct sanitizer *s, uint64_t key, bool hazard) {
    uintptr_t known = (uintptr_t)map_get_u64(&s->found_at, key);
    s->errors += !known || !hazard;
    if (known) {
        s->found.at[known - 1].count++;
        return NULL;
    }
    vec_push(&s->found, (struct finding){.key = key, .count = 1, .hazard = hazard});
    map_set_u64(&s->found_at, key, (void *)(uintptr_t)s->found.len);
    return &s->found.at[s->found.len - 1];
}

void finding_drop(struct sanitizer *s, struct finding *f) {
    s->errors -= f->hazard ? 1 : f->count;
    f->count = 0;
}

/* Whether an earlier launch of the kernel had the same finding. */
static bool was_told(struct sanitizer *s, const struct finding *f) {
    const char *kernel = s->x->img->prog->name;
    uint64_t key = hash_bytes(kernel, strlen(kernel)) ^ f->key * UINT64_C(0x9e3779b97f4a7c15);
    if (map_get_u64(&s->told, key))
        return true;
    map_set_u64(&s->told, key, s);
    return false;
}

void finding_end(struct sanitizer *s, struct str *text) {
    describe_trace(s, &s->launched, "kernel launch time", text);
}

/* Whether one more finding may be printed. */
static bool may_print(struct sanitizer *s) {
    if (s->printed++ < s->opt.print_limit)
        return true;
    if (!s->limit_said)
        str_printf(&s->text,
                   "========= %" PRIu64
                   " findings have been printed; further ones are counted only (--print-limit)\n=========\n",
                   s->opt.print_limit);
    s->limit_said = true;
    return false;
}

void findings_flush(struct sanitizer *s) {
    for (uint32_t i = 0; i < s->found.len; i++) {
        struct finding *f = &s->found.at[i];
        if (f->count && was_told(s, f)) {
            s->errors -= f->hazard;
            s->races -= f->hazard;
        } else if (f->count && may_print(s)) {
            str_printf(&s->text, "%s", str_text(&f->text));
            if (f->hazard)
                str_printf(&s->text, " [%" PRIu64 " hazard%s]\n%s", f->count, f->count > 1 ? "s" : "",
                           str_text(&f->rest));
            else if (f->count > 1)
                str_printf(&s->text, "=========     %" PRIu64 " errors of this kind at this place\n",
                           f->count);
            str_printf(&s->text, "=========\n");
        }
        str_free(&f->text);
        str_free(&f->rest);
    }
    s->found.len = 0;
    map_free(&s->found_at);
}

void finding_alone(struct sanitizer *s, const struct str *text) {
    s->errors++;
    if (may_print(s))
        str_printf(&s->text, "%s=========\n", str_text(text));
}

void describe_pc(const struct exec *x, uint32_t pc, struct str *text) {
    const struct program *p = x->img->prog;
    uint32_t fn = 0;
    for (uint32_t k = 0; k < p->fns.len; k++)
        if (p->fn_entry[k] <= pc && p->fn_entry[k] >= p->fn_entry[fn])
            fn = k;
    const struct inst *in = &p->code[pc];
    const char *file = in->dbg_line && x->file_name ? x->file_name(x->names, in->dbg_file) : NULL;
    const char *slash = file ? strrchr(file, '/') : NULL;
    str_add_name(text, p->fns.at[fn]->name);
    str_printf(text, "+0x%x in ", (pc - p->fn_entry[fn]) * INST_BYTES);
    if (file)
        str_printf(text, "%s:%u", slash ? slash + 1 : file, in->dbg_line);
    else
        str_printf(text, "%s:%u", x->module_name ? x->module_name : "ptx", in->line);
}

/* A call is an entry of the stack of its own; the caller's entry is below and stands behind the call. */
static void describe_calls(const struct access *a, uint32_t lane, struct str *text) {
    bool call = false;
    for (uint32_t k = a->w->depth; k-- > 0;) {
        const struct simt_entry *e = &a->w->stack[k];
        if (!(e->mask >> lane & 1))
            continue;
        if (call) {
            str_printf(text, "=========         Device Frame: ");
            describe_pc(a->x, e->pc - 1, text);
            str_printf(text, "\n");
        }
        call = e->call;
    }
}

void finding_place(const struct access *a, uint32_t lane, struct str *text) {
    str_printf(text, "=========     at ");
    describe_pc(a->x, a->pc, text);
    str_printf(text, "\n");
    finding_thread(a, lane, text);
    describe_calls(a, lane, text);
}

void finding_thread(const struct access *a, uint32_t lane, struct str *text) {
    const uint32_t *size = a->x->block, *id = a->w->cta->id;
    uint32_t t = a->w->index * WARP_LANES + lane;
    str_printf(text, "=========     by thread (%u,%u,%u) in block (%u,%u,%u)\n", t % size[0],
               t / size[0] % size[1], t / (size[0] * size[1]), id[0], id[1], id[2]);
}

void trace_take(const struct sanitizer *s, struct trace *t) {
    t->n = s->host ? s->host->capture(t->frame, TRACE_FRAMES) : 0;
}

void describe_trace(const struct sanitizer *s, const struct trace *t, const char *when, struct str *text) {
    if (!s->host || !t->n)
        return;
    str_printf(text, "=========     Saved host backtrace up to driver entry point at %s\n", when);
    char *lines = s->host->print(t->frame, t->n);
    for (char *save = NULL, *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        str_printf(text, "=========         Host Frame: %s\n", line);
    free(lines);
}
