#include "mech_rig.h"

struct sm *mech_sm;

static struct mechanism mechs[MECH_MAX]; /* of the rig that was opened last */

static void *create(struct arena *a, const void *params, void *shared, struct sm *sm) {
    (void)a, (void)params, (void)shared;
    mech_sm = sm;
    return sm;
}

void mech_rig_open(struct rig *r, const char *gpu, const char *set, const char *ptx, uint32_t n,
                   const struct mech_points *const *points) {
    const char *all[8] = {"device.sms=1"};
    char *words = set ? strdup(set) : NULL;
    for (char *at = words ? strtok(words, " ") : NULL, **to = (char **)&all[1]; at; at = strtok(NULL, " "))
        *to++ = at;
    rig_open(r, gpu, all, false, ptx);
    free(words);
    r->g->mechs.n = n;
    for (uint32_t k = 0; k < n; k++) {
        mechs[k] = (struct mechanism){.name = "test", .points = *points[k], .create = create};
        r->g->mechs.at[k] = &mechs[k];
    }
}

void mech_rig_check(struct rig *r, bool approximate) {
    r->g->opt.check = true;
    for (uint32_t k = 0; k < r->g->mechs.n; k++)
        mechs[k].approximate = approximate;
}
