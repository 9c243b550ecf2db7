/* What has to run for a figure. */
#include <string.h>

#include "study/figure.h"

/* Adds the paper's model of that label, when it has one. */
static bool add_model(struct plan *p, const struct paper *paper, const char *label, size_t len) {
    const struct paper_row *m = NULL;
    while ((m = paper_next(paper, m, PAPER_MODEL)))
        if (strlen(m->name) == len && !strncmp(m->name, label, len))
            return plan_add_model(p, m->name, m->text);
    return true;
}

bool figure_add_models(struct plan *p, const struct paper *paper, const struct paper_row *figure) {
    const struct paper_row *base = paper_next(paper, NULL, PAPER_MODEL), *s = NULL;
    bool ok = plan_add_model(p, base->name, base->text);
    while (ok && (s = paper_next(paper, s, PAPER_SERIES))) {
        if (strcmp(s->figure, figure->figure))
            continue;
        ok = add_model(p, paper, s->model, strlen(s->model));
        for (const char *at = strchr(s->text, '@'); ok && at; at = strchr(at + 1, '@'))
            ok = add_model(p, paper, at + 1, strcspn(at + 1, " ()*/"));
    }
    return ok;
}
