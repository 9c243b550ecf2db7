/* The parameters of the simulated GPU: what a GPU is.
 *
 * params.def lists them and checks.def the relations between them. The struct is plain data: copy it, keep
 * it, compare it; it owns nothing. */
#ifndef REPRISE_CFG_GPU_H
#define REPRISE_CFG_GPU_H

#include "cfg/config.h"

#define CONFIG_DEFAULT_GPU "h200" /* the GPU that results are compared with */

enum {
    CONFIG_WARP_SIZE = 32, /* lanes of a warp; the executors are built for it, so it is no parameter */
};

#define CHOICES(tag, ...) enum config_##tag{__VA_ARGS__};
#define CHOICE(id, name)  id,
#include "cfg/choices.def"
#undef CHOICES
#undef CHOICE

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
};

extern const struct param_table gpu_params;

/* Adds a line for each GPU of config_dir (NULL: as config_find_dir says), in the order of their names. c has
 * the owners of whatever parameters their files give; its values change. */
void config_list_gpus(struct config *c, struct str *out, const char *config_dir);

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
