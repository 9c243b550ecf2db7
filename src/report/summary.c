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
static void cell(FILE *to, const struct rp_energy *e, double sum) {
    char text[32];
    fprintf(to, "  %-16s %9s %5.1f%%", e->name, quantity(e->total, "J", text),
            sum > 0 ? 100 * e->total / sum : 0.0);
}

void report_summary(const struct rp_gpu *gpu, FILE *to) {
    struct rp_totals t = rp_totals(gpu);
    struct rp_energy e;
    double sum = 0, seconds = (double)t.cycles / (1e3 * rp_gpu_info(gpu)->clock_khz);
    uint32_t n = 0;
    for (; rp_energy(gpu, n, &e); n++)
        sum += e.total;
    if (!t.cycles || !n)
        return;
    char time[32], energy[32], power[32];
    fprintf(to, "%" PRIu64 " cycles, %s; IPC %.2f; energy %s, power %s\n", t.cycles,
            quantity(seconds, "s", time), (double)t.timed_insts / (double)t.cycles,
            quantity(sum, "J", energy), quantity(sum / seconds, "W", power));
    uint32_t rows = (n + 1) / 2;
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t k = i; k < n; k += rows) {
            rp_energy(gpu, k, &e);
            cell(to, &e, sum);
        }
        fputs("\n", to);
    }
}
