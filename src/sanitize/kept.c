/* What is kept of each live allocation: where it was made, which bytes have been written. */
#include <string.h>

#include "sanitize/tool.h"

/* Memory that host code may write without telling counts as written from the start, and so do variables. */
static bool tracked(enum rp_mem_kind kind) {
    return kind == RP_MEM_DEVICE || kind == RP_MEM_ARRAY;
}

struct kept *kept_add(struct sanitizer *s, uint64_t addr, bool device) {
    const struct rp_alloc *a = memory_find(s->mem, addr);
    if (!a)
        return NULL;
    struct kept *k = xcalloc(1, sizeof *k);
    *k = (struct kept){.addr = addr, .size = a->size, .kind = a->kind, .device = device};
    trace_take(s, &k->at);
    if (tool_on(s, RP_INITCHECK) && tracked(a->kind))
        k->written = xcalloc(a->size / 8 + BITS_PAD, 1);
    map_set_u64(&s->kept, addr, k);
    s->hint = NULL;
    return k;
}

void kept_remove(struct sanitizer *s, uint64_t addr) {
    struct kept *k = map_get_u64(&s->kept, addr);
    if (!k)
        return;
    map_remove_u64(&s->kept, addr);
    free(k->written);
    free(k);
    s->hint = NULL;
}

struct kept *kept_find(struct sanitizer *s, uint64_t addr) {
    struct kept *k = s->hint;
    if (k && addr - k->addr < k->size)
        return k;
    const struct rp_alloc *a = memory_find(s->mem, addr);
    k = a ? map_get_u64(&s->kept, a->addr) : NULL;
    s->hint = k ? k : s->hint;
    return k;
}

void kept_free(struct sanitizer *s) {
    for (uint32_t i = 0; i < s->kept.len; i++) {
        struct kept *k = s->kept.entries[i].value;
        if (k)
            free(k->written);
        free(k);
    }
    map_free(&s->kept);
}
