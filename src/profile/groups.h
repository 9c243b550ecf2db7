/* Instances of an instruction that belong together: each is the n-th of its warp (Yeh, Green and Rogers,
 * "DARSIE", ASPLOS 2020, Figures 1 and 2; profile/redundant.c says more). They are redundant if every warp
 * has one, of all 32 lanes, with the same sources. */
#ifndef REPRISE_PROFILE_GROUPS_H
#define REPRISE_PROFILE_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

/* One instance. */
struct group_instance {
    uint64_t sources; /* a hash of them */
    uint8_t form;     /* enum value_form */
    bool whole;       /* all 32 lanes */
};

struct group {
    uint64_t sources; /* of the first instance */
    uint32_t n;       /* instances */
    uint8_t form;
    bool differ;
};

/* Of one instruction in a block. Warps of a block advance together: those groups are kept that are not
 * complete, and no more than GROUP_BEHIND of them; what a warp does later than that belongs to no group. */
enum { GROUP_BEHIND = 16384 };
struct group_ring {
    struct group *at;
    uint32_t size;     /* a power of two, or 0 */
    uint32_t first, n; /* number of the first group that is kept; how many there are */
};

/* What became of an instance. */
struct group_seen {
    bool follows;  /* it does what the first of its group did, as all between have */
    bool complete; /* it was the last one, and the group is redundant */
    uint8_t form;  /* that of the group */
};

/* Instance number of a warp, in a block of so many warps. */
struct group_seen group_ring_add(struct group_ring *r, uint32_t number, const struct group_instance *i,
                                 uint32_t warps);
/* Another block begins. */
void group_ring_reset(struct group_ring *r);
void group_ring_free(struct group_ring *r);

/* Of one instruction in a grid: all groups, as blocks come one after the other. */
struct group_list {
    struct group *at;
    uint32_t len, cap;
};
/* false: there would be more groups than *room, which counts those that are left. */
bool group_list_add(struct group_list *l, uint32_t number, const struct group_instance *i, uint64_t *room);
void group_list_free(struct group_list *l);

#endif
