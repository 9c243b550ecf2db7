/* The summary of a run for people. */
#include <inttypes.h>

#include "report/report.h"

/* A quantity with three or four digits and the prefix that suits it, for a field of 10 columns. */
static const char *quantity(double v, const char *unit, char out[32]) {
    static const char *const prefixes[] = {"", "m", "u", "n", "p"};
    uint32_t k = 0;
    for (; v > 0 && v < 1 && k < 4; k++)
        v *= 1000;
    snprintf(out, 32, "%.*f %s%s", v == 0 || v >= 100 ? 0 : v < 10 ? 2 : 1, v, prefixes[k], unit);
    return out;
}

/* One cell of the table: what, how much, per cent. */
static void cell(FILE *to, const char *name, double joules, double sum) {
    char text[32];
    fprintf(to, "  %-16s %9s %5.1f%%", name, quantity(joules, "J", text), sum > 0 ? 100 * joules / sum : 0.0);
}

void report_summary(const struct report_machine *m, const struct report_run *totals, FILE *to) {
    if (!totals->cycles || !m->nenergy)
        return;
    double *joules = xcalloc(m->energy->spec.nparts, sizeof *joules);
    double sum = energy_sum(m->energy, totals->timed, totals->cycles, joules);
    double seconds = (double)totals->cycles / m->energy->spec.hz;
    char time[32], energy[32], power[32];
    fprintf(to, "%" PRIu64 " cycles, %s; IPC %.2f; energy %s, power %s\n", totals->cycles,
            quantity(seconds, "s", time), (double)totals->timed_insts / (double)totals->cycles,
            quantity(sum, "J", energy), quantity(sum / seconds, "W", power));
    uint32_t rows = (m->nenergy + 1) / 2;
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t k = i; k < m->nenergy; k += rows)
            cell(to, m->energy->spec.parts[k].name, joules[k], sum);
        fputs("\n", to);
    }
    free(joules);
}
