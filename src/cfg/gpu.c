/* The table of the GPU's parameters. */
#include "cfg/gpu.h"

#include <string.h>

#include "cfg/files.h"

#define CHOICES(tag, ...) static const char *const choices_##tag[] = {__VA_ARGS__ NULL};
#define CHOICE(id, name)  name,
#include "cfg/choices.def"

/* Of each type: what else a row says, given its default. */
#define ROW_INT(x)     PARAM_INT, .initial = (double)(x)
#define ROW_BYTES(x)   PARAM_BYTES, .initial = (double)(x)
#define ROW_FLOAT(x)   PARAM_FLOAT, .initial = (x)
#define ROW_BOOL(x)    PARAM_BOOL, .initial = (x)
#define ROW_VERSION(x) PARAM_VERSION, .initial = (x)
#define ROW_STRING(x)  PARAM_STRING, .text = (x)
#define ROW_ENUM(tag)  PARAM_ENUM, .choices = choices_##tag ROW_CHOICE
#define ROW_CHOICE(x)  , .initial = (x)

static const struct param rows[] = {
#define PARAM(field_, path_, type_, min_, max_, default_, unit_, help_)                                      \
    {.path = path_,                                                                                          \
     .type = ROW_##type_(default_),                                                                          \
     .offset = offsetof(struct gpu_config, field_),                                                          \
     .min = (double)(min_),                                                                                  \
     .max = (double)(max_),                                                                                  \
     .unit = unit_,                                                                                          \
     .help = help_},
#include "cfg/params.def"
};

static void check(const void *values, param_fault *fault, void *ctx) {
    const struct gpu_config *c = values;
#define CHECK(a, b, condition, words)                                                                        \
    if (!(condition))                                                                                        \
        fault(ctx, offsetof(struct gpu_config, a), offsetof(struct gpu_config, b), words);
#include "cfg/checks.def"
#undef CHECK
}

const struct param_table gpu_params = PARAM_TABLE(struct gpu_config, rows, check);

static void list_gpu(struct config *c, struct str *out, const char *name, const char *dir) {
    const struct gpu_config *g = config_values(c, &gpu_params);
    struct diag d = {0};
    str_printf(out, "%-14s ", name);
    if (!config_load(c, name, NULL, dir, &d)) {
        str_printf(out, "cannot be read:\n%s", str_text(&d.text));
    } else {
        struct str l2 = {0};
        param_print(c->params.at[param_find(&c->params, "l2.size", strlen("l2.size"))], g, false, &l2);
        str_printf(out, "%-34.34s %-8s %4d SMs of %3d warps, L2 %s%s\n", g->device_name,
                   choices_architecture[g->device_architecture], g->device_sms, g->sm_warps, str_text(&l2),
                   strcmp(name, CONFIG_DEFAULT_GPU) ? "" : "  (default)");
        str_free(&l2);
    }
    diag_free(&d);
}

void config_list_gpus(struct config *c, struct str *out, const char *config_dir) {
    struct arena a = {0};
    struct str found = {0};
    struct diag d = {0};
    if (!config_dir && config_find_dir(&found, &d))
        config_dir = str_text(&found);
    str_printf(out, "%s", str_text(&d.text));
    struct file_names names = file_list(&a, config_dir);
    for (uint32_t i = 0; i < names.len; i++)
        list_gpu(c, out, names.at[i], config_dir);
    diag_free(&d);
    str_free(&found);
    arena_free(&a);
}
