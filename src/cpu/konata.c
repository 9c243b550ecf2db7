/* Lines of a Kanata file are in the order of cycles, and cores say what happens in another order: ends may be
 * known long after what comes behind them, and one core runs ahead of the other. So events are kept, and
 * written when the file ends, sorted. A window keeps that small; without one a file has at most LIMIT
 * instructions. */
#include "cpu/konata.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/io.h"
#include "base/vec.h"
#include "cpu/a64.h"

enum { LIMIT = 2000000 };

struct shown {
    uint64_t pc, arrived, issued, end;
    uint32_t word, core;
};

struct konata {
    struct io_file file;
    uint64_t first, last;
    VEC(struct shown) at;
    bool cut; /* there would have been more */
};

struct konata *konata_open(const char *path, uint64_t first, uint64_t last) {
    struct konata *k = xcalloc(1, sizeof *k);
    k->first = first;
    k->last = last;
    if (!io_begin(&k->file, path)) {
        free(k);
        return NULL;
    }
    return k;
}

uint64_t konata_issue(struct konata *k, uint32_t core, uint64_t pc, uint32_t word, uint64_t arrived,
                      uint64_t issued) {
    if (arrived > k->last || issued < k->first || k->at.len == LIMIT) {
        k->cut |= k->at.len == LIMIT;
        return UINT64_MAX;
    }
    vec_push(&k->at, (struct shown){pc, arrived, issued, issued, word, core});
    return k->at.len - 1;
}

void konata_end(struct konata *k, uint64_t number, uint64_t cycle) {
    if (number < k->at.len)
        k->at.at[number].end = cycle;
}

/* ---- the file ---- */

enum kind { BEGIN, ISSUE, END };

struct event {
    uint64_t cycle;
    uint32_t number;
    enum kind kind;
};

static int by_cycle(const void *a, const void *b) {
    const struct event *x = a, *y = b;
    if (x->cycle != y->cycle)
        return x->cycle < y->cycle ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

static void put(struct konata *k, const struct event *e, uint64_t *retired) {
    const struct shown *s = &k->at.at[e->number];
    struct str text = {0};
    switch (e->kind) {
    case BEGIN:
        a64_print(&text, s->word, s->pc);
        fprintf(k->file.to, "I\t%u\t%u\t%u\nL\t%u\t0\t%" PRIx64 ": %s\nS\t%u\t0\tF\n", e->number, e->number,
                s->core, e->number, s->pc, str_text(&text), e->number);
        str_free(&text);
        break;
    case ISSUE:
        fprintf(k->file.to, "E\t%u\t0\tF\nS\t%u\t0\tX\n", e->number, e->number);
        break;
    case END:
        fprintf(k->file.to, "E\t%u\t0\tX\nR\t%u\t%" PRIu64 "\t0\n", e->number, e->number, (*retired)++);
        break;
    }
}

bool konata_close(struct konata *k) {
    VEC(struct event) events = {0};
    uint64_t cycle = 0, retired = 0;
    for (uint32_t n = 0; n < k->at.len; n++) {
        const struct shown *s = &k->at.at[n];
        vec_push(&events, (struct event){s->arrived, n, BEGIN});
        vec_push(&events, (struct event){s->issued, n, ISSUE});
        vec_push(&events, (struct event){s->end > s->issued ? s->end : s->issued + 1, n, END});
    }
    if (events.len)
        qsort(events.at, events.len, sizeof *events.at, by_cycle);
    fprintf(k->file.to, "Kanata\t0004\n");
    for (uint32_t n = 0; n < events.len; n++) {
        if (!n)
            fprintf(k->file.to, "C=\t%" PRIu64 "\n", events.at[n].cycle);
        else if (events.at[n].cycle > cycle)
            fprintf(k->file.to, "C\t%" PRIu64 "\n", events.at[n].cycle - cycle);
        cycle = events.at[n].cycle;
        put(k, &events.at[n], &retired);
    }
    if (k->cut)
        fprintf(stderr, "reprise: the trace has the first %d instructions; --trace-window chooses others\n",
                LIMIT);
    bool ok = io_end(&k->file, true);
    vec_free(&events);
    vec_free(&k->at);
    free(k);
    return ok;
}
