#include "sanitize/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* Makes the cells of a page hold no more than 1 << shift bytes; each part starts with what was known of all.
 */
static void split(struct shadow_page *p, uint32_t shift) {
    uint32_t n = PAGE_BYTES >> p->shift, parts = 1u << (p->shift - shift);
    struct cell *cells = xcalloc((size_t)n * parts, sizeof *cells);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < parts; k++) {
            struct cell *c = &cells[i * parts + k];
            *c = p->cells[i];
            if (k && c->read.kind == PAST_BLOCKS) /* a list has one owner */
                c->read.kind = PAST_MANY;
            if (k && c->write.kind == PAST_BLOCKS)
                c->write.kind = PAST_MANY;
        }
    free(p->cells);
    p->cells = cells;
    p->shift = shift;
}

struct shadow_page *shadow_page(struct shadow *s, uint64_t addr, uint32_t size) {
    uint64_t number = (addr >> PAGE_SHIFT) + 1;
    uint32_t slot = number % SHADOW_NEAR, shift = size >= 4 ? 2 : size >> 1;
    struct shadow_page *p = s->near[slot].page;
    if (s->near[slot].number != number) {
        p = map_get_u64(&s->pages, number);
        if (!p) {
            p = xmalloc(sizeof *p);
            p->shift = 2;
            p->cells = xcalloc(PAGE_BYTES >> p->shift, sizeof *p->cells);
            map_set_u64(&s->pages, number, p);
        }
        s->near[slot].number = number;
        s->near[slot].page = p;
    }
    if (p->shift > shift)
        split(p, shift);
    return p;
}

uint32_t shadow_list(struct shadow *s) {
    if (s->free_list) {
        uint32_t list = s->free_list - 1;
        s->free_list = s->lists[list].next;
        s->lists[list].n = 0;
        return list;
    }
    if (s->nlists == s->cap_lists) {
        s->cap_lists = s->cap_lists ? 2 * s->cap_lists : 256;
        s->lists = xrealloc(s->lists, s->cap_lists * sizeof *s->lists);
    }
    s->lists[s->nlists].n = 0;
    return s->nlists++;
}

void shadow_list_free(struct shadow *s, uint32_t list) {
    s->lists[list].next = s->free_list;
    s->free_list = list + 1;
}

void shadow_clear(struct shadow *s, uint64_t addr, uint64_t size) {
    for (uint64_t at = addr; at < addr + size;) {
        struct shadow_page *p = map_get_u64(&s->pages, (at >> PAGE_SHIFT) + 1);
        uint64_t end = (at | (PAGE_BYTES - 1)) + 1;
        end = end < addr + size ? end : addr + size;
        for (; p && at < end; at += 1u << p->shift)
            *shadow_cell(p, at) = (struct cell){0};
        at = end;
    }
}

void shadow_free(struct shadow *s) {
    for (uint32_t i = 0; i < s->pages.len; i++) {
        struct shadow_page *p = s->pages.entries[i].value;
        if (p)
            free(p->cells);
        free(p);
    }
    map_free(&s->pages);
    free(s->lists);
    *s = (struct shadow){0};
}
