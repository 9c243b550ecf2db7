/* The simulated GPU's configuration: what a GPU is, read from configs/NAME.yaml and --set.
 *
 * params.def lists the parameters and checks.def the relations between them. A struct gpu_config that
 * config_load filled obeys both: every value is in its range and every relation holds. It is plain data:
 * copy it, keep it, compare it; it owns nothing. */
#ifndef REPRISE_CFG_CONFIG_H
#define REPRISE_CFG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "cfg/param.h"

#define CONFIG_DEFAULT_GPU "h200" /* the GPU that results are compared with */

enum {
    CONFIG_WARP_SIZE = 32, /* lanes of a warp; the executors are built for it, so it is no parameter */
    CONFIG_LINE = 128,     /* bytes of a cache line, on every GPU modelled here */
    CONFIG_MAX_DEPTH = 8,  /* files that inherit from one another */
    CONFIG_NAME_SIZE = 64,
};

#define CHOICES(tag, ...) enum config_##tag{__VA_ARGS__};
#define CHOICE(id, name)  id,
#include "cfg/choices.def"
#undef CHOICES
#undef CHOICE

/* The parameters by number, in the order of params.def: CFG_sm_warps and so on. */
enum config_param {
#define PARAM(field, ...) CFG_##field,
#include "cfg/params.def"
    CONFIG_PARAMS
};

enum config_origin_kind { CONFIG_FROM_DEFAULT, CONFIG_FROM_FILE, CONFIG_FROM_SET };

/* Where a value came from; file numbers gpu_config.files. */
struct config_origin {
    uint8_t kind, file;
    uint32_t line;
};

#define CONFIG_TYPE_INT       int32_t
#define CONFIG_TYPE_BYTES     uint64_t
#define CONFIG_TYPE_FLOAT     double
#define CONFIG_TYPE_BOOL      bool
#define CONFIG_TYPE_ENUM(tag) enum config_##tag
#define CONFIG_TYPE_VERSION   int32_t
#define CONFIG_TYPE_STRING    param_string

/* One member for each row of params.def; its comment is the row's help. */
struct gpu_config {
#define PARAM(field, path, type, ...) CONFIG_TYPE_##type field;
#include "cfg/params.def"
    struct config_origin origin[CONFIG_PARAMS];
    char files[CONFIG_MAX_DEPTH][CONFIG_NAME_SIZE]; /* the files read, without their folders */
};

extern const struct param_table config_params;
extern const struct gpu_config config_default;

/* Loads a configuration. name_or_path: a name in the folder config_dir, or, if it has a '/' or ends in
 * ".yaml", a file; NULL for the default GPU. set: "path=value" strings that win over the files, the last over
 * earlier ones, NULL-terminated; or NULL. config_dir NULL: as config_find_dir says. On an error, *out is the
 * default GPU and every message is in d. */
bool config_load(struct gpu_config *out, const char *name_or_path, const char *const *set,
                 const char *config_dir, struct diag *d);
/* The same for a text in memory; name is for messages. */
bool config_parse(struct gpu_config *out, const char *text, size_t len, const char *name,
                  const char *const *set, const char *config_dir, struct diag *d);

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

/* Setting i, in the order of params.def; false past the last one. */
bool config_setting_at(const struct gpu_config *c, uint32_t i, struct config_setting *s);

/* Adds the table of all parameters, at most 100 columns wide. */
void config_list(struct str *out);
/* Adds a line for each GPU of config_dir (NULL: as above), in the order of their names. */
void config_list_gpus(struct str *out, const char *config_dir);

/* Thread blocks of threads threads, each with regs registers, and of shared bytes per block (static and
 * dynamic), that fit on one SM together; 0 when not even one does. */
int config_occupancy(const struct gpu_config *c, uint32_t threads, uint32_t regs, uint32_t shared);

/* SMs of group k (device.gpcs), 0 past the last one, or if the text is none. */
uint32_t config_gpc(const struct gpu_config *c, uint32_t k);
enum { CLUSTER_PER_SM = 8 }; /* blocks of clusters on an SM, at most: so an H200 answers */
/* Clusters of so many blocks that run at once, with so many blocks on an SM. */
int config_clusters(const struct gpu_config *c, uint32_t per_sm, uint32_t blocks);

struct rp_gpu_info;
/* What programs may ask about the GPU. */
void config_info(const struct gpu_config *c, struct rp_gpu_info *info);

#endif
