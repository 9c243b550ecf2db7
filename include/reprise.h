/* Reprise: the C API of the simulated GPU.
 *
 * One process holds one or more GPUs. A GPU owns simulated memory, modules loaded from PTX, textures, and
 * runs launches one after another. Everything here is single-threaded per GPU: the caller serialises. Other
 * threads get their chance while a launch runs in its pauses (rp_gpu_pause).
 *
 * Addresses. Device memory lives in one reserved range of the host's address space that starts at
 * RP_REGION; a device address is the host address of its byte, so managed memory has one pointer on both
 * sides. The first 4 GB of the range are reachable from 32-bit modules, whose pointers are the low 32 bits.
 * Allocation is deterministic: the same calls give the same addresses, run after run.
 *
 * Simulated code reaches what a GPU would have mapped: pages of 2 MB that hold something live, and registered
 * host memory to the byte. Anything else is a fault of the launch, never of the host. */
#ifndef REPRISE_H
#define REPRISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* The library hides its symbols, except these. */
#pragma GCC visibility push(default)

/* The version of this header, as of semantic versioning: a program that was compiled with one runs with a
 * library of the same major number that is not older; below 1.0.0, of the same minor number, too. */
#define RP_VERSION_MAJOR 0
#define RP_VERSION_MINOR 1
#define RP_VERSION_PATCH 0
/* That of the library, as "0.1.0", which need not be the same. */
const char *rp_version(void);

#ifndef RP_REGION /* a build for the thread sanitizer names other addresses, as its own lie here */
#define RP_REGION      UINT64_C(0x110000000000)
#define RP_REGION_SIZE UINT64_C(0x010000000000) /* 1 TB of addresses; memory is used only where allocated */
#endif
/* Behind it, as much again for addresses that are reserved before there is memory. */
#define RP_RESERVED      (RP_REGION + RP_REGION_SIZE)
#define RP_RESERVED_SIZE RP_REGION_SIZE

/* What went wrong. Faults of a launch are those from RP_ILLEGAL_ADDRESS on; they are sticky in CUDA. */
enum rp_status {
    RP_OK,
    RP_BAD_PTX,             /* the text is not valid PTX; the log says where */
    RP_UNSUPPORTED,         /* valid, but this kernel uses an instruction Reprise refuses; the log names it */
    RP_NOT_FOUND,           /* no such kernel, variable, texture reference */
    RP_OUT_OF_MEMORY,       /* simulated memory is used up */
    RP_INVALID_VALUE,       /* an argument makes no sense */
    RP_INVALID_CONFIG,      /* grid, block or shared size beyond the GPU's limits */
    RP_OUT_OF_RESOURCES,    /* registers do not suffice for one block */
    RP_INVALID_CLUSTER,     /* clusters of this size are not possible */
    RP_ILLEGAL_ADDRESS,     /* nothing is mapped there */
    RP_MISALIGNED,          /* address not a multiple of the access size */
    RP_SHARED_RANGE,        /* shared address beyond the block's shared memory */
    RP_LOCAL_RANGE,         /* local address beyond the thread's local memory */
    RP_ADDRESS_SPACE,       /* instruction not allowed on that state space */
    RP_STACK_OVERFLOW,      /* calls nested too deeply */
    RP_ILLEGAL_INSTRUCTION, /* executed something that has no meaning */
    RP_INVALID_PC,          /* indirect call or branch to no function */
    RP_ASSERT,              /* device assert() failed */
    RP_TRAP,                /* trap instruction */
    RP_TIMEOUT,             /* the watchdog's limit was reached, or nothing can go on */
    RP_WRONG_ACCESS,        /* memcheck found wrong accesses; all else ran to the end */
};

/* The name of a status in words, for messages. */
const char *rp_status_text(enum rp_status s);

/* ---- the GPU ---------------------------------------------------------------------------------------- */

struct rp_gpu;

/* Facts about the GPU that programs may ask for. Sizes in bytes, clocks in kHz. */
struct rp_gpu_info {
    char name[128];
    int cc_major, cc_minor; /* the CUDA API level offered to programs */
    int sms, warp_size;
    int max_threads_per_block, max_threads_per_sm, max_blocks_per_sm;
    int max_block[3], max_grid[3];
    int regs_per_block, regs_per_sm, max_regs_per_thread;
    size_t shared_per_block, shared_per_block_optin, shared_per_sm, shared_reserved_per_block;
    size_t const_bytes, total_mem, l2_bytes;
    int clock_khz, mem_clock_khz, mem_bus_bits;
};

/* How to build a GPU and run on it; zero means the default. */
struct rp_options {
    const char *gpu;         /* name in configs/ or a .yaml path; NULL: the default GPU */
    const char *const *set;  /* "path=value" overrides, NULL-terminated, or NULL */
    const char *mech;        /* mechanisms, NAME[+NAME...], also paths of shared objects; NULL: none */
    const char *const *load; /* shared objects whose mechanisms can be named like those built in,
                                NULL-terminated, or NULL */
    const char *probe;       /* probes that watch what is timed, NAME[+NAME...]; NULL: none */
    bool functional;         /* no timing: results only */
    bool profile;            /* count what is redundant in all launches, see docs/profiles.md */
    bool per_sm;             /* keep the counters of each SM, see rp_sm_counter */
    bool check;              /* compare the values that mechanisms supply with those computed */
    /* Sampling: what of a run is timed. The rest runs functionally, so that results never change. 0: no
     * limit.
     */
    uint64_t max_cycles; /* cycles of the run, all launches together, after which timing ends */
    uint64_t max_insts; /* timed warp instructions after which it ends, with the cycle that issues the last */
    uint64_t
        expect_insts;  /* with max_insts: what the run will execute, timed or not; timing is spread over it */
    bool whole_blocks; /* ... in whole blocks of each kernel, at least as many as fit on the GPU at a time:
                        * the same whatever mechanisms make of the code */
    bool some_kernels; /* only launches first_kernel to last_kernel are timed; the first is number 0 */
    uint64_t first_kernel, last_kernel;
    uint64_t watchdog; /* warp instructions of a launch, timed or not, before RP_TIMEOUT; 0: no limit */
    uint64_t
        threads;    /* that simulate a launch; 0: as many as the host has processors. Results are the same */
    unsigned tools; /* set of enum rp_tool: what looks for mistakes of the program */
    uint64_t print_limit; /* findings that they print in a run; 0: 100 */
    bool no_leaks;        /* memory that is never freed is no error */
    bool keep_context;    /* RP_WRONG_ACCESS does not end a launch, which counts as successful */
};

/* Tools that look for mistakes while a program runs, see docs/sanitizers.md. */
enum rp_tool { RP_MEMCHECK = 1, RP_RACECHECK = 2, RP_INITCHECK = 4, RP_SYNCCHECK = 8 };

/* Builds a GPU. On failure returns NULL and sets *log to a message the caller frees. */
struct rp_gpu *rp_gpu_create(const struct rp_options *opt, char **log);
void rp_gpu_destroy(struct rp_gpu *gpu);
const struct rp_gpu_info *rp_gpu_info(const struct rp_gpu *gpu);
/* The mechanisms of the GPU by name, in the order in which they were named; "base": none. */
const char *rp_gpu_mech(const struct rp_gpu *gpu);
/* Whether nothing is timed (rp_options.functional). */
bool rp_gpu_functional(const struct rp_gpu *gpu);
/* Whether tools look for mistakes (rp_options.tools). */
bool rp_gpu_tools(const struct rp_gpu *gpu);
/* Whether they only approximate what programs compute, which they do where launches are timed; otherwise
 * memory is, bit for bit, that of a GPU without them. */
bool rp_gpu_approximate(const struct rp_gpu *gpu);
/* Whether one of them runs code of its own beside kernels, and other code of these: blocks can then be cut
 * nowhere, and instructions not be compared with those of other machines. */
bool rp_gpu_streams(const struct rp_gpu *gpu);

/* One parameter of the GPU's configuration, for reports. */
struct rp_setting {
    const char *name;             /* e.g. "sm.warps" */
    char value[256], origin[256]; /* origin: "default", "gtx480.yaml:14" or "--set" */
    bool text;                    /* the value is a string, else a number, true or false */
};
/* Parameter i; false past the last one. */
bool rp_gpu_setting(const struct rp_gpu *gpu, uint32_t i, struct rp_setting *s);

/* ---- memory ----------------------------------------------------------------------------------------- */

enum rp_mem_kind {
    RP_MEM_DEVICE, /* cudaMalloc */
    RP_MEM_HOST,   /* pinned, mapped host memory: host and device pointer are the same */
    RP_MEM_MANAGED,
    RP_MEM_REGISTERED, /* host memory the program registered; freeing forgets it only */
    RP_MEM_ARRAY,      /* backing store of a CUDA array: textures and surfaces only, not plain loads */
    RP_MEM_MODULE,     /* __device__ and __constant__ variables */
    RP_MEM_MAPPED,     /* what rp_mem_access made reachable */
    RP_MEM_DRIVER,     /* the GPU's own: parameters of a launch, the barrier of cooperative launches */
};

struct rp_alloc {
    uint64_t addr;
    size_t size;
    enum rp_mem_kind kind;
    uint32_t flags; /* the caller's */
    void *user;     /* the caller's */
    bool read_only; /* simulated code may not write it */
};

/* Allocates size bytes (0 is an error) aligned to 256; contents are zero. Returns 0 when out of memory. */
uint64_t rp_mem_alloc(struct rp_gpu *gpu, size_t size, enum rp_mem_kind kind);
/* Makes [p, p+size) of the host reachable as device memory. false: overlaps a live allocation. */
bool rp_mem_register(struct rp_gpu *gpu, void *p, size_t size);
/* Frees the allocation that starts at addr; false when there is none. */
bool rp_mem_free(struct rp_gpu *gpu, uint64_t addr);
/* The live allocation that holds addr, or NULL. Valid until the next alloc or free. */
struct rp_alloc *rp_mem_find(struct rp_gpu *gpu, uint64_t addr);
/* Host pointer to [addr, addr+size) if all of it lies in one live allocation, or in mapped ones in a row,
 * else NULL. */
void *rp_mem_ptr(struct rp_gpu *gpu, uint64_t addr, size_t size);
/* Bytes allocated now. */
size_t rp_mem_used(const struct rp_gpu *gpu);
/* Counts memory that the caller keeps for mapping as allocated, or as free again when bytes is negative;
 * false when there is not that much. */
bool rp_mem_charge(struct rp_gpu *gpu, int64_t bytes);
/* Reserves size bytes of addresses, a multiple of 4 KB, aligned to a power of two; at want, if that is free.
 * Nothing is there until memory is put there. 0: not possible. */
uint64_t rp_mem_reserve(struct rp_gpu *gpu, uint64_t size, uint64_t align, uint64_t want);
/* Start and size of the reserved range that holds addr; false when there is none. */
bool rp_mem_reserved(const struct rp_gpu *gpu, uint64_t addr, uint64_t *start, uint64_t *size);
/* Gives the range that starts at addr back, with what was mapped in it. */
bool rp_mem_unreserve(struct rp_gpu *gpu, uint64_t addr);
/* Allocates device memory, all zero, at reserved addresses where nothing is; rp_mem_free frees it. */
bool rp_mem_back(struct rp_gpu *gpu, uint64_t addr, uint64_t size);
/* Puts pages of a file (4 KB each) at reserved addresses, and takes them away. */
bool rp_mem_map(struct rp_gpu *gpu, uint64_t addr, uint64_t size, int fd, uint64_t offset);
void rp_mem_unmap(struct rp_gpu *gpu, uint64_t addr, uint64_t size);
/* How mapped addresses may be used; at first, not at all. */
enum rp_access { RP_ACCESS_NONE, RP_ACCESS_READ = 1, RP_ACCESS_READ_WRITE = 3 };
void rp_mem_access(struct rp_gpu *gpu, uint64_t addr, uint64_t size, enum rp_access access);
/* Allocation i in address order, or NULL past the end. */
struct rp_alloc *rp_mem_at(struct rp_gpu *gpu, uint32_t i);

/* ---- modules ---------------------------------------------------------------------------------------- */

struct rp_module;
struct rp_kernel;

/* Loads PTX (len bytes, need not be NUL-terminated). name is used in messages. On failure *out is NULL and
 * *log (if log is not NULL) is a message the caller frees. *log may also be set to warnings on success. */
enum rp_status rp_module_load(struct rp_gpu *gpu, const char *ptx, size_t len, const char *name,
                              struct rp_module **out, char **log);
void rp_module_unload(struct rp_module *m);
/* The kernel (.entry) called name, or NULL. */
struct rp_kernel *rp_module_kernel(struct rp_module *m, const char *name);
/* Kernel i in the order of the text, or NULL past the end. */
struct rp_kernel *rp_module_kernel_at(struct rp_module *m, uint32_t i);
/* Address and size of a module-scope .global or .const variable. */
enum rp_status rp_module_global(struct rp_module *m, const char *name, uint64_t *addr, size_t *size);

struct rp_kernel_info {
    const char *name;
    int regs; /* 32-bit registers per thread */
    size_t shared_static, local_per_thread, const_bytes, param_bytes;
    int max_threads;                          /* largest block it may be launched with */
    int reqntid[3], maxntid[3], minnctapersm; /* directives; 0 when absent */
    int cluster[3];                           /* blocks of a cluster that it requires; 0 when absent */
    int ptx_version, target;                  /* e.g. 80 and 75 */
    uint32_t nparams;
    bool alters; /* it may allocate and free memory, or launch kernels */
};

struct rp_param_info {
    size_t offset, size, align;
};

/* Compiles the kernel if that has not been done yet. */
enum rp_status rp_kernel_info(struct rp_kernel *k, struct rp_kernel_info *info, char **log);
/* Whether that has been done. */
bool rp_kernel_compiled(struct rp_kernel *k);
/* Place of parameter i in the parameter buffer; never needs compilation. false past the last one. */
bool rp_kernel_param(struct rp_kernel *k, uint32_t i, struct rp_param_info *p);
const char *rp_kernel_name(const struct rp_kernel *k);
/* How wide pointers among its parameters are: 32 or 64. */
int rp_kernel_address_bits(const struct rp_kernel *k);
/* Blocks of this kernel that fit on one SM together; 0 when one does not fit. */
int rp_kernel_occupancy(struct rp_kernel *k, uint32_t threads, size_t dynamic_shared);
enum { RP_CLUSTER_PORTABLE = 8, RP_CLUSTER_MAX = 16 }; /* blocks of a cluster */
/* Clusters of so many of its blocks that fit on the GPU together. */
int rp_kernel_clusters(struct rp_kernel *k, uint32_t threads, size_t dynamic_shared, uint32_t blocks);

/* ---- launches --------------------------------------------------------------------------------------- */

struct rp_launch {
    uint32_t grid[3], block[3];
    size_t dynamic_shared;
    const void *params; /* laid out as rp_kernel_param says */
    size_t param_bytes;
    bool cooperative; /* all blocks must be resident together; RP_INVALID_CONFIG if they cannot be */
    /* Blocks of a cluster along each axis; zeros: as the kernel says, or no clusters. RP_INVALID_CLUSTER if
     * the grid is no multiple, the kernel says otherwise, or so many blocks cannot run together. */
    uint32_t cluster[3];
    /* What rp_launch_check found: the code for which it need not be checked again, or 0; blocks that fit. */
    uint64_t checked;
    uint32_t slots;
};

/* Runs a launch to its end. On a fault *report (if not NULL) is a text that says where and why, which the
 * caller frees; memory keeps what was written before the fault. */
enum rp_status rp_launch(struct rp_gpu *gpu, struct rp_kernel *k, const struct rp_launch *launch,
                         char **report);

/* Whether rp_launch would refuse the launch, and why; nothing runs. Compiles what the launch needs, which
 * must then not be compiled otherwise before it has run (rp_launch_recompiles). */
enum rp_status rp_launch_check(struct rp_gpu *gpu, struct rp_kernel *k, struct rp_launch *launch,
                               char **report);
/* Whether a launch with so many threads in a block needs the kernel compiled again, with fewer registers;
 * that must not happen while a launch of it runs. */
bool rp_launch_recompiles(struct rp_kernel *k, uint32_t threads);

/* Has fn called now and then while a launch runs, between two of its steps (every thousand cycles, or few
 * thousand instructions). It may use everything here but rp_launch, and must leave alone what the launch
 * uses. What it returns, unless NULL, is why the launch must end (RP_TIMEOUT). */
void rp_gpu_pause(struct rp_gpu *gpu, const char *(*fn)(void *ctx), void *ctx);
/* For pauses, to be asked in each of them: whether the launch has for long done nothing but read, again and
 * again, what somebody else would have to write. */
bool rp_launch_waits(struct rp_gpu *gpu);

/* A launch beside the one that runs: begun in a pause, it has its turns there and runs functionally;
 * racecheck does not see it. NULL: it cannot run. */
struct rp_beside;
struct rp_beside *rp_beside_begin(struct rp_gpu *gpu, struct rp_kernel *k, const struct rp_launch *launch);
/* Lets it go on for a while; false: it has ended. */
bool rp_beside_turn(struct rp_beside *b);
/* How it ended; frees it. */
enum rp_status rp_beside_end(struct rp_beside *b, char **report);

/* The next launch that device code asked for, in the order in which they run; false when there is none. After
 * an rp_launch that went well, the caller launches what this names, again and again until it names nothing
 * more, before it launches anything else. Parameters stay until the next call. */
bool rp_next_launch(struct rp_gpu *gpu, struct rp_kernel **k, struct rp_launch *launch);
/* What device code is told of the device when it asks for CUDA's attributes and limits; false: there is no
 * such one. */
void rp_gpu_answers(struct rp_gpu *gpu, bool (*attribute)(int attribute, int *value),
                    bool (*limit)(int limit, size_t *value));

enum rp_limit { RP_LIMIT_STACK, RP_LIMIT_PRINTF_FIFO, RP_LIMIT_MALLOC_HEAP };
/* Per-thread stack bytes, printf buffer bytes, device malloc heap bytes. */
enum rp_status rp_limit_set(struct rp_gpu *gpu, enum rp_limit limit, size_t value);
size_t rp_limit_get(const struct rp_gpu *gpu, enum rp_limit limit);

/* Text that device printf and assert produced since the last call (NUL-terminated, *len bytes); the GPU
 * owns it until the next launch. Assert messages go to *err_text. */
const char *rp_take_output(struct rp_gpu *gpu, size_t *len);
const char *rp_take_errors(struct rp_gpu *gpu, size_t *len);

/* How much of something was simulated with timing. */
enum rp_timing { RP_TIMED_NONE, RP_TIMED_PART, RP_TIMED_ALL };

/* Totals of the run so far, for reports. */
struct rp_totals {
    uint64_t launches, warp_insts, thread_insts;
    uint64_t cycles, timed_insts; /* of what was timed: cycles, and warp instructions issued in them */
    enum rp_timing last;          /* how the last launch was simulated */
    uint64_t approximated; /* with check: values that such mechanisms supplied otherwise than computed */
    double host_s;         /* time the host spent in launches; the only figure that differs from run to run */
};
struct rp_totals rp_totals(const struct rp_gpu *gpu);

/* One thing that is counted, e.g. "insts.fp32": over all launches, and in the last one. */
struct rp_counter {
    char name[64];
    const char *unit, *meaning;
    uint64_t total, launch;
    bool timed; /* counted in what was timed alone; otherwise in all of the run */
};
/* Counter i; false past the last one. */
bool rp_counter(const struct rp_gpu *gpu, uint32_t i, struct rp_counter *c);
/* The share of SM number sm, with its caches, in counter i; false where SMs have none or it is not kept. */
bool rp_sm_counter(const struct rp_gpu *gpu, uint32_t i, uint32_t sm, uint64_t *total, uint64_t *launch);

/* Lets a probe (src/sim/probe.h) watch the timed launches from here on, and no more. */
struct probe;
void rp_gpu_watch(struct rp_gpu *gpu, struct probe *p);
void rp_gpu_unwatch(struct rp_gpu *gpu, struct probe *p);

/* What a trace should hold: cycles and SMs from first to last. */
struct rp_trace {
    const char *path;
    uint64_t first, last; /* cycles of the GPU's clock, which starts with the first timed launch */
    uint64_t first_sm, last_sm;
};

/* Energy that one part of the GPU has used, in joules: in what was timed of all launches, and of the last. */
struct rp_energy {
    const char *name, *meaning;
    double total, launch;
};
/* Who says so: what circuits take, or what GPUWattch would report (docs/energy.md). */
enum rp_account { RP_ENERGY_PHYSICAL, RP_ENERGY_GPUWATTCH };
/* Part i of an account; false past the last one, and in functional runs. The parts, added in this order, are
 * the whole. */
bool rp_energy(const struct rp_gpu *gpu, enum rp_account account, uint32_t i, struct rp_energy *e);

/* ---- tools ------------------------------------------------------------------------------------------ */

/* How reports tell where the host was. */
struct rp_host_trace {
    /* The return addresses of the callers of the API, innermost first; how many. */
    uint32_t (*capture)(void **frames, uint32_t max);
    /* A line for each; the caller frees the text. */
    char *(*print)(void *const *frames, uint32_t n);
};
void rp_trace_host(struct rp_gpu *gpu, const struct rp_host_trace *how);

/* A call of the host that failed, for memcheck. */
struct rp_api_error {
    const char *call, *name, *meaning; /* "cudaFree", "cudaErrorInvalidValue", "invalid argument" */
    int code;
    uint64_t addr; /* the address that was wrong, or 0 */
    size_t size;   /* bytes there that were asked for; 0: only the address counts */
};
void rp_api_error(struct rp_gpu *gpu, const struct rp_api_error *e);
/* The host wrote device memory; copied it from one place there to another. For initcheck. */
void rp_mem_written(struct rp_gpu *gpu, uint64_t addr, size_t size);
void rp_mem_copied(struct rp_gpu *gpu, uint64_t to, uint64_t from, size_t size);

/* What the tools found since the last call (NUL-terminated, *len bytes); the GPU owns it until the next one.
 */
const char *rp_take_findings(struct rp_gpu *gpu, size_t *len);
/* Errors found so far. */
uint64_t rp_errors(const struct rp_gpu *gpu);
/* What is still allocated of what an owner (rp_alloc.user) allocated, and will not be freed, joins the
 * findings. */
void rp_find_leaks(struct rp_gpu *gpu, const void *owner);
/* The program ends: leaks, unless its memory cannot be freed any more, and the summary join the findings. */
void rp_findings_end(struct rp_gpu *gpu, bool leaks);

/* ---- textures and surfaces -------------------------------------------------------------------------- */

enum rp_tex_format {
    RP_TEX_U8,
    RP_TEX_U16,
    RP_TEX_U32,
    RP_TEX_S8,
    RP_TEX_S16,
    RP_TEX_S32,
    RP_TEX_F16,
    RP_TEX_F32
};
enum rp_tex_address { RP_ADDR_WRAP, RP_ADDR_CLAMP, RP_ADDR_MIRROR, RP_ADDR_BORDER };

/* A level of a mipmapped texture. */
struct rp_tex_level {
    uint64_t addr;
    uint32_t width, height, depth;
    size_t pitch, slice;
};
enum { RP_TEX_LEVELS = 16 };

/* A texture or surface. Texels are rows of width*channels elements; pitch and slice in bytes. */
struct rp_tex_desc {
    uint64_t addr;
    enum rp_tex_format format;
    int channels;                  /* 1, 2 or 4 */
    uint32_t width, height, depth; /* height, depth 0 for lower dimensions */
    uint32_t layers;               /* 0: not layered */
    bool cubemap;
    size_t pitch, slice;
    bool tiled; /* timing: a GPU would keep it in tiles; pitch is a multiple of 64, rows in a slice of 8 */
    enum rp_tex_address address[3];
    bool linear; /* linear filtering, else point */
    bool normalized_coords;
    bool normalized_float; /* integer texels read as [0,1] or [-1,1] floats */
    bool srgb;
    float border[4];
    bool linear_memory; /* 1D fetch from linear memory (tex1Dfetch): integer coordinates only */
    /* Mipmaps: all levels, the first of which is also described above; 0 of them: there are none. */
    uint32_t levels;
    struct rp_tex_level level[RP_TEX_LEVELS];
    bool mip_linear; /* blends two levels, else takes the nearest */
    float lod_bias, lod_min, lod_max;
};

/* Handles as kernels see them; 0 is never valid. */
uint64_t rp_tex_create(struct rp_gpu *gpu, const struct rp_tex_desc *desc);
uint64_t rp_surf_create(struct rp_gpu *gpu, const struct rp_tex_desc *desc);
const struct rp_tex_desc *rp_tex_desc(struct rp_gpu *gpu, uint64_t handle);
void rp_tex_destroy(struct rp_gpu *gpu, uint64_t handle);
/* Binds module-scope .texref / .surfref name; desc NULL unbinds. */
enum rp_status rp_texref_bind(struct rp_module *m, const char *name, const struct rp_tex_desc *desc);
bool rp_module_has_texref(struct rp_module *m, const char *name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
