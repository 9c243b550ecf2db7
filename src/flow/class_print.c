/* Classes in words, and where they come from. */
#include "flow/class_form.h"

static const char *const dep_names[] = {"ctaid.x", "ctaid.y", "ctaid.z", "tid.x", "tid.y",
                                        "tid.z",   "lane",    "warp",    "any"};
static const char *const lack_names[] = {"block", "extended", "chosen", "remainder"};
enum { DEPS = sizeof dep_names / sizeof dep_names[0], LACKS = sizeof lack_names / sizeof lack_names[0] };

void class_print(struct str *out, struct vclass c) {
    if (c.deps & DEP_ANY || !c.deps) {
        str_printf(out, "%s", c.deps ? "any" : "uniform");
        return;
    }
    const char *gap = "";
    for (uint32_t k = 0; k < DEPS; k++)
        if (c.deps >> k & 1) {
            str_printf(out, "%s%s", gap, dep_names[k]);
            gap = " ";
        }
    if (c.lack & LACK_NONE)
        return;
    str_printf(out, ", affine");
    for (uint32_t k = 0; k < LACKS; k++)
        if (c.lack >> k & 1)
            str_printf(out, " %s", lack_names[k]);
}

/* One step of an explanation: who, and how what is before it came there. */
static void print_node(struct str *out, const struct classes *c, uint32_t node) {
    const struct reach *r = &c->reach;
    if (node >= r->n + c->npairs) {
        const struct block *k = &c->f->blocks.at[c->control.splits[node - r->n - c->npairs].block];
        str_printf(out, "branch, line %u", k->insts.at[k->insts.len - 1].line);
    } else if (node >= r->n) {
        str_printf(out, "pair");
    } else if (r->at[node].kind == VERSION_WRITE) {
        const struct inst *i = reach_inst(r, node);
        str_printf(out, "%s, line %u", op_info[i->op].name, i->line);
    } else {
        str_printf(out, r->at[node].kind == VERSION_MERGE ? "merge in block %u" : "entry", r->at[node].block);
    }
}

enum { MAX_STEPS = 64 };

void class_explain(struct str *out, const struct classes *c, uint32_t v, uint32_t deps, uint32_t lack) {
    static const char *const how[] = {[HOW_SELF] = "",
                                      [HOW_SOURCE] = " > ",
                                      [HOW_GUARD] = " guards > ",
                                      [HOW_OLD] = " stays in > ",
                                      [HOW_INPUT] = " > ",
                                      [HOW_BRANCH] = " decides > ",
                                      [HOW_ROUNDS] = " ends rounds of > "};
    uint32_t wanted = (c->of[v].deps & deps) | (uint32_t)(c->of[v].lack & lack) << DEPS, path[MAX_STEPS],
             n = 0;
    if (!wanted || !c->reasons)
        return;
    uint32_t bit = (uint32_t)__builtin_ctz(wanted);
    const struct class_reason *why = NULL;
    for (uint32_t node = v; node != NONE && n < MAX_STEPS; node = why->from) {
        path[n++] = node;
        why = &c->reasons[(size_t)node * CLASS_BITS + bit];
    }
    if (bit < DEPS)
        str_printf(out, "%s: ", dep_names[bit]);
    while (n--) {
        print_node(out, c, path[n]);
        if (n)
            str_printf(out, "%s", how[c->reasons[(size_t)path[n - 1] * CLASS_BITS + bit].how]);
    }
}

const struct inst *class_origin(const struct classes *c, uint32_t v, uint32_t deps) {
    uint32_t wanted = c->of[v].deps & deps;
    if (!wanted || !c->reasons)
        return NULL;
    uint32_t bit = (uint32_t)__builtin_ctz(wanted), node = v;
    for (uint32_t n = 0; n < MAX_STEPS; n++) {
        uint32_t from = c->reasons[(size_t)node * CLASS_BITS + bit].from;
        if (from == NONE)
            break;
        node = from;
    }
    return node < c->reach.n ? reach_inst(&c->reach, node) : NULL;
}
