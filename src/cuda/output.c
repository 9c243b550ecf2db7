/* Device output and the report: what launches print is kept until the program synchronises, as CUDA does,
 * and what they cost is written as JSON when the process ends. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/core.h"
#include "gpu/gpu_report.h"
#include "report/results.h"

static struct str kept_out, kept_err;

static struct gpu_report *launches;
static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER; /* of it, whom a signal also asks for */
static struct results results;

static void keep(struct str *to, const char *(*take)(struct rp_gpu *, size_t *)) {
    size_t len = 0;
    const char *text = take(cud.gpu, &len);
    if (text && len)
        str_add(to, text, len);
}

void cud_keep_output(void) {
    keep(&kept_out, rp_take_output);
    keep(&kept_err, rp_take_errors);
}

static void write_out(struct str *s, FILE *to) {
    if (!s->len)
        return;
    fwrite(s->at, 1, s->len, to);
    fflush(to);
    s->len = 0;
}

void cud_flush_output(void) {
    write_out(&kept_out, stdout);
    write_out(&kept_err, stderr);
}

void cud_flush_findings(void) {
    size_t len = 0;
    const char *text = rp_take_findings(cud.gpu, &len);
    if (!len)
        return;
    fflush(stdout);
    fwrite(text, 1, len, stderr);
}

void cud_report_launch(struct rp_kernel *k, const struct rp_launch *l, struct rp_totals before) {
    results_launch(&results, cud.gpu, k, l);
    if (!getenv("REPRISE_JSON"))
        return;
    pthread_mutex_lock(&report_lock);
    if (!launches)
        launches = gpu_report_create(cud.gpu);
    gpu_report_launch(launches, k, l, before);
    pthread_mutex_unlock(&report_lock);
}

/* Writes the report, if one is wanted; false after a message. */
static bool write_report(const char *incomplete) {
    const char *path = getenv("REPRISE_JSON");
    if (!path || !*path || !cud.gpu)
        return true;
    pthread_mutex_lock(&report_lock);
    if (!launches)
        launches = gpu_report_create(cud.gpu);
    bool ok = gpu_report_write(launches, incomplete, path);
    if (!incomplete) /* else no launch ends any more: the report would lack it */
        pthread_mutex_unlock(&report_lock);
    return ok;
}

void cud_report_signal(int number) {
    char why[32];
    snprintf(why, sizeof why, "ended by signal %d", number);
    write_report(why);
}

bool cud_report_at_exit(void) {
    bool ok = results_end(&results);
    results_free(&results);
    if (cud.gpu && getenv("REPRISE_SUMMARY"))
        gpu_report_summary(cud.gpu, stderr);
    ok &= write_report(NULL);
    pthread_mutex_lock(&report_lock);
    gpu_report_free(launches);
    launches = NULL;
    pthread_mutex_unlock(&report_lock);
    return ok;
}
