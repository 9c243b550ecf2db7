#include "profile/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* Adds an instance to its group; whether it does what the first one did, as all between have. */
static bool join(struct group *g, const struct group_instance *i) {
    bool follows = g->n && !g->differ && i->whole && g->sources == i->sources;
    if (!g->n) {
        g->sources = i->sources;
        g->form = i->form;
    }
    g->n++;
    g->differ |= !i->whole || g->sources != i->sources;
    return follows;
}

/* Makes room for so many groups from the first one on. */
static void grow(struct group_ring *r, uint32_t need) {
    uint32_t size = r->size ? r->size : 4;
    while (size < need)
        size *= 2;
    struct group *at = xcalloc(size, sizeof *at);
    for (uint32_t k = r->first; k != r->first + r->n; k++)
        at[k & (size - 1)] = r->at[k & (r->size - 1)];
    free(r->at);
    r->at = at;
    r->size = size;
}

struct group_seen group_ring_add(struct group_ring *r, uint32_t number, const struct group_instance *i,
                                 uint32_t warps) {
    struct group_seen seen = {0};
    uint32_t ahead = number - r->first;
    if (ahead > INT32_MAX)
        return seen; /* its group is no longer kept */
    if (ahead >= GROUP_BEHIND) {
        uint32_t drop = ahead - GROUP_BEHIND + 1;
        r->first += drop;
        r->n = r->n > drop ? r->n - drop : 0;
        ahead -= drop;
    }
    if (ahead >= r->size)
        grow(r, ahead + 1);
    while (r->n <= ahead)
        r->at[(r->first + r->n++) & (r->size - 1)] = (struct group){0};
    struct group *g = &r->at[number & (r->size - 1)];
    seen.follows = join(g, i);
    seen.complete = g->n == warps && !g->differ;
    seen.form = g->form;
    while (r->n && r->at[r->first & (r->size - 1)].n == warps) {
        r->first++;
        r->n--;
    }
    return seen;
}

void group_ring_reset(struct group_ring *r) {
    r->first = r->n = 0;
}

void group_ring_free(struct group_ring *r) {
    free(r->at);
}

bool group_list_add(struct group_list *l, uint32_t number, const struct group_instance *i, uint64_t *room) {
    if (number >= l->len) {
        if (number > l->len || !*room)
            return false;
        if (l->len == l->cap) {
            l->cap = l->cap ? 2 * l->cap : 4;
            l->at = xrealloc(l->at, l->cap * sizeof *l->at);
        }
        l->at[l->len++] = (struct group){0};
        --*room;
    }
    join(&l->at[number], i);
    return true;
}

void group_list_free(struct group_list *l) {
    free(l->at);
}
