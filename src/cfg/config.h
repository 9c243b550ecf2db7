/* Configurations: the values of parameters, read from configs/NAME.yaml and --set.
 *
 * A configuration is made of blocks, one for each owner of parameters: the machine it describes, and whatever
 * is added to that. Each owner brings its table (cfg/param.h) and finds its values in a struct of its own.
 * What config_load filled obeys every table: each value is in its range and every relation holds. */
#ifndef REPRISE_CFG_CONFIG_H
#define REPRISE_CFG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "cfg/param.h"

enum {
    CONFIG_MAX_DEPTH = 8, /* files that inherit from one another */
    CONFIG_NAME_SIZE = 64,
};

enum config_origin_kind { CONFIG_FROM_DEFAULT, CONFIG_FROM_FILE, CONFIG_FROM_SET };

/* Where a value came from; file numbers config.files. */
struct config_origin {
    uint8_t kind, file;
    uint32_t line;
};

/* The parameters of one owner. */
struct config_block {
    const struct param_table *table;
    void *values;   /* the struct that the table describes */
    uint32_t first; /* number of its first parameter among all */
};

/* A configuration; one with nothing but what is empty. */
struct config {
    const char *what; /* it describes, for messages: "GPU" */
    struct arena arena;
    VEC(struct config_block) blocks;
    struct param_list params;                       /* the rows of all blocks */
    VEC(struct config_origin) origins;              /* of each of them */
    char files[CONFIG_MAX_DEPTH][CONFIG_NAME_SIZE]; /* the files read, without their folders */
};

/* Adds the parameters of an owner, with their defaults, behind those of others. The table must stay. */
void config_add(struct config *c, const struct param_table *t);
/* The values of the owner with this table, or NULL when it was not added. */
void *config_values(const struct config *c, const struct param_table *t);
/* The block that parameter number i belongs to. */
const struct config_block *config_block_of(const struct config *c, uint32_t i);
/* The value of the FLOAT parameter called path; false when there is none. */
bool config_float(const struct config *c, const char *path, double *value);
void config_free(struct config *c);

/* Gives every parameter its value. name_or_path: a name in the folder config_dir, or, if it has a '/' or ends
 * in ".yaml", a file. set: "path=value" strings that win over the files, the last over earlier ones,
 * NULL-terminated; or NULL. config_dir NULL: as config_find_dir says. On an error, every parameter has its
 * default and every message is in d. */
bool config_load(struct config *c, const char *name_or_path, const char *const *set, const char *config_dir,
                 struct diag *d);
/* The same for a text in memory; name is for messages. */
bool config_parse(struct config *c, const char *text, size_t len, const char *name, const char *const *set,
                  const char *config_dir, struct diag *d);

/* Finds the folder of the configurations: $REPRISE_CONFIGS; else beside this library or command, in the
 * source tree or as installed; else what the build was told. false, with a message, when there is none. */
bool config_find_dir(struct str *out, struct diag *d);

enum config_json { CONFIG_NUMBER, CONFIG_TRUTH, CONFIG_TEXT };

/* A setting as reports show it. */
struct config_setting {
    const char *name, *unit, *help;
    param_string value;                 /* plain, without size suffixes */
    enum config_json kind;              /* how JSON should write it */
    char origin[CONFIG_NAME_SIZE + 16]; /* "default", "gtx480.yaml:12" or "--set" */
};

/* Setting i, in the order of the blocks and their tables; false past the last one. */
bool config_setting_at(const struct config *c, uint32_t i, struct config_setting *s);

/* Adds the table of all parameters, at most 100 columns wide. */
void config_list(const struct config *c, struct str *out);

#endif
