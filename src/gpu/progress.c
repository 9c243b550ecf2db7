/* The lines that show how far a run is. */
#include "gpu/progress.h"

#include <inttypes.h>

#include "base/demangle.h"

void launch_progress_begin(struct launch_progress *p, struct waiting_line *w, uint64_t launch,
                           const char *kernel, uint64_t blocks, uint64_t before) {
    if (w->how == WAITING_NONE)
        return;
    waiting_begin(w);
    *p = (struct launch_progress){w, kernel, launch, blocks, before, waiting_clock()};
}

void launch_progress_tell(struct launch_progress *p, uint64_t blocks, uint64_t insts, uint64_t cycles) {
    struct waiting_line *w = p->run;
    const double brief = 0.05; /* seconds of which no speed is told */
    double now = waiting_clock(), spent = now - p->began;
    if (!waiting_is_time(w, now))
        return;
    struct str line = {0};
    if (w->expected)
        waiting_add_share(&line, w, (double)(p->before + insts) / (double)w->expected, "", now - w->began);
    else
        waiting_add_share(&line, w, (double)blocks / (double)p->blocks, " of this launch", spent);
    str_printf(&line, "  launch %" PRIu64 ": %" PRIu64 " of %" PRIu64 " blocks", p->launch, blocks,
               p->blocks);
    if (spent > brief && cycles)
        str_printf(&line, ", %.0f thousand cycles a second", (double)cycles / spent / 1e3);
    else if (spent > brief && insts)
        str_printf(&line, ", %.1f M warp instructions a second", (double)insts / spent / 1e6);
    str_printf(&line, ", ");
    str_add_name(&line, p->kernel);
    waiting_show(w, &line, now);
    str_free(&line);
}

void launch_progress_end(struct launch_progress *p) {
    if (p->run)
        waiting_end(p->run);
}
