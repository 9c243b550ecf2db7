/* Device output and the report: what launches print is kept until the program synchronises, as CUDA does,
 * and what they cost is written as JSON when the process ends. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ending.h"
#include "cuda/core.h"
#include "gpu/gpu_profile.h"
#include "gpu/gpu_report.h"
#include "report/results.h"

/* What work has printed and nobody has seen. */
struct kept {
    uint64_t seq;
    FILE *to;
    struct str text;
};
static VEC(struct kept) kept;

static struct gpu_report *launches;
static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER; /* of it, whom a signal also asks for */
static struct results results;

static void keep(uint64_t seq, FILE *to, const char *text, size_t len) {
    if (!len)
        return;
    struct kept k = {seq, to, {0}};
    str_add(&k.text, text, len);
    vec_push(&kept, k);
}

void cud_keep_output(uint64_t seq, const char *report) {
    size_t len = 0, err = 0, found = 0, n = report ? strlen(report) : 0;
    const char *text = rp_take_output(cud.gpu, &len);
    keep(seq, stdout, text, len);
    text = rp_take_errors(cud.gpu, &err);
    keep(seq, stderr, text, err);
    keep(seq, stderr, report, n);
    if (n && report[n - 1] != '\n')
        keep(seq, stderr, "\n", 1);
    text = rp_take_findings(cud.gpu, &found);
    keep(seq, stderr, text, found);
}

void cud_flush_output(uint64_t seq) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < kept.len; i++) {
        struct kept *k = &kept.at[i];
        if (k->seq > seq) {
            kept.at[left++] = *k;
            continue;
        }
        if (k->to == stderr)
            fflush(stdout);
        fwrite(k->text.at, 1, k->text.len, k->to);
        fflush(k->to);
        str_free(&k->text);
    }
    kept.len = left;
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
    while (ending_begun()) /* a program that launches on and on would leave the lock to nobody */
        pause();
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

/* Writes the profile, if one is wanted; false after a message. */
static bool write_profile(const char *incomplete) {
    const char *path = getenv("REPRISE_PROFILE");
    return !path || !*path || !cud.gpu || gpu_profile_write(cud.gpu, incomplete, path);
}

void cud_report_signal(int number) {
    char why[32];
    snprintf(why, sizeof why, "ended by signal %d", number);
    write_report(why);
    write_profile(why);
}

bool cud_report_at_exit(void) {
    bool ok = results_end(&results);
    results_free(&results);
    if (cud.gpu && getenv("REPRISE_SUMMARY"))
        gpu_report_summary(cud.gpu, stderr);
    ok &= write_report(NULL);
    ok &= write_profile(NULL);
    pthread_mutex_lock(&report_lock);
    gpu_report_free(launches);
    launches = NULL;
    pthread_mutex_unlock(&report_lock);
    return ok;
}
