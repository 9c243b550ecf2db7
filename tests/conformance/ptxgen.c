/* Kernels as PTX text. Every thread i of a launch loads input k from in[k*TUPLES + i], runs the body and
 * stores output k to out[k*TUPLES + i]. A body that mentions one of these words gets it ready to use:
 *   GP  u64  this thread's SLOT bytes of scratch memory, filled with the pattern
 *   WP  u64  the same for the first thread of the warp: one slot shared by 32 threads
 *   SP  u32  this thread's SLOT bytes of shared memory smem; BP, the first of the block
 *   LP  u64  SLOT bytes of local memory
 *   CP  u64  SLOT bytes of constant memory cmem (pattern), a different slot for every thread modulo 16
 *   blob     a parameter of BLOB_BYTES passed by value (pattern)
 *   LANE u32 the lane */
#include "conform.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_add(struct text *t, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    char part[8192];
    int n = vsnprintf(part, sizeof part, format, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof part)
        abort();
    if (t->n + (size_t)n + 1 > t->cap) {
        t->cap = 2 * (t->cap + (size_t)n) + 1024;
        t->s = realloc(t->s, t->cap);
        if (!t->s)
            abort();
    }
    memcpy(t->s + t->n, part, (size_t)n + 1);
    t->n += (size_t)n;
}

static bool word_char(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '%' || c == '$';
}

bool ptx_uses(const struct variant *v, const char *word) {
    size_t n = strlen(word);
    for (const char *p = v->body; (p = strstr(p, word)); p += n)
        if ((p == v->body || !word_char(p[-1])) && !word_char(p[n]))
            return true;
    return false;
}

void ptx_kernel_name(char *out, size_t size, const struct variant *v) {
    size_t n = 0;
    for (const char *p = v->name; *p && n + 1 < size; p++)
        out[n++] = isalnum((unsigned char)*p) ? *p : '_';
    out[n] = 0;
}

void ptx_head(struct text *t) {
    text_add(t, ".version 8.7\n.target sm_90\n.address_size 64\n\n.const .align 16 .b8 cmem[%d] = {",
             CONST_BYTES);
    for (uint32_t i = 0; i < CONST_BYTES; i++)
        text_add(t, "%s%u", i ? "," : "", values_pattern(i));
    text_add(t, "};\n");
}

static void declare(struct text *t, const struct operand *o, int n) {
    for (int i = 0; i < n; i++)
        text_add(t, "\t.reg %s %s;\n", o[i].type->reg, o[i].name);
}

static const char *store_type(const struct type *t) {
    return t->bits == 64 ? "b64" : t->bits == 32 ? "b32" : t->bits == 16 ? "b16" : "b8";
}

static void load_inputs(struct text *t, const struct variant *v) {
    for (int k = 0; k < v->nin; k++) {
        const struct operand *o = &v->in[k];
        long at = 8L * TUPLES * k;
        if (o->type->bits == 1)
            text_add(t, "\tld.global.u32 %%tmp, [%%in+%ld];\n\tsetp.ne.u32 %s, %%tmp, 0;\n", at, o->name);
        else
            text_add(t, "\tld.global.%s %s, [%%in+%ld];\n", store_type(o->type), o->name, at);
    }
}

static void store_outputs(struct text *t, const struct variant *v) {
    for (int k = 0; k < v->nout; k++) {
        const struct operand *o = &v->out[k];
        long at = 8L * TUPLES * k;
        if (o->type->bits == 1)
            text_add(t, "\tselp.u32 %%tmp, 1, 0, %s;\n\tst.global.u32 [%%out+%ld], %%tmp;\n", o->name, at);
        else
            text_add(t, "\tst.global.%s [%%out+%ld], %s;\n", store_type(o->type), at, o->name);
    }
}

/* What must stand in a kernel whose body uses a word. */
static const struct {
    const char *word, *code;
} prepared[] = {
    {"GP", "\t.reg .u64 GP;\n\tld.param.u64 GP, [mem];\n\tmad.wide.u32 GP, %i, 64, GP;\n"},
    {"WP", "\t.reg .u64 WP;\n\tand.b32 %tmp, %i, -32;\n\tld.param.u64 WP, [mem];\n"
           "\tmad.wide.u32 WP, %tmp, 64, WP;\n"},
    {"SP", "\t.shared .align 16 .b8 smem[8192];\n\t.reg .u32 SP;\n\tmov.u32 SP, smem;\n"
           "\tmad.lo.u32 SP, %t, 64, SP;\n"},
    {"BP", "\t.shared .align 16 .b8 bmem[64];\n\t.reg .u32 BP;\n\tmov.u32 BP, bmem;\n"},
    {"LP", "\t.local .align 16 .b8 lmem[64];\n\t.reg .u64 LP;\n\tmov.u64 LP, lmem;\n"},
    {"CP",
     "\t.reg .u64 CP;\n\tmov.u64 CP, cmem;\n\tand.b32 %tmp, %i, 15;\n\tmad.wide.u32 CP, %tmp, 64, CP;\n"},
    {"LANE", "\t.reg .u32 LANE;\n\tmov.u32 LANE, %laneid;\n"},
};

void ptx_kernel(struct text *t, const struct variant *v) {
    char name[256];
    ptx_kernel_name(name, sizeof name, v);
    text_add(t, "\n// %s\n.visible .entry %s(.param .u64 in, .param .u64 out, .param .u64 mem", v->name,
             name);
    if (ptx_uses(v, "blob"))
        text_add(t, ", .param .align 16 .b8 blob[%d]", BLOB_BYTES);
    text_add(t, ")\n{\n\t.reg .u64 %%in, %%out, %%off;\n\t.reg .u32 %%t, %%i, %%tmp;\n");
    declare(t, v->in, v->nin);
    declare(t, v->out, v->nout);
    text_add(t, "\tmov.u32 %%t, %%tid.x;\n\tmov.u32 %%i, %%ctaid.x;\n\tmad.lo.u32 %%i, %%i, %d, %%t;\n",
             BLOCK);
    text_add(t, "\tmul.wide.u32 %%off, %%i, 8;\n\tld.param.u64 %%in, [in];\n\tadd.u64 %%in, %%in, %%off;\n");
    text_add(t, "\tld.param.u64 %%out, [out];\n\tadd.u64 %%out, %%out, %%off;\n");
    for (size_t k = 0; k < sizeof prepared / sizeof *prepared; k++)
        if (ptx_uses(v, prepared[k].word))
            text_add(t, "%s", prepared[k].code);
    load_inputs(t, v);
    text_add(t, "\t%s\n", v->body);
    store_outputs(t, v);
    text_add(t, "\tret;\n}\n");
}
