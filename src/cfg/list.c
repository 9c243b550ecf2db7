/* Configurations in words: the tables of `reprise list`, and settings for reports. */
#include <stdio.h>
#include <string.h>

#include "cfg/config.h"
#include "cfg/files.h"

enum { WIDTH = 100, HELP_INDENT = 6, NAME_WIDTH = 22, VALUE_WIDTH = 14 };

static const enum config_json json_kinds[] = {
    [PARAM_INT] = CONFIG_NUMBER,  [PARAM_BYTES] = CONFIG_NUMBER, [PARAM_FLOAT] = CONFIG_NUMBER,
    [PARAM_BOOL] = CONFIG_TRUTH,  [PARAM_ENUM] = CONFIG_TEXT,    [PARAM_VERSION] = CONFIG_TEXT,
    [PARAM_STRING] = CONFIG_TEXT,
};

bool config_setting_at(const struct gpu_config *c, uint32_t i, struct config_setting *s) {
    if (i >= CONFIG_PARAMS)
        return false;
    const struct param *p = &config_params.rows[i];
    const struct config_origin *o = &c->origin[i];
    *s = (struct config_setting){
        .name = p->path, .unit = p->unit, .help = p->help, .kind = json_kinds[p->type]};
    struct str value = {0};
    param_print(p, c, true, &value);
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

void config_list(struct str *out) {
    str_printf(out,
               "Name, default and what it takes. Set them in a configuration or with --set name=value.\n");
    for (uint32_t i = 0; i < CONFIG_PARAMS; i++) {
        const struct param *p = &config_params.rows[i];
        if (i == 0 || !same_group(p[-1].path, p->path))
            str_printf(out, "\n");
        struct str value = {0}, takes = {0};
        param_print(p, &config_default, false, &value);
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

static void list_gpu(struct str *out, const char *name, const char *dir) {
    struct gpu_config c;
    struct diag d = {0};
    str_printf(out, "%-14s ", name);
    if (!config_load(&c, name, NULL, dir, &d)) {
        str_printf(out, "cannot be read:\n%s", str_text(&d.text));
    } else {
        struct str l2 = {0};
        param_print(&config_params.rows[CFG_l2_size], &c, false, &l2);
        str_printf(out, "%-26.26s %-8s %4d SMs of %3d warps, L2 %s%s\n", c.device_name,
                   config_params.rows[CFG_device_architecture].choices[c.device_architecture], c.device_sms,
                   c.sm_warps, str_text(&l2), strcmp(name, CONFIG_DEFAULT_GPU) ? "" : "  (default)");
        str_free(&l2);
    }
    diag_free(&d);
}

void config_list_gpus(struct str *out, const char *config_dir) {
    struct arena a = {0};
    struct str found = {0};
    struct diag d = {0};
    if (!config_dir && config_find_dir(&found, &d))
        config_dir = str_text(&found);
    str_printf(out, "%s", str_text(&d.text));
    struct file_names names = file_list(&a, config_dir);
    for (uint32_t i = 0; i < names.len; i++)
        list_gpu(out, names.at[i], config_dir);
    diag_free(&d);
    str_free(&found);
    arena_free(&a);
}
