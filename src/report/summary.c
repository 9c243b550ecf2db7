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

/* The parts of an account that are told, in two columns. */
static void print_parts(const struct energy_model *e, const double *joules, double sum, FILE *to) {
    uint32_t told[ENERGY_MAX_PARTS], n = 0;
    for (uint32_t i = energy_told(e, 0); i != UINT32_MAX; i = energy_told(e, i + 1))
        told[n++] = i;
    uint32_t rows = (n + 1) / 2;
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t k = i; k < n; k += rows)
            cell(to, e->spec.parts[told[k]].name, joules[told[k]], sum);
        fputs("\n", to);
    }
}

void report_summary(const struct report_machine *m, const struct report_run *totals, FILE *to) {
    if (!totals->cycles || !m->naccounts)
        return;
    double seconds = (double)totals->cycles / m->energy->spec.hz;
    char time[32], energy[32], power[32];
    fprintf(to, "%" PRIu64 " cycles, %s; IPC %.2f", totals->cycles, quantity(seconds, "s", time),
            (double)totals->timed_insts / (double)totals->cycles);
    for (uint32_t a = 0; a < m->naccounts; a++) {
        const struct energy_model *e = &m->energy[a];
        double *joules = xcalloc(e->spec.nparts, sizeof *joules);
        double sum = energy_sum(e, totals->timed, totals->cycles, joules);
        fprintf(to, "%s%s %s, power %s\n", a ? "" : "; ", e->spec.title, quantity(sum, "J", energy),
                quantity(sum / seconds, "W", power));
        print_parts(e, joules, sum, to);
        free(joules);
    }
}
