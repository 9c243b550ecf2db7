/* Whether the rows of a table computed what the base machine computed. */
#include <string.h>

#include "study/table.h"

static const char *text_of(json_t *object, const char *key) {
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

/* Says where the first difference is; false when there is none. */
static bool differs(const struct row *base, const struct row *row, struct str *what) {
    if (!strcmp(text_of(json_object_get(base->report, "totals"), "digest"),
                text_of(json_object_get(row->report, "totals"), "digest")))
        return false;
    json_t *ours = json_object_get(row->report, "kernels"),
           *theirs = json_object_get(base->report, "kernels");
    size_t n = json_array_size(ours), all = json_array_size(theirs);
    for (size_t i = 0; i < n && i < all; i++) {
        json_t *a = json_array_get(ours, i), *b = json_array_get(theirs, i);
        if (strcmp(text_of(a, "digest"), text_of(b, "digest"))) {
            str_printf(what, "memory differs from the base machine's after launch %zu of %zu, kernel %s",
                       i + 1, n, text_of(a, "name"));
            return true;
        }
    }
    str_printf(what, "launches %zu kernels, the base machine %zu", n, all);
    return true;
}

void table_check(struct table *t) {
    for (uint32_t i = 0; i < t->rows.len; i++) {
        struct row *row = &t->rows.at[i];
        const struct row *base = table_row(t, row->bench, t->models.at[row->model].base);
        struct str what = {0};
        if (base && base->status == ROW_OK && row->status == ROW_OK && differs(base, row, &what)) {
            row->status = ROW_WRONG;
            row->message = xstrdup(str_text(&what));
        }
        str_free(&what);
    }
}
