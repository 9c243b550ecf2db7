/* Conformance suite: the shared types.
 *
 * A *row* of a table (*.txt beside this file) describes a family of instructions; expanding its alternatives
 * gives *variants*. Each variant becomes one kernel in which every thread loads one tuple of inputs, runs the
 * body (usually one instruction) and stores the outputs. Inputs depend only on the variant's name, so a
 * golden holds outputs alone: the first RAW tuples in full, the others as one hash per CHUNK tuples. */
#ifndef CONFORM_H
#define CONFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More of them, for a thorough look at one build; goldens are for one number. */
#ifndef CONFORM_TUPLES
#define CONFORM_TUPLES 4096
#endif

enum {
    BLOCK = 128,             /* threads of a block */
    TUPLES = CONFORM_TUPLES, /* threads of a launch: one input tuple each */
    RAW = 512,               /* tuples whose outputs the golden holds in full */
    CHUNK = 64,              /* tuples under one hash beyond those */
    HASHES = (TUPLES - RAW) / CHUNK,
    SLOT = 64, /* bytes of scratch, shared and local memory that belong to one thread */
    MAX_IN = 32,
    MAX_OUT = 8,
    CONST_BYTES = 1024,
    BLOB_BYTES = 256, /* the by-value struct parameter */
};

/* A PTX fundamental type as an operand: how it is declared, stored and compared. */
struct type {
    const char *name;
    int bits;        /* 1 for predicates */
    const char *reg; /* declaration */
    int fp_bits;     /* width of one floating-point component, 0 if an integer */
    int fp_mant;     /* explicit mantissa bits of that component */
};

const struct type *type_find(const char *name, size_t len);

/* One input or output register of a kernel. */
struct operand {
    char name[16];
    const struct type *type;
    const struct value_set *set; /* inputs only */
};

struct approx;

/* One kernel of the suite. */
struct variant {
    char *name; /* unique; the instruction with its modifiers, then ~suffix */
    char *body;
    int nin, nout;
    struct operand in[MAX_IN], out[MAX_OUT];
    const struct approx *approx; /* how results may deviate; NULL: not at all */
};

struct suite {
    struct variant *v;
    size_t n, cap;
};

/* Reads the tables in dir into s; false, with a message on stderr, if one is malformed. */
bool suite_load(struct suite *s, const char *dir);
void suite_free(struct suite *s);

/* A growing text. */
struct text {
    char *s;
    size_t n, cap;
};
void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The PTX: a module is a head followed by kernels. */
void ptx_head(struct text *t);
void ptx_kernel(struct text *t, const struct variant *v);
void ptx_kernel_name(char *out, size_t size, const struct variant *v);
bool ptx_uses(const struct variant *v, const char *word); /* the body mentions the word */

/* Inputs. in[k*TUPLES + t] is operand k of tuple t. */
struct rng {
    uint64_t s;
};
uint64_t rng_next(struct rng *r);
uint32_t rng_below(struct rng *r, uint32_t n);
/* Words of matrix operands (values_matrix.c): random in a way that depends on the warp of tuple t. */
#define MATRIX_SETS(X)                                                                                       \
    X(f16)                                                                                                   \
    X(bf16)                                                                                                  \
    X(tf32) X(f64) X(e4m3) X(e5m2) X(s8) X(s4) X(b1) X(c_f16) X(c_f32) X(c_s32) X(meta24) X(meta12) X(row)
#define X(name) uint64_t random_matrix_##name(struct rng *r, uint32_t t);
MATRIX_SETS(X)
#undef X
const struct value_set *values_find(const char *name, size_t len);
void values_fill(const struct variant *v, uint64_t *in);
uint8_t values_pattern(uint32_t i); /* byte i of initialised memory */
uint32_t values_hash(const void *p, size_t n, uint32_t seed);

/* Results. */
const struct approx *approx_find(const char *name, size_t len);
/* True if got is as near to the true value for these inputs as the PTX ISA promises; otherwise want gets the
 * true value, rounded to double. */
bool approx_ok(const struct variant *v, const uint64_t *in, uint64_t got, double *want);
uint64_t canonical(const struct type *t, uint64_t x); /* all NaNs made one */

/* Goldens. */
struct golden {
    uint8_t *data; /* owned: the whole file */
    size_t size;
    size_t next; /* offset after the record last found: the next one sought is most likely there */
};
size_t golden_raw_bytes(const struct variant *v);
void golden_pack(const struct variant *v, const uint64_t *out, uint8_t *raw, uint32_t *hashes);
uint64_t golden_value(const struct variant *v, const uint8_t *raw, int k, int t); /* output k of tuple t */
uint32_t golden_signature(const struct variant *v, const uint64_t *in);
bool golden_load(struct golden *g, const char *path);
/* Finds a variant's record; false if the golden has none. */
bool golden_find(struct golden *g, const struct variant *v, uint32_t *signature, const uint8_t **raw,
                 uint32_t *hashes);

/* The device, through the driver API found at run time. */
bool device_open(void);
const char *device_name(void);
/* Runs kernels of one module, v[0..n); each gets its outputs, or a message in error (an empty one: success).
 */
void device_run(const struct variant *const *v, size_t n, uint64_t (*out)[MAX_OUT * TUPLES],
                char (*error)[256]);

#endif
