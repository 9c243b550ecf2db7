/* Work and the things it works on: memory, arrays, textures, modules, launches, streams, graphs.
 * The rules of core.h hold here too. */
#ifndef REPRISE_CUDA_WORK_H
#define REPRISE_CUDA_WORK_H

#include "cuda/core.h"

#pragma GCC visibility push(default)

/* ---- memory ----------------------------------------------------------------------------------------- */

int cud_mem_alloc(uint64_t *addr, size_t size, enum rp_mem_kind kind, unsigned flags);
int cud_mem_alloc_pitch(uint64_t *addr, size_t *pitch, size_t width, size_t rows);
/* Frees device or managed memory; 0 is nothing to free. */
int cud_mem_free(uint64_t addr);
/* Whether it could. */
int cud_mem_free_check(uint64_t addr);
int cud_host_free(void *p);
int cud_host_register(void *p, size_t size, unsigned flags);
int cud_host_unregister(void *p);
/* The live allocation at addr, or NULL. */
struct rp_alloc *cud_mem_find(uint64_t addr);
int cud_mem_info(size_t *free_bytes, size_t *total);
/* What is known of where [addr, addr+n) lives; attributes numbered as CUmem_range_attribute. */
int cud_mem_range(void *data, size_t size, int attribute, uint64_t addr, size_t n);

/* ---- arrays ----------------------------------------------------------------------------------------- */

/* Element formats, numbered as CUarray_format. */
enum cud_format {
    CUD_U8 = 0x01,
    CUD_U16 = 0x02,
    CUD_U32 = 0x03,
    CUD_S8 = 0x08,
    CUD_S16 = 0x09,
    CUD_S32 = 0x0a,
    CUD_HALF = 0x10,
    CUD_FLOAT = 0x20,
};

/* Array flags, numbered as in both APIs. */
enum { CUD_ARRAY_LAYERED = 1, CUD_ARRAY_SURFACE = 2, CUD_ARRAY_CUBEMAP = 4, CUD_ARRAY_GATHER = 8 };

struct cud_array_shape {
    enum cud_format format;
    unsigned channels;
    size_t width, height, depth; /* height, depth 0 for lower dimensions; depth counts layers if layered */
    unsigned flags;
};

struct CUarray_st {
    struct cud_object obj;
    struct cud_array_shape shape;
    uint64_t addr;
    size_t pitch, slice; /* bytes per row, per plane */
    struct CUmipmap_st *parent;
};

struct CUmipmap_st {
    struct cud_object obj;
    unsigned levels;
    struct CUarray_st *level[16];
};

/* Bytes of one element of a channel; 0 for a format that is none. */
size_t cud_format_bytes(enum cud_format f);
size_t cud_texel_bytes(const struct cud_array_shape *s);
int cud_array_create(struct CUarray_st **out, const struct cud_array_shape *shape);
int cud_array_destroy(struct CUarray_st *a);
int cud_mipmap_create(struct CUmipmap_st **out, const struct cud_array_shape *shape, unsigned levels);
int cud_mipmap_destroy(struct CUmipmap_st *m);

/* ---- textures --------------------------------------------------------------------------------------- */

enum cud_resource { CUD_RES_ARRAY, CUD_RES_MIPMAP, CUD_RES_LINEAR, CUD_RES_PITCH2D };
/* Sampler flags, numbered as CU_TRSF_*. */
enum { CUD_TEX_AS_INTEGER = 1, CUD_TEX_NORMALIZED = 2, CUD_TEX_SRGB = 0x10 };

/* A texture or surface as the program described it. */
struct cud_tex {
    enum cud_resource type;
    struct CUarray_st *array;
    struct CUmipmap_st *mipmap;
    uint64_t addr;
    enum cud_format format;
    unsigned channels;
    size_t size;                 /* linear, bytes */
    size_t width, height, pitch; /* pitch2D */
    int address[3], filter;
    unsigned flags, anisotropy;
    int mip_filter;
    float mip_bias, mip_min, mip_max, border[4];
    bool has_view;
    unsigned char view[112]; /* the resource view description, kept for queries */
};

int cud_tex_create(uint64_t *handle, const struct cud_tex *t);
int cud_surf_create(uint64_t *handle, const struct cud_tex *t);
/* The description behind a handle, or NULL. */
struct cud_tex *cud_tex_get(uint64_t handle);
int cud_tex_destroy(uint64_t handle);
/* Destroys every texture and surface object. */
void cud_tex_reset(void);

/* A module-scope .texref or .surfref. */
struct CUtexref_st {
    struct cud_object obj;
    struct CUmod_st *module;
    char *name;
    struct cud_tex tex;
    bool bound, surface;
};

/* The reference called name; NULL when the module has none. */
struct CUtexref_st *cud_texref(struct CUmod_st *m, const char *name);
/* Makes kernels see the reference as it is now. */
int cud_texref_update(struct CUtexref_st *r);

/* ---- modules ---------------------------------------------------------------------------------------- */

struct CUmod_st {
    struct cud_object obj;
    struct rp_module *rp; /* NULL until first needed */
    char *ptx;            /* text to load */
    size_t ptx_len;
    bool registered;                      /* by the compiler's start-up code; survives a device reset */
    int failed;                           /* why it cannot be loaded; 0 when it can */
    char *log;                            /* messages of the last attempt, or NULL */
    const struct fatbin_wrapper *wrapper; /* of a registered module */
    VEC(struct CUfunc_st *) funcs;
    VEC(struct CUtexref_st *) texrefs;
    VEC(struct cud_symbol *) symbols;
};

/* A kernel; serves as CUfunction, CUkernel and cudaKernel_t. */
struct CUfunc_st {
    struct cud_object obj;
    struct CUmod_st *module;
    char *name;
    struct rp_kernel *kernel; /* NULL while the module is not loaded */
    int max_dynamic;          /* dynamic shared memory the program asked to be allowed; -1: the default */
    int big_clusters;         /* the program allows clusters beyond the portable size */
    int cluster_policy;
    int carveout, cache_config, shared_config;
    bool refused;          /* why it cannot run has been said */
    uint32_t block[3];     /* cuFuncSetBlockShape */
    size_t shared;         /* cuFuncSetSharedSize */
    unsigned char *params; /* cuParamSet* */
    size_t param_bytes;
};

/* What a host address stands for. */
struct cud_symbol {
    enum { CUD_SYM_FUNC, CUD_SYM_VAR, CUD_SYM_TEX, CUD_SYM_SURF } kind;
    struct CUmod_st *module;
    const void *host;
    char *name;
    size_t size;
    void **managed; /* host pointer to fill with the address of a managed variable, or NULL */
    bool constant;
    int tex_norm; /* the texture reads integers as normalized floats */
    struct CUfunc_st *func;
};

/* Loads an image: PTX text, fat binary or its wrapper. log, if not NULL, receives messages to free. */
int cud_module_load(struct CUmod_st **out, const void *image, size_t len, char **log);
int cud_module_load_file(struct CUmod_st **out, const char *path, char **log);
int cud_module_unload(struct CUmod_st *m);
/* Loads a registered module when it is first needed. */
int cud_module_ready(struct CUmod_st *m);
/* Forgets the loaded code and variables, keeping the text: the next use loads afresh. */
void cud_module_drop(struct CUmod_st *m);
struct CUfunc_st *cud_module_func(struct CUmod_st *m, const char *name);
int cud_module_global(struct CUmod_st *m, const char *name, uint64_t *addr, size_t *size);

/* Linking PTX; types are numbered as CUjitInputType. The image belongs to the link. */
struct CUlinkState_st;
int cud_link_create(struct CUlinkState_st **out);
int cud_link_add(struct CUlinkState_st *s, int type, const void *data, size_t size);
int cud_link_add_file(struct CUlinkState_st *s, int type, const char *path);
int cud_link_complete(struct CUlinkState_st *s, void **image, size_t *size);
int cud_link_destroy(struct CUlinkState_st *s);

/* The compiler's start-up code. */
struct CUmod_st *cud_register_binary(const void *wrapper);
void cud_unregister_binary(struct CUmod_st *m);
struct cud_symbol *cud_register_symbol(struct CUmod_st *m, int kind, const void *host, const char *name);
struct cud_symbol *cud_symbol(const void *host, int kind);
/* Address and size of a registered variable. */
int cud_symbol_address(const void *host, uint64_t *addr, size_t *size);
/* A kernel given as host stub, CUfunction or cudaKernel_t. */
struct CUfunc_st *cud_func(const void *handle);
/* Makes sure the kernel can be asked about and launched. */
int cud_func_ready(struct CUfunc_st *f);
int cud_func_info(struct CUfunc_st *f, struct rp_kernel_info *info);
/* Attributes numbered as CUfunction_attribute. */
int cud_func_attribute(struct CUfunc_st *f, int attribute, int *value);
int cud_func_set_attribute(struct CUfunc_st *f, int attribute, int value);
int cud_occupancy(struct CUfunc_st *f, int block, size_t dynamic, int *blocks);
int cud_occupancy_dynamic(struct CUfunc_st *f, int blocks, int block, size_t *dynamic);
/* Clusters of a launch's size that the GPU runs at once; the largest cluster of which it runs one. */
struct cud_launch;
int cud_occupancy_clusters(const struct cud_launch *l, int *clusters);
int cud_occupancy_cluster_size(const struct cud_launch *l, int *size);

/* ---- work ------------------------------------------------------------------------------------------- */

/* One side of a copy. */
struct cud_side {
    enum { CUD_HOST, CUD_DEV, CUD_ARR, CUD_ANY } where;
    void *ptr;
    struct CUarray_st *array;
    size_t pitch, rows; /* bytes per row, rows per plane, of the memory ptr leads to */
    size_t x, y, z;     /* start: bytes, rows, planes */
};

struct cud_copy {
    struct cud_side src, dst;
    size_t width, height, depth; /* bytes, rows, planes */
};

struct cud_fill {
    uint64_t dst;
    size_t pitch, slice;
    uint32_t value;
    unsigned elem;               /* 1, 2 or 4 bytes */
    size_t width, height, depth; /* elements, rows, planes */
};

struct cud_launch {
    struct CUfunc_st *func;
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* zeros: as the kernel says */
    size_t shared;
    bool cooperative;
    unsigned char *params;
    size_t param_bytes;
    /* What cud_launch_check found: see rp_launch and rp_kernel_info. */
    bool alters;
    uint64_t checked;
    uint32_t slots;
};

/* Operations, numbered as CUgraphNodeType. */
enum cud_op_kind {
    CUD_OP_LAUNCH,
    CUD_OP_COPY,
    CUD_OP_FILL,
    CUD_OP_HOST,
    CUD_OP_GRAPH,
    CUD_OP_EMPTY,
    CUD_OP_WAIT,
    CUD_OP_RECORD,
    CUD_OP_ALLOC = 10,
    CUD_OP_FREE = 11,
    CUD_OP_COND = 13,
};

struct cud_op {
    enum cud_op_kind kind;
    union {
        struct cud_launch launch; /* params belong to the op */
        struct cud_copy copy;
        struct cud_fill fill;
        struct {
            void (*fn)(void *);
            void *data;
        } host;
        struct CUgraph_st *graph; /* belongs to the op */
        struct CUevent_st *event;
        struct {
            uint64_t addr;
            size_t size;
        } mem;
        struct cud_conditional *cond; /* belongs to the op */
    };
};

/* The stream behind a handle (0, 1 and 2 are the default streams), or NULL. */
struct CUstream_st *cud_stream(struct CUstream_st *handle);
int cud_stream_create(struct CUstream_st **out, unsigned flags, int priority);
int cud_stream_destroy(struct CUstream_st *s);
/* Waits for the work of a stream; without patience the answer may be cudaErrorNotReady. */
int cud_stream_settle(struct CUstream_st *stream, bool patient);
/* Attributes numbered as CUlaunchAttributeID; they steer caches and synchronisation, which change no result.
 */
int cud_stream_attribute_set(struct CUstream_st *stream, int attribute, const void *value);
int cud_stream_attribute_get(struct CUstream_st *stream, int attribute, void *value);
int cud_stream_attributes_copy(struct CUstream_st *dst, struct CUstream_st *src);
/* Queues the operation, or records it when the stream captures. Takes over what the op owns. */
int cud_submit(struct CUstream_st *stream, struct cud_op *op);
/* Runs the operation now, as what the queue does. */
int cud_run(struct cud_op *op);
void cud_op_free(struct cud_op *op);

/* Packs launch arguments given as an array of pointers, or as a buffer of bytes. */
int cud_pack_args(struct cud_launch *l, void *const *args);
int cud_pack_buffer(struct cud_launch *l, const void *bytes, size_t n);
/* Checks a launch as CUDA does before it is queued. */
int cud_launch_check(struct cud_launch *l);
/* The launch as the GPU takes it. */
struct rp_launch cud_rp_launch(const struct cud_launch *l);
/* A grid has ended: its time is spent on an engine (queue.h), it is reported, what it printed is kept. */
void cud_grid_ended(struct rp_kernel *k, const struct rp_launch *r, struct rp_totals before, int engine,
                    char *report);
/* The error of a launch that has ended; a fault is kept in the context. */
int cud_launch_result(enum rp_status status);

int cud_copy_run(const struct cud_copy *c);
int cud_copy_check(const struct cud_copy *c);
/* Whether it stays within the GPU's own memory. */
bool cud_copy_within(const struct cud_copy *c);
/* Whether the copy can be done after the call: pageable memory that it reads, up to most bytes, is taken into
 * *staged, which the caller frees afterwards. */
bool cud_copy_stage(struct cud_copy *c, size_t most, void **staged);
int cud_fill_run(const struct cud_fill *f);
int cud_fill_check(const struct cud_fill *f);

struct CUevent_st {
    struct cud_object obj;
    unsigned flags;
    struct cud_stamp *stamp;    /* of what it recorded last, or NULL */
    struct CUgraph_st *capture; /* recorded inside this capture, else NULL */
    VEC(struct CUgraphNode_st *) tail;
};

int cud_event_create(struct CUevent_st **out, unsigned flags);
int cud_event_record(struct CUevent_st *e, struct CUstream_st *stream);
int cud_event_wait(struct CUstream_st *stream, struct CUevent_st *e);
int cud_event_elapsed(float *ms, struct CUevent_st *start, struct CUevent_st *end);
int cud_event_destroy(struct CUevent_st *event);
/* Waits for an event; without patience the answer may be cudaErrorNotReady. Asking about a captured one
 * spoils the capture. */
int cud_event_settle(struct CUevent_st *event, bool patient);

/* ---- memory pools ----------------------------------------------------------------------------------- */

struct CUpool_st {
    struct cud_object obj;
    uint64_t attributes[9];
    uint64_t used, used_high;
};

/* The device's pool, created when first asked for. */
struct CUpool_st *cud_default_pool(void);
int cud_pool_create(struct CUpool_st **pool);
int cud_pool_destroy(struct CUpool_st *pool);
int cud_pool_attribute(struct CUpool_st *p, int attribute, void *value, bool set);

#pragma GCC visibility pop

#endif
