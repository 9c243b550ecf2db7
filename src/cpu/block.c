/* Blocks of decoded code: made, found, entered and left. */
#include <fenv.h>

#include "cpu/exec.h"

enum { ODD32_BASE = 0x01000001 };
#define ODD32_SPAN 0xfe000000u
#define ODD64_BASE 0x0020000000000001ull
#define ODD64_SPAN 0xffc0000000000000ull

/* ---- floating-point modes ---- */

/* While code is executed the host has the guest's rounding mode and gathers its exceptions. */
static void host_mode(const struct cpu *c) {
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    fesetround(modes[fp_mode(&c->fp)]);
}

static void gather(struct cpu *c) {
    int seen = fetestexcept(FE_ALL_EXCEPT);
    feclearexcept(FE_ALL_EXCEPT);
    if (c->fp_soft) /* software has seen to them */
        return;
    c->fp.fpsr |= (seen & FE_INVALID ? FP_INVALID : 0u) | (seen & FE_DIVBYZERO ? FP_DIV_ZERO : 0u) |
                  (seen & FE_OVERFLOW ? FP_OVERFLOW : 0u) | (seen & FE_UNDERFLOW ? FP_UNDERFLOW : 0u) |
                  (seen & FE_INEXACT ? FP_INEXACT : 0u);
}

static void set_odd(struct cpu *c) {
    c->odd32_base = ODD32_BASE;
    c->odd64_base = ODD64_BASE;
    c->odd32_span = c->fp_soft ? 0 : ODD32_SPAN;
    c->odd64_span = c->fp_soft ? 0 : ODD64_SPAN;
}

void cpu_set_fpcr(struct cpu *c, uint32_t value) {
    gather(c);
    c->fp.fpcr = value & (FPCR_FZ | FPCR_DN | FPCR_AHP | 3u << FPCR_MODE_SHIFT);
    c->fp_soft = c->fp.fpcr & FPCR_FZ;
    set_odd(c);
    host_mode(c);
}

uint32_t cpu_fpsr(struct cpu *c) {
    gather(c);
    return c->fp.fpsr;
}

void cpu_set_fpsr(struct cpu *c, uint32_t value) {
    gather(c);
    c->fp.fpsr = value & (FP_SATURATED | FP_INPUT_DENORMAL | 31u);
}

uint64_t cpu_counter(const struct cpu *c) {
    return c->granted - (uint64_t)c->left;
}

/* ---- making blocks ---- */

/* Behind the last instruction of a block that a branch does not end. */
EXEC(go_on) {
    if (unlikely(!i->to))
        return cpu_jump(c, (struct a64_inst *)i, (uint64_t)i->imm);
    GO(i->to);
}

EXEC(not_fetched) {
    return cpu_fault(c, i, FAULT_FETCH, pc_of(c, i));
}

EXEC(not_decoded) {
    return cpu_fault(c, i, FAULT_UNDEFINED, 0);
}

static bool fetch(const struct cpu *c, uint64_t pc, uint32_t *word) {
    if (pc % 4 || !space_allows(c->space, pc, 4, PERM_EXEC))
        return false;
    memcpy(word, c->mem + pc, 4);
    return true;
}

/* Whether a watcher is told before an instruction. */
static bool told_before(const struct a64_inst *i) {
    const struct a64_info *info = a64_info(i->op);
    return info->flags & A64_ENDS || info->class == CLASS_BRANCH || info->class == CLASS_DIV;
}

/* Puts an instruction, and the watcher's beside it, behind the others of a list; n of them are there. */
static void append(struct cpu *c, struct a64_inst *list, uint32_t n, uint32_t word, uint64_t pc,
                   const struct a64_inst *i) {
    if (!c->watch.describe) {
        list[n] = *i;
        return;
    }
    struct a64_inst note = {.op = i->op, .imm = (int64_t)pc};
    c->watch.describe(c->watch.ctx, word, pc, i, &note);
    bool before = told_before(i);
    list[2 * n + before] = *i;
    list[2 * n + !before] = note;
}

/* Decodes from pc on, at most max instructions. */
static struct block *translate(struct cpu *c, uint64_t pc, uint32_t max) {
    struct a64_inst list[2 * BLOCK_MAX + 2];
    uint32_t n = 0, shift = c->watch.describe != NULL, ops[BLOCK_MAX];
    bool ended = false, failed = false;
    for (; n < max && !ended; n++) {
        uint64_t at = pc + 4ull * n;
        struct a64_inst i;
        uint32_t word;
        bool there = fetch(c, at, &word);
        failed = ended = !there || !a64_decode(word, at, &i);
        if (failed) {
            list[n << shift] = (struct a64_inst){.fn = there ? not_decoded : not_fetched};
            ops[n] = A64_OPS;
        } else {
            append(c, list, n, word, at, &i);
            ops[n] = i.op;
            ended = a64_info(i.op)->flags & A64_ENDS;
        }
    }
    uint32_t entries = failed ? ((n - 1) << shift) + 1 : n << shift;
    if (!ended)
        list[entries++] = (struct a64_inst){.fn = go_on, .imm = (int64_t)(pc + 4ull * n)};
    for (uint32_t k = 0; k < n; k++)
        if (ops[k] != A64_OPS && a64_info(ops[k])->class == CLASS_BRANCH)
            list[(k << shift) + shift].ra = (uint8_t)(n - 1 - k); /* what is not executed when it is taken */
    struct block *b = arena_alloc(&c->code, sizeof *b + entries * sizeof *b->at);
    b->pc = pc;
    b->n = n;
    b->shift = shift;
    memcpy(b->at, list, entries * sizeof *list);
    return b;
}

static void forget(struct cpu *c) {
    map_free(&c->blocks);
    arena_free(&c->code);
    memset(c->jumps, 0, sizeof c->jumps);
    c->block = NULL;
    c->stale = false;
}

static struct block *block_at(struct cpu *c, uint64_t pc) {
    struct block **recent = &c->jumps[pc >> 2 & (JUMPS - 1)];
    if (*recent && (*recent)->pc == pc)
        return *recent;
    struct block *b = map_get_u64(&c->blocks, pc);
    if (!b) {
        b = translate(c, pc, BLOCK_MAX);
        map_set_u64(&c->blocks, pc, b);
    }
    return *recent = b;
}

/* ---- leaving the chain ---- */

const struct a64_inst *cpu_jump(struct cpu *c, struct a64_inst *i, uint64_t pc) {
    if (c->stale) { /* also forgets i */
        c->pc = pc;
        c->stop = CPU_BUDGET;
        return NULL;
    }
    struct block *b = block_at(c, pc);
    if (i)
        i->to = b;
    c->left -= b->n;
    if (c->left < 0)
        return cpu_out_of_budget(c, b);
    c->block = b;
    return b->at;
}

const struct a64_inst *cpu_out_of_budget(struct cpu *c, struct block *b) {
    c->left += b->n;
    c->pc = b->pc;
    c->stop = CPU_BUDGET;
    return NULL;
}

/* Gives back what the block has not executed, done instructions being those up to i. */
static void give_back(struct cpu *c, const struct a64_inst *i, uint32_t done) {
    c->left += c->block->n - (((uint64_t)(i - c->block->at) >> c->block->shift) + done);
}

const struct a64_inst *cpu_fault(struct cpu *c, const struct a64_inst *i, enum cpu_fault_kind kind,
                                 uint64_t address) {
    c->pc = pc_of(c, i);
    c->stop = CPU_FAULT;
    c->fault.kind = kind;
    c->fault.address = address;
    give_back(c, i, 0);
    return NULL;
}

const struct a64_inst *cpu_leave(struct cpu *c, const struct a64_inst *i, enum cpu_stop why) {
    c->pc = pc_of(c, i) + 4;
    c->stop = why;
    give_back(c, i, 1);
    return NULL;
}

const struct a64_inst *cpu_pause(struct cpu *c, const struct a64_inst *i) {
    c->resume = i;
    c->stop = CPU_PAUSE;
    return NULL;
}

/* The top byte of an address may be anything; accesses may end in the page behind the space's last. */
uint64_t cpu_slow_access(struct cpu *c, uint64_t address, uint32_t size, uint8_t need) {
    uint64_t at = address << 8 >> 8;
    if (!space_allows(c->space, at, size, need))
        return NO_ADDRESS;
    return c->ea = at;
}

/* ---- running ---- */

void cpu_init(struct cpu *c, struct space *s) {
    *c = (struct cpu){.space = s, .mem = s->mem, .perm = s->perm, .exclusive = NO_ADDRESS};
    set_odd(c);
}

void cpu_free(struct cpu *c) {
    forget(c);
}

void cpu_forget_code(struct cpu *c) {
    c->stale = true;
}

/* What is executed next: where a pause was, or a block; one that ends where the budget does if there is not
 * enough of it left. */
static const struct a64_inst *first(struct cpu *c) {
    const struct a64_inst *i = c->resume;
    c->resume = NULL;
    if (i)
        return i;
    if (c->stale)
        forget(c);
    struct block *b = block_at(c, c->pc);
    if (b->n > c->left)
        b = translate(c, c->pc, (uint32_t)c->left);
    c->left -= b->n;
    c->block = b;
    return b->at;
}

enum cpu_stop cpu_run(struct cpu *c, uint64_t budget) {
    fenv_t host;
    fegetenv(&host);
    feclearexcept(FE_ALL_EXCEPT);
    host_mode(c);
    uint64_t done = cpu_counter(c);
    c->left = budget > INT64_MAX ? INT64_MAX : (int64_t)budget;
    c->granted = done + (uint64_t)c->left;
    c->stop = CPU_BUDGET;
    while ((c->left > 0 || c->resume) && c->stop == CPU_BUDGET)
        for (const struct a64_inst *i = first(c); i;)
            i = i->fn(c, i);
    gather(c);
    fesetenv(&host);
    return c->stop;
}

void cpu_describe_fault(const struct cpu *c, struct str *out) {
    static const char *const kinds[] = {
        [FAULT_FETCH] = "there is no code",
        [FAULT_READ] = "reads memory that is not there",
        [FAULT_WRITE] = "writes memory that is not there or must not be written",
        [FAULT_ALIGN] = "needs an aligned address",
        [FAULT_UNDEFINED] = "is no instruction of this CPU",
        [FAULT_BREAKPOINT] = "is a breakpoint",
    };
    uint32_t word;
    str_printf(out, "at 0x%llx: ", (unsigned long long)c->pc);
    if (c->fault.kind == FAULT_FETCH || !fetch(c, c->pc, &word)) {
        str_printf(out, "%s", kinds[FAULT_FETCH]);
        return;
    }
    const char *lacking = c->fault.kind == FAULT_UNDEFINED ? a64_lacking(word) : NULL;
    if (lacking)
        str_printf(out, "%s", lacking);
    else
        a64_print(out, word, c->pc);
    str_printf(out, " (0x%08x) %s", word, kinds[c->fault.kind]);
    if (c->fault.kind == FAULT_READ || c->fault.kind == FAULT_WRITE || c->fault.kind == FAULT_ALIGN)
        str_printf(out, ": 0x%llx", (unsigned long long)c->fault.address);
}
