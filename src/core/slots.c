/* Accounts of the cycles in which the SM sleeps. */
#include "core/slots.h"

/* Where some warps are ready but lack something, or schedulers choose from a part of them. */
static APART void account_each(struct sm *sm, uint64_t cycles) {
    for (uint32_t k = 0; k < sm->spec->schedulers; k++) {
        enum shortage why;
        uint64_t set = sm->group[k] & ready_warps(sm);
        if (sm->spec->policy == SCHED_TWO_LEVEL)
            set &= sched_active(sm, k); /* as the first of these cycles would have left it */
        if (issue_possible(sm, set, &why, false))
            why = REFUSED; /* else it would not sleep */
        slots_stalled(sm, k, why, set, cycles * sm->spec->width, false);
    }
}

void sm_account(struct sm *sm, uint64_t cycles) {
    sm->n.cycles += cycles;
    if (sm->lsu_epoch != UINT32_MAX)
        sm->n.lsu_stalls += cycles;
    sm->n.resident_warps += cycles * sm->nwarps;
    if (!ready_warps(sm) && sm->spec->policy != SCHED_TWO_LEVEL)
        slots_all_stalled(sm, cycles, sm->spec->schedulers, false);
    else
        account_each(sm, cycles);
}
