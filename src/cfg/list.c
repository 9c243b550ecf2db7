/* Configurations in words: the table of `reprise list params`, and settings for reports. */
#include <stdio.h>
#include <string.h>

#include "cfg/config.h"

enum { WIDTH = 100, HELP_INDENT = 6, NAME_WIDTH = 22, VALUE_WIDTH = 14 };

static const enum config_json json_kinds[] = {
    [PARAM_INT] = CONFIG_NUMBER,  [PARAM_BYTES] = CONFIG_NUMBER, [PARAM_FLOAT] = CONFIG_NUMBER,
    [PARAM_BOOL] = CONFIG_TRUTH,  [PARAM_ENUM] = CONFIG_TEXT,    [PARAM_VERSION] = CONFIG_TEXT,
    [PARAM_STRING] = CONFIG_TEXT,
};

bool config_setting_at(const struct config *c, uint32_t i, struct config_setting *s) {
    if (i >= c->params.len)
        return false;
    const struct param *p = c->params.at[i];
    const struct config_origin *o = &c->origins.at[i];
    *s = (struct config_setting){
        .name = p->path, .unit = p->unit, .help = p->help, .kind = json_kinds[p->type]};
    struct str value = {0};
    param_print(p, config_block_of(c, i)->values, true, &value);
    snprintf(s->value, sizeof s->value, "%s", str_text(&value));
    str_free(&value);
    if (o->kind == CONFIG_FROM_FILE)
        snprintf(s->origin, sizeof s->origin, "%s:%u", c->files[o->file], o->line);
    else
        snprintf(s->origin, sizeof s->origin, "%s", o->kind == CONFIG_FROM_SET ? "--set" : "default");
    return true;
}

/* Adds text in lines of at most WIDTH columns, each indented. */
static void wrap(struct str *out, const char *text) {
    while (*text) {
        size_t n = strlen(text), room = WIDTH - HELP_INDENT;
        if (n > room)
            for (n = room; n > 0 && text[n] != ' ';)
                n--;
        if (!n) /* a word longer than a line */
            n = room;
        str_printf(out, "%*s%.*s\n", HELP_INDENT, "", (int)n, text);
        text += n;
        text += strspn(text, " ");
    }
}

static bool same_group(const char *a, const char *b) {
    size_t n = (size_t)(strrchr(a, '.') - a), m = (size_t)(strrchr(b, '.') - b);
    return n == m && !memcmp(a, b, n);
}

void config_list(const struct config *c, struct str *out) {
    str_printf(out,
               "Name, default and what it takes. Set them in a configuration or with --set name=value.\n");
    for (uint32_t i = 0; i < c->params.len; i++) {
        const struct param *p = c->params.at[i];
        if (i == 0 || !same_group(c->params.at[i - 1]->path, p->path))
            str_printf(out, "\n");
        struct str value = {0}, takes = {0};
        param_print_initial(p, &value);
        param_describe(p, &takes);
        int pad = (int)value.len < VALUE_WIDTH ? VALUE_WIDTH : (int)value.len;
        bool fits = NAME_WIDTH + pad + (int)takes.len + 4 <= WIDTH;
        str_printf(out, "  %-*s %-*s", NAME_WIDTH, p->path, fits ? pad + 1 : 0, str_text(&value));
        str_printf(out, "%s\n", fits ? str_text(&takes) : "");
        if (!fits)
            wrap(out, str_text(&takes));
        wrap(out, p->help);
        str_free(&value);
        str_free(&takes);
    }
}
