/* Probes: they watch the timed machine and change nothing, neither a value nor a cycle; a test proves it.
 *
 * The machine tells every event once, in the order in which things happen. Cycles never decrease, with one
 * exception: an SM about to sleep tells the WARP_STATE of its warps for the next cycle at once, since nothing
 * would tell it then; if it is ticked in that cycle after all, a later one for the same cycle replaces it. So
 * the states told, up to repetitions, do not depend on sleeping. */
#ifndef REPRISE_SIM_PROBE_H
#define REPRISE_SIM_PROBE_H

#include <stdbool.h>
#include <stdint.h>

struct exec;
struct str;
struct warp;

enum probe_kind {
#define PROBE_KIND(name, meaning) PROBE_##name,
#include "sim/probe.def"
    PROBE_KINDS
};

enum probe_state {
#define PROBE_STATE(name, word, meaning) PROBE_STATE_##name,
#include "sim/probe.def"
    PROBE_STATES
};

/* A launch as probes see it; lives as long as the launch. */
struct probe_kernel {
    const char *name;
    uint64_t launch; /* number in the run, from 0 */
    uint32_t grid[3], block[3];
    uint32_t warps;   /* of a block */
    uint32_t ncode;   /* instructions; a pc is an index into them, those of second streams come last */
    uint32_t streams; /* second streams of instructions that each SM may run, numbered from 1 */
    uint32_t sms, slots,
        nops; /* the machine: SMs, warps of an SM, instructions on their way in an SM, at most */
    /* Appends an instruction as text, and where it comes from: file and line. */
    void (*print)(const struct probe_kernel *k, uint32_t pc, struct str *inst, struct str *where);
    const void *ctx; /* print's */
    const struct exec *exec;
};

struct probe_event {
    uint8_t kind, state;
    uint8_t stream; /* of events of a slot: 0 the program, else the second stream that runs there */
    uint16_t sm, slot;
    int32_t op;
    uint32_t pc, n, mask;
    uint64_t cycle, block, addr; /* block: its number in the grid */
    const char *text;
    const struct probe_kernel *kernel;
    const struct warp *warp;
};

/* One watcher; several form a list. */
struct probe {
    void (*event)(struct probe *p, const struct probe_event *e);
    uint32_t kinds; /* bits by enum probe_kind: all it asks for; 0: everything */
    struct probe *next;
};

static inline bool probe_asks(const struct probe *p, uint32_t kind) {
    return !p->kinds || p->kinds >> kind & 1;
}

_Static_assert(PROBE_KINDS <= 32, "kinds are bits of a word");

/* Whether anybody would listen. */
static inline bool probe_wanted(const struct probe *first, uint32_t kind) {
    while (first && !probe_asks(first, kind))
        first = first->next;
    return first;
}

static inline void probe_tell(struct probe *first, const struct probe_event *e) {
    for (struct probe *p = first; p; p = p->next)
        if (probe_asks(p, e->kind))
            p->event(p, e);
}

#endif
