/* Names of the AST's enumerations, from the same tables as the enumerations. */
#include <stdio.h>

#include "ptx/parser.h"

const char *const ptx_type_words[] = {
#define X(id, name, size) name,
    PTX_TYPES(X)
#undef X
        NULL};

const char *const ptx_opcode_words[] = {
#define OPCODE(id, name) name,
#include "ptx/opcodes.def"
#undef OPCODE
    NULL};

const char *const ptx_mod_words[] = {
#define MOD(id, word) word,
#include "ptx/modifiers.def"
#undef MOD
    NULL};

const char *const ptx_sreg_words[] = {
#define SREG(id, name) name,
#include "ptx/sregs.def"
#undef SREG
    NULL};

static const uint8_t type_sizes[] = {
#define X(id, name, size) size,
    PTX_TYPES(X)
#undef X
};

const char *ptx_type_name(enum ptx_type t) {
    return t < PTX_TYPE_COUNT ? ptx_type_words[t] : "?";
}

uint32_t ptx_type_size(enum ptx_type t) {
    return t < PTX_TYPE_COUNT ? type_sizes[t] : 0;
}

const char *ptx_opcode_name(enum ptx_opcode op) {
    return op < PTXOP_COUNT ? ptx_opcode_words[op] : "?";
}

const char *ptx_mod_name(enum ptx_mod m) {
    return m < MOD_COUNT ? ptx_mod_words[m] : "?";
}

const char *ptx_sreg_name(enum ptx_sreg s) {
    return s < SREG_COUNT ? ptx_sreg_words[s] : "?";
}

const char *ptx_inst_text(const struct ptx_inst *i, char *buf, size_t size) {
    size_t n = 0;
    if (!size)
        return buf;
    buf[0] = 0;
    n = (size_t)snprintf(buf, size, "%s", ptx_opcode_name(i->op));
    for (uint32_t k = 0; k < i->nmods && n < size; k++)
        n += (size_t)snprintf(buf + n, size - n, ".%s", ptx_mod_name(i->order[k]));
    for (uint32_t k = 0; k < i->ntypes && n < size; k++)
        n += (size_t)snprintf(buf + n, size - n, ".%s", ptx_type_name(i->types[k]));
    return buf;
}
