/* One configuration text, read into settings: the step between YAML and the struct. */
#ifndef REPRISE_CFG_READ_H
#define REPRISE_CFG_READ_H

#include "base/diag.h"
#include "cfg/param.h"

/* A value given to a parameter, by its number in the list, and the place of the value in the text. */
struct setting {
    uint32_t param;
    size_t at;
    union param_value value;
};

/* What a text says. src and strings live as long as the caller's text and arena. */
struct settings {
    struct diag_source src;
    VEC(struct setting) list;
    const char *inherit; /* the configuration this one builds on, or NULL */
    size_t inherit_at;
};

/* Reads YAML. Every error is added to d, and what was right is in s; false when there was an error. */
bool settings_read_yaml(struct settings *s, const struct param_list *l, struct arena *a, struct diag *d);
/* Reads one "path=value". */
bool settings_read_pair(struct settings *s, const struct param_list *l, struct arena *a, struct diag *d);

#endif
