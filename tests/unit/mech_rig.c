#include "mech_rig.h"

struct sm *mech_sm;

static struct mechanism mechs[MECH_MAX]; /* of the rig that was opened last */

static void *create(struct arena *a, const struct gpu_config *cfg, void *shared, struct sm *sm) {
    (void)a, (void)cfg, (void)shared;
    mech_sm = sm;
    return sm;
}

void mech_rig_open(struct rig *r, const char *gpu, const char *set, const char *ptx, uint32_t n,
                   const struct mech_points *const *points) {
    static const char *const settings[] = {NULL};
    static struct mech_model models[MECH_MAX];
    const char *const all[] = {"device.sms=1", set, NULL};
    rig_open(r, gpu, all, false, ptx);
    r->g->mechs.n = n;
    for (uint32_t k = 0; k < n; k++) {
        mechs[k] = (struct mechanism){.name = "test", .points = *points[k], .create = create};
        models[k] = (struct mech_model){.name = "test", .mechanism = &mechs[k], .settings = settings};
        r->g->mechs.at[k] = &models[k];
    }
}

void mech_rig_check(struct rig *r, bool approximate) {
    r->g->opt.check = true;
    for (uint32_t k = 0; k < r->g->mechs.n; k++)
        mechs[k].approximate = approximate;
}
