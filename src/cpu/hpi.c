#include "cpu/hpi.h"

#include <string.h>

#include "cpu/exec.h"

#define LOAD_PENDING (NEVER - HPI_LOADS)
enum { NO_BASE = 255 };

/* ---- counters ---------------------------------------------------------------------------------------- */

#define ROW(member, name, unit, meaning)                                                                     \
    { name, unit, meaning, offsetof(struct hpi_counters, member) }
#define CLASS_ROW(class, name, meaning) ROW(classes[class], name, "instructions", meaning)

static const struct counter_info counter_rows[] = {
    ROW(cycles, "core.cycles", "cycles", "Cycles in which a core executed a program."),
    ROW(insts, "insts", "instructions", "Instructions executed."),
    CLASS_ROW(CLASS_ALU, "insts.alu", "Integer operations."),
    CLASS_ROW(CLASS_SHIFT, "insts.shift", "Shifts and bit fields."),
    CLASS_ROW(CLASS_MUL, "insts.mul", "Integer multiplications."),
    CLASS_ROW(CLASS_DIV, "insts.div", "Integer divisions."),
    CLASS_ROW(CLASS_BRANCH, "insts.branch", "Branches."),
    CLASS_ROW(CLASS_LOAD, "insts.load", "Loads."),
    CLASS_ROW(CLASS_STORE, "insts.store", "Stores."),
    CLASS_ROW(CLASS_FMOV, "insts.fmov", "Moves of floating-point registers."),
    CLASS_ROW(CLASS_FADD, "insts.fadd", "Floating-point additions."),
    CLASS_ROW(CLASS_FMUL, "insts.fmul", "Floating-point multiplications."),
    CLASS_ROW(CLASS_FMA, "insts.fma", "Fused multiplications and additions."),
    CLASS_ROW(CLASS_FDIV, "insts.fdiv", "Floating-point divisions."),
    CLASS_ROW(CLASS_FSQRT, "insts.fsqrt", "Square roots."),
    CLASS_ROW(CLASS_FCMP, "insts.fcmp", "Floating-point comparisons."),
    CLASS_ROW(CLASS_FCVT, "insts.fcvt", "Floating-point conversions."),
    CLASS_ROW(CLASS_VALU, "insts.valu", "Operations on vectors of integers and bits."),
    CLASS_ROW(CLASS_VMUL, "insts.vmul", "Multiplications of vectors of integers."),
    CLASS_ROW(CLASS_SYS, "insts.sys", "System calls and system registers."),
    CLASS_ROW(CLASS_MEMO, "insts.memo",
              "Instructions of the memoization unit; those that also load are loads."),
    ROW(reads, "rf.reads", "registers", "Registers read, flags among them."),
    ROW(writes, "rf.writes", "registers", "Registers written, flags among them."),
    ROW(branches, "branch.predicted", "branches", "Branches that the predictor saw."),
    ROW(mispredicts, "branch.wrong", "branches", "Branches that went elsewhere than predicted."),
    ROW(taken, "branch.taken", "branches", "Branches that were taken."),
    ROW(lines, "fetch.lines", "lines", "Lines that fetch asked the instruction cache for."),
    ROW(stall_front, "stall.front", "cycles", "Nothing issued: the next instruction had not come."),
    ROW(stall_operand, "stall.operand", "cycles", "Nothing issued: an operand was not complete."),
    ROW(stall_load, "stall.load", "cycles", "Nothing issued: an operand was that of a load that missed."),
    ROW(stall_unit, "stall.unit", "cycles", "Nothing issued: the unit was busy."),
    ROW(stall_store, "stall.store", "cycles",
        "Nothing issued: the store buffer was full, or too many loads missed."),
    ROW(stall_window, "stall.window", "cycles",
        "Nothing issued: the unit was full of instructions that had not ended."),
    ROW(stall_memo, "stall.memo", "cycles", "Nothing issued: the queue of the memoization unit was full."),
    ROW(memo_branches, "branch.memo", "branches", "Branches by what a look-up told."),
};
const struct counter_table hpi_counters = COUNTER_TABLE(counter_rows);

/* ---- instructions ------------------------------------------------------------------------------------ */

static enum hpi_unit unit_of(uint8_t class) {
    switch (class) {
    case CLASS_MUL:
        return UNIT_MUL;
    case CLASS_DIV:
        return UNIT_DIV;
    case CLASS_LOAD:
    case CLASS_STORE:
        return UNIT_MEM;
    case CLASS_MEMO:
        return UNIT_MEMO;
    case CLASS_ALU:
    case CLASS_SHIFT:
    case CLASS_BRANCH:
    case CLASS_SYS:
        return UNIT_ALU;
    default:
        return UNIT_FP;
    }
}

static bool is_double(uint32_t word) {
    return word >> 22 & 1;
}

static void set_latency(const struct cpu_config *g, struct hpi_inst *r, enum a64_op op) {
    r->busy = 1;
    switch (r->class) {
    case CLASS_MUL:
        r->latency = (uint8_t)(op == A64_MADD || op == A64_MSUB ? g->latency_madd : g->latency_mul);
        break;
    case CLASS_DIV:
        r->latency = r->busy = (uint8_t)g->latency_div; /* and more, by its operands */
        break;
    case CLASS_FDIV:
    case CLASS_FSQRT:
        r->latency = (uint8_t)(is_double(r->word) ? g->latency_fdiv_double : g->latency_fdiv_single);
        r->busy = (uint8_t)(r->latency > g->latency_fp ? r->latency - g->latency_fp + 1 : 1);
        break;
    case CLASS_LOAD:
        r->latency = (uint8_t)(g->latency_load + g->l1d_latency - 1);
        break;
    default:
        r->latency = (uint8_t)(r->unit == UNIT_FP ? g->latency_fp : g->latency_alu);
        break;
    }
}

enum { FEW_SOURCES = 3, FEW_RESULTS = 2 }; /* that an instruction has as a rule */

static enum hpi_kind kind_of_step(const struct hpi_inst *r) {
    if (r->is_memo || r->nsrc > FEW_SOURCES)
        return HPI_ANY;
    if (r->unit == UNIT_MEM && !r->writes_flags)
        return r->is_load ? HPI_LOAD : HPI_STORE;
    if (r->ndst > FEW_RESULTS)
        return HPI_ANY;
    return r->is_branch ? HPI_BRANCH : r->unit == UNIT_ALU ? HPI_ALU : r->unit == UNIT_FP ? HPI_FP : HPI_ANY;
}

/* How long before an operand is complete an instruction takes it over. */
static int32_t early_of(const struct cpu_config *g, const struct hpi_inst *r, enum a64_op op, uint32_t k) {
    if (r->src[k] == A64_MEMO_ORDER)
        return 0;
    bool selects = op == A64_CSEL || op == A64_CSINC || op == A64_CSINV || op == A64_CSNEG;
    switch (r->unit) {
    case UNIT_ALU:
        return selects && r->src[k] == A64_NZCV ? g->forward_flags : g->forward_alu;
    case UNIT_MEM:
    case UNIT_MEMO:
        return g->forward_address;
    case UNIT_FP:
        if (r->class == CLASS_FMA) /* the addend comes last, or is the destination of a vector operation */
            return (r->nsrc == 3 &&
                    (a64_info(op)->encoding[0] == '0' && a64_info(op)->encoding[1] == '0' ? k == 2 : k == 0))
                       ? g->forward_addend
                       : g->forward_fma;
        return r->class == CLASS_VALU ? g->forward_simd : g->forward_fp;
    default:
        return 0;
    }
}

static enum branch_kind kind_of(enum a64_op op) {
    switch (op) {
    case A64_B:
        return BRANCH_DIRECT;
    case A64_BL:
        return BRANCH_CALL;
    case A64_BR:
        return BRANCH_INDIRECT;
    case A64_BLR:
        return BRANCH_INDIRECT_CALL;
    case A64_RET:
        return BRANCH_RETURN;
    default:
        return BRANCH_COND;
    }
}

/* Bytes that a load or store touches: those of all its registers. */
static uint32_t bytes_of(uint32_t word, const struct a64_info *info, const struct a64_uses *u, bool load) {
    uint32_t size = a64_access_size(word), lists = 0;
    bool pairs = (word >> 27 & 7) == 5 || ((word >> 24 & 0x3f) == 8 && (word >> 21 & 1));
    for (uint32_t k = 0; k < (load ? u->ndst : u->nsrc); k++)
        lists += (load ? u->dst : u->src)[k] >= A64_V0;
    if (info->class == CLASS_STORE && (word & 0xffffffe0) == 0xd50b7420) /* DC ZVA */
        return 64;
    return (word >> 25 & 0x1f) == 6 ? size * lists : pairs ? 2 * size : size; /* structures, pairs */
}

struct hpi_inst *hpi_describe(struct hpi *c, uint32_t word, uint64_t pc, const struct a64_inst *i) {
    const struct a64_info *info = a64_info(i->op);
    struct hpi_inst *r = arena_new(c->arena, struct hpi_inst);
    struct a64_uses u;
    a64_uses(word, &u);
    *r = (struct hpi_inst){.pc = pc,
                           .word = word,
                           .class = info->class,
                           .unit = (uint8_t)unit_of(info->class),
                           .nsrc = u.nsrc,
                           .ndst = u.ndst,
                           .next = c->code};
    c->code = r;
    for (uint32_t k = 0; k < A64_MAX_USES; k++) {
        r->src[k] = k < u.nsrc ? u.src[k] : A64_ZERO;
        r->dst[k] = k < u.ndst ? u.dst[k] : A64_SINK;
    }
    r->is_branch = info->class == CLASS_BRANCH;
    r->is_load = info->class == CLASS_LOAD;
    r->is_store = info->class == CLASS_STORE;
    r->kind = kind_of(i->op);
    r->rn = i->rn;
    r->rm = i->rm;
    r->is_signed = i->op == A64_SDIV;
    r->is_memo = info->flags & A64_MEMO;
    r->table = i->ra & (MEMO_TABLES - 1);
    r->reads_flags = info->flags & A64_RFLAGS;
    r->writes_flags = info->flags & A64_WFLAGS;
    set_latency(c->cfg, r, i->op);
    for (uint32_t k = 0; k < r->nsrc; k++)
        r->early[k] = (uint8_t)early_of(c->cfg, r, i->op, k);
    r->base = NO_BASE;
    if (r->unit == UNIT_MEM) {
        r->size = (uint8_t)bytes_of(word, info, &u, r->is_load);
        for (uint32_t k = 0; k < r->ndst; k++)
            if (r->dst[k] == i->rn && k + 1 == r->ndst && a64_writes_base(word))
                r->base = (uint8_t)k;
    }
    r->step = (uint8_t)kind_of_step(r);
    return r;
}

/* ---- loads and stores under way ---------------------------------------------------------------------- */

/* Of the instructions that have a place, that one and those behind it do not end before a cycle. */
static void delay_behind(struct hpi_places *p, uint64_t inst, uint64_t end) {
    uint32_t k = p->next;
    for (uint32_t n = 0; n < p->size; n++) { /* the newest first */
        k = k ? k - 1 : p->size - 1;
        if (p->inst[k] < inst)
            break;
        p->end[k] = max_u64(p->end[k], end);
    }
}

/* Waits for a load; its registers are complete then, and nothing behind it has ended before. */
static uint64_t finish_load(struct hpi *c, uint32_t slot) {
    struct hpi_load *l = &c->loads[slot];
    uint64_t end = cpumem_wait(c->port, l->number) + (uint64_t)c->cfg->latency_load - 1;
    for (uint32_t k = 0; k < l->ndst; k++)
        if (c->complete[l->dst[k]] == LOAD_PENDING + slot)
            c->complete[l->dst[k]] = end;
    for (uint32_t u = 0; u < UNITS; u++)
        delay_behind(&c->places[u], l->inst, end);
    c->last_end = max_u64(c->last_end, end);
    for (uint32_t k = 0; k < c->memo.n; k++)
        if (c->memo.inputs[k].slot == (int)slot) {
            c->memo.inputs[k].slot = -1;
            c->memo.inputs[k].at = end;
        }
    if (c->trace)
        konata_end(c->trace, l->shown, end);
    l->number = CPUMEM_HIT;
    c->nloads--;
    return end;
}

static void drop_store(struct hpi *c, uint32_t k) {
    memmove(&c->stores[k], &c->stores[k + 1], (c->nstores - k - 1) * sizeof *c->stores);
    c->nstores--;
}

/* Whether all bytes of a load are in a store that waits for its line. */
static bool in_store_buffer(const struct hpi *c, uint64_t address, uint32_t size) {
    for (uint32_t k = c->nstores; k-- > 0;)
        if (address >= c->stores[k].address && address + size <= c->stores[k].address + c->stores[k].size)
            return true;
    return false;
}

/* A load that issued misses. */
static __attribute__((noinline)) void add_load(struct hpi *c, const struct hpi_inst *i, int number) {
    uint32_t k = 0;
    while (c->loads[k].number != CPUMEM_HIT)
        k++;
    c->loads[k] = (struct hpi_load){.number = number, .inst = c->n.insts + 1};
    for (uint32_t d = 0; d < i->ndst; d++)
        if (d != i->base && i->dst[d] != A64_MEMO_ORDER)
            c->loads[k].dst[c->loads[k].ndst++] = i->dst[d];
    c->nloads++;
    c->slot = (int)k;
}

/* A load issues at cycle: until then at most so many others miss. Returns what it adds to the latency of a
 * hit, and sets its slot if it misses. */
static inline uint32_t load(struct hpi *c, const struct hpi_inst *i, uint64_t cycle, uint64_t address) {
    if (c->nstores && in_store_buffer(c, address, i->size))
        return 0;
    int number = cpumem_load(c->port, cycle, address, i->size, i->pc);
    if (number != CPUMEM_HIT)
        add_load(c, i, number);
    return c->port->extra;
}

static inline uint32_t store(struct hpi *c, const struct hpi_inst *i, uint64_t cycle, uint64_t address) {
    int number = cpumem_store(c->port, cycle, address, i->size);
    if (number != CPUMEM_HIT)
        c->stores[c->nstores++] = (struct hpi_store){number, address, i->size};
    return c->port->extra;
}

/* The cycle from which on one more may be under way. */
static uint64_t room_for_load(struct hpi *c, uint64_t cycle) {
    for (uint32_t k = 0; k < (uint32_t)c->cfg->issue_loads; k++)
        if (c->loads[k].number == CPUMEM_HIT)
            return cycle;
    uint32_t oldest = 0;
    for (uint32_t k = 1; k < (uint32_t)c->cfg->issue_loads; k++)
        if (c->loads[k].inst < c->loads[oldest].inst)
            oldest = k;
    return max_u64(cycle, finish_load(c, oldest));
}

static uint64_t room_for_store(struct hpi *c, uint64_t cycle) {
    cpumem_move_to(c->port, cycle);
    for (uint32_t k = c->nstores; k-- > 0;)
        if (cpumem_is_done(c->port, c->stores[k].number, cycle))
            drop_store(c, k);
    if (c->nstores < (uint32_t)c->cfg->issue_stores)
        return cycle;
    uint64_t done = cpumem_wait(c->port, c->stores[0].number);
    drop_store(c, 0);
    return max_u64(cycle, done);
}

/* ---- the memoization unit ---------------------------------------------------------------------------- */

/* Lets the inputs that wait into the CRC unit, in order; loads they wait for come first. A hash is ready a
 * cycle for each byte later; the unit takes so many bytes in a cycle. */
static void hash_inputs(struct hpi *c) {
    struct hpi_memo *m = &c->memo;
    for (uint32_t k = 0; k < m->n; k++) {
        struct hpi_input *x = &m->inputs[k];
        if (x->slot >= 0)
            finish_load(c, (uint32_t)x->slot);
        uint64_t start = max_u64(x->at, m->free_at);
        uint32_t rate = (uint32_t)c->cfg->memo_crc_bytes;
        m->free_at = start + (x->bytes + rate - 1) / rate;
        m->done[x->table] = start + x->bytes;
        m->starts[m->next] = start;
        m->next = (m->next + 1) % (uint32_t)c->cfg->memo_queue;
    }
    m->n = 0;
}

/* An input that is there when its instruction ends, or when a load has come. */
static void add_input(struct hpi *c, const struct hpi_inst *i, const struct memo *memo, uint64_t at,
                      int slot) {
    struct hpi_memo *m = &c->memo;
    m->inputs[m->n++] = (struct hpi_input){slot, at, i->table, memo->last_bytes};
    bool waits = false;
    for (uint32_t k = 0; k < m->n; k++)
        waits |= m->inputs[k].slot >= 0;
    if (!waits)
        hash_inputs(c);
}

/* The cycle from which on the queue has room for an input. */
static uint64_t room_for_input(struct hpi *c, uint64_t cycle) {
    if (c->memo.n == (uint32_t)c->cfg->memo_queue)
        hash_inputs(c);
    return max_u64(cycle, c->memo.starts[c->memo.next]);
}

/* What an instruction of the unit that issues at cycle takes until its result is complete, and keeps the unit
 * busy. */
static uint32_t memo_time(struct hpi *c, const struct hpi_inst *i, const struct memo *memo, uint64_t cycle,
                          uint32_t *busy) {
    const struct cpu_config *g = c->cfg;
    uint32_t ways = memo->wide ? MEMO_WAYS / 2 : MEMO_WAYS;
    switch (memo->last) {
    case MEMO_INPUT:
        return (uint32_t)g->latency_alu;
    case MEMO_L1_HIT:
    case MEMO_L2_HIT:
    case MEMO_MISS:
    case MEMO_SAMPLED: {
        hash_inputs(c);
        uint64_t at = max_u64(cycle, c->memo.done[i->table]) + (uint64_t)g->memo_lookup;
        if (memo->last_l2)
            at = cpumem_use_l2(c->port->memory, at) + (uint64_t)g->l2_latency;
        return (uint32_t)(at - cycle) + (uint32_t)g->forward_alu; /* which takes it over then */
    }
    case MEMO_UPDATED:
        *busy = (uint32_t)g->memo_update;
        if (memo->last_l2)
            cpumem_use_l2(c->port->memory, cycle);
        return (uint32_t)g->memo_update;
    case MEMO_SWEPT:
        *busy = memo->l1.sets * ways + (memo->l2 ? (uint32_t)(g->memo_l2 / MEMO_SET_BYTES) : 0);
        return *busy;
    case MEMO_CLEARED:
        *busy = ways;
        return *busy;
    default:
        return 1;
    }
}

/* ---- the front end ----------------------------------------------------------------------------------- */

/* What the predictor made of the branch before, now that its outcome is known. */
static void end_branch(struct hpi *c, uint64_t next) {
    const struct hpi_inst *b = c->branch;
    c->branch = NULL;
    c->n.branches++;
    c->n.taken += next != b->pc + 4;
    if (predict_branch(&c->predictor, b->kind, b->pc, next) != next) {
        c->n.mispredicts++;
        c->front = max_u64(c->front, c->branch_end + (uint64_t)c->cfg->fetch_redirect);
        c->arrived = 0;
        c->line = NEVER;
    } else if (next != b->pc + 4) {
        c->front = max_u64(c->front, c->branch_at + 1 + (uint64_t)c->cfg->fetch_taken);
        c->arrived = 0;
        c->line = NEVER;
    }
}

/* Fetch turns to another line: one behind the other is asked for when that one has come, else when fetch gets
 * there. */
static __attribute__((noinline)) void fetch_line(struct hpi *c, uint64_t pc, uint64_t line) {
    uint64_t ask = line == c->line + 1 ? c->line_at : c->front > 1 ? c->front - 1 : 0;
    uint64_t there = cpumem_fetch(c->port, ask, pc) + (uint64_t)c->cfg->l1i_latency;
    c->n.lines++;
    c->line = line;
    if (there > c->front) {
        c->front = there;
        c->arrived = 0;
    }
    c->line_at = c->front;
}

/* The cycle in which the instruction at pc arrives: so many in one, and no further ahead of those that issue.
 */
static inline uint64_t arrive(struct hpi *c, uint64_t pc) {
    if (pc >> c->shift != c->line)
        fetch_line(c, pc, pc >> c->shift);
    bool full = c->arrived == (uint32_t)c->cfg->fetch_width;
    uint64_t front = c->front + full,
             room = c->issue[(c->n.insts - (uint64_t)c->cfg->fetch_ahead) % HPI_AHEAD];
    c->arrived = full || room > front ? 1 : c->arrived + 1;
    return c->front = max_u64(front, room);
}

/* ---- issue ------------------------------------------------------------------------------------------- */

static uint32_t bits_in(uint64_t v) {
    return v ? 64 - (uint32_t)__builtin_clzll(v) : 0;
}

/* Cycles that the quotient's bits take; the divisor's register may be that of the result, so this is before.
 */
static uint32_t division(const struct hpi *c, const struct hpi_inst *i, const struct cpu *cpu) {
    bool wide = i->word >> 31;
    int64_t a = wide ? (int64_t)cpu->x[i->rn] : (int32_t)cpu->x[i->rn],
            b = wide ? (int64_t)cpu->x[i->rm] : (int32_t)cpu->x[i->rm];
    if (!b)
        return 0;
    bool negative = i->is_signed && (a < 0 || b < 0);
    uint64_t x = i->is_signed && a < 0 ? 0 - (uint64_t)a : wide ? (uint64_t)a : (uint32_t)a;
    uint64_t y = i->is_signed && b < 0 ? 0 - (uint64_t)b : wide ? (uint64_t)b : (uint32_t)b;
    uint32_t left = bits_in(x), right = bits_in(y / (negative ? 4 : 2));
    return (left > right ? (left - right) / (uint32_t)c->cfg->div_bits : 0) + negative;
}

/* A result that cannot be taken over early: addresses do not get those of loads. */
static inline bool is_late(enum hpi_unit consumer, enum hpi_unit producer) {
    return consumer == UNIT_MEM && producer == UNIT_MEM;
}

/* Operands that come from loads which missed are waited for; whether there was one. */
static __attribute__((noinline)) bool wait_for_operands(struct hpi *c, const struct hpi_inst *i) {
    bool waited = false;
    for (uint32_t k = 0; k < i->nsrc; k++) {
        uint64_t at = c->complete[i->src[k]];
        if (at >= LOAD_PENDING) {
            finish_load(c, (uint32_t)(at - LOAD_PENDING));
            waited = true;
        }
    }
    return waited;
}

/* The cycle from which on the first n operands, which are known, can be had. */
static inline uint64_t operands(const struct hpi *c, const struct hpi_inst *i, enum hpi_unit unit, uint32_t n,
                                uint64_t cycle) {
    for (uint32_t k = 0; k < n; k++) {
        uint64_t at = c->complete[i->src[k]], early = i->early[k];
        if (is_late(unit, c->producer[i->src[k]]))
            early = 0;
        cycle = max_u64(cycle, max_u64(at, early) - early);
    }
    return cycle;
}

/* Whether one of them is that of a load that has not come. */
static inline bool is_pending(const struct hpi *c, const struct hpi_inst *i, uint32_t n) {
    uint64_t last = 0;
    for (uint32_t k = 0; k < n; k++)
        last = max_u64(last, c->complete[i->src[k]]);
    return last >= LOAD_PENDING;
}

static inline uint64_t unit_free(const struct hpi *c, enum hpi_unit unit, uint64_t cycle) {
    if (unit != UNIT_ALU)
        cycle = max_u64(cycle, c->free_at[unit]);
    bool full = c->issued == (uint32_t)c->cfg->issue_width ||
                (unit == UNIT_ALU && c->alus == (uint32_t)c->cfg->issue_alus);
    return cycle + (full && cycle == c->cycle);
}

/* Loads that must have come before the instruction that has a unit's next place can end. */
static __attribute__((noinline)) void finish_before(struct hpi *c, uint64_t inst) {
    for (uint32_t k = 0; k < (uint32_t)c->cfg->issue_loads; k++)
        if (c->loads[k].number != CPUMEM_HIT && c->loads[k].inst <= inst)
            finish_load(c, k);
}

/* The cycle from which on the unit has a place: when the one that has had it longest ends. */
static inline uint64_t place_free(struct hpi *c, enum hpi_unit unit, uint64_t cycle) {
    struct hpi_places *p = &c->places[unit];
    if (c->nloads)
        finish_before(c, p->inst[p->next]);
    return max_u64(cycle, p->end[p->next]);
}

/* The cycles between two, in which nothing issues. */
static inline uint64_t gap(uint64_t from, uint64_t to) {
    return to > from ? to - from - 1 : 0;
}

/* Instructions end in order; a load that has not come says so itself. */
static void show(struct hpi *c, const struct hpi_inst *i, uint64_t arrived, uint64_t issued, int slot) {
    uint64_t number = konata_issue(c->trace, c->id, i->pc, i->word, arrived, issued);
    konata_end(c->trace, number, c->last_end);
    if (slot >= 0)
        c->loads[slot].shown = number;
}

/* When the values that an instruction writes are complete. */
static inline void set_results(struct hpi *c, const struct hpi_inst *i, enum hpi_unit unit, uint64_t at,
                               uint64_t complete, enum hpi_kind kind) {
    bool has_base = kind == HPI_LOAD || kind == HPI_STORE || kind == HPI_ANY;
    uint32_t n = has_base ? i->ndst : FEW_RESULTS;
    for (uint32_t k = 0; k < n; k++) {
        bool base = has_base && k == i->base;
        uint64_t then = base ? at + (uint64_t)c->cfg->latency_alu : complete;
        if (kind == HPI_ANY && i->dst[k] == A64_MEMO_ORDER) /* which only keeps the order */
            then = at + 1;
        c->complete[i->dst[k]] = then;
        c->producer[i->dst[k]] = (uint8_t)(base ? UNIT_ALU : unit);
    }
}

static inline void count_step(struct hpi *c, struct hpi_inst *i, enum hpi_kind kind) {
    if (kind == HPI_BRANCH)
        c->n.memo_branches += c->by_lookup && i->reads_flags;
    if (kind == HPI_ALU || kind == HPI_FP || kind == HPI_ANY)
        c->by_lookup = i->writes_flags ? kind == HPI_ANY && i->is_memo : c->by_lookup;
    c->n.insts++;
    i->times++;
}

/* What follows from how often instructions were executed. */
static void count_code(struct hpi *c) {
    for (struct hpi_inst *i = c->code; i; i = i->next) {
        c->n.classes[i->class] += i->times;
        c->n.reads += i->times * i->nsrc;
        c->n.writes += i->times * i->ndst;
        i->times = 0;
    }
}

/* The next instruction: with the address it used if it is a load or store, and the registers as they are
 * behind it, those of a division as before. There is one such function for each kind, made of this one. */
static inline __attribute__((always_inline)) void step(struct hpi *c, struct hpi_inst *i,
                                                       const struct cpu *cpu, enum hpi_kind kind) {
    const struct cpu_config *g = c->cfg;
    bool any = kind == HPI_ANY, loads = kind == HPI_LOAD || (any && i->is_load),
         stores = kind == HPI_STORE || (any && i->is_store), memo = any && i->is_memo && cpu->memo;
    enum hpi_unit unit = any                                     ? i->unit
                         : kind == HPI_FP                        ? UNIT_FP
                         : kind == HPI_LOAD || kind == HPI_STORE ? UNIT_MEM
                                                                 : UNIT_ALU;
    uint32_t n = any ? i->nsrc : FEW_SOURCES;
    if (c->branch)
        end_branch(c, i->pc);
    uint64_t arrived = arrive(c, i->pc), at = max_u64(c->cycle, arrived + (uint64_t)g->fetch_depth), was = at;
    c->n.stall_front += gap(c->cycle, at);
    at = place_free(c, unit, at);
    c->n.stall_window += gap(was, at);
    bool waited = c->nloads && is_pending(c, i, n) && wait_for_operands(c, i);
    was = at;
    at = operands(c, i, unit, n, at);
    *(waited ? &c->n.stall_load : &c->n.stall_operand) += gap(was, at);
    was = at;
    at = unit_free(c, unit, at);
    c->n.stall_unit += gap(was, at);
    was = at;
    if (loads && c->nloads == (uint32_t)g->issue_loads)
        c->n.stall_store += gap(was, at = room_for_load(c, at));
    if (stores && c->nstores)
        c->n.stall_store += gap(was, at = room_for_store(c, at));
    was = at;
    if (memo && cpu->memo->last == MEMO_INPUT)
        c->n.stall_memo += gap(was, at = room_for_input(c, at));

    uint32_t latency = i->latency, busy = i->busy;
    c->slot = -1;
    if (loads)
        latency += load(c, i, at, cpu->ea);
    else if (stores)
        latency += store(c, i, at, cpu->ea);
    if (memo) {
        if (!loads)
            latency = memo_time(c, i, cpu->memo, at, &busy);
        if (cpu->memo->last == MEMO_INPUT)
            add_input(c, i, cpu->memo, at + latency, c->slot);
    }
    if (any && i->class == CLASS_DIV) {
        uint32_t more = division(c, i, cpu);
        latency += more;
        busy += more;
    }

    bool again = at == c->cycle;
    c->alus = (again ? c->alus : 0) + (unit == UNIT_ALU);
    c->issued = (again ? c->issued : 0) + 1;
    c->cycle = at;
    if (unit != UNIT_ALU)
        c->free_at[unit] = at + busy;
    uint64_t end = at + latency;
    set_results(c, i, unit, at, loads && c->slot >= 0 ? LOAD_PENDING + (uint64_t)c->slot : end, kind);
    c->last_end = max_u64(c->last_end, end);
    if (unlikely(c->trace != NULL))
        show(c, i, arrived, at, c->slot);
    struct hpi_places *p = &c->places[unit];
    p->end[p->next] = c->last_end;
    p->inst[p->next] = c->n.insts + 1;
    p->next = p->next + 1 == p->size ? 0 : p->next + 1;
    c->issue[c->n.insts % HPI_AHEAD] = at;
    if (kind == HPI_BRANCH) {
        c->branch = i;
        c->branch_at = arrived;
        c->branch_end = end;
    }
    count_step(c, i, kind);
}

void hpi_finish(struct hpi *c) {
    for (uint32_t k = 0; k < HPI_LOADS; k++)
        if (c->loads[k].number != CPUMEM_HIT)
            finish_load(c, k);
    while (c->nstores) {
        c->last_end = max_u64(c->last_end, cpumem_wait(c->port, c->stores[0].number));
        drop_store(c, 0);
    }
    c->n.cycles = c->n.insts ? c->last_end : 0;
    count_code(c);
}

void hpi_init(struct hpi *c, const struct cpu_config *cfg, struct port *port, struct arena *a) {
    *c = (struct hpi){.cfg = cfg, .port = port, .arena = a, .line = NEVER, .until = NEVER};
    c->shift = mem_line_shift((uint32_t)cfg->line);
    struct predict_spec p = {(uint32_t)cfg->predict_local, (uint32_t)cfg->predict_global,
                             (uint32_t)cfg->predict_btb, (uint32_t)cfg->predict_ras};
    predict_init(&c->predictor, a, &p);
    for (uint32_t k = 0; k < HPI_LOADS; k++)
        c->loads[k].number = CPUMEM_HIT;
    const int32_t places[UNITS] = {[UNIT_ALU] = cfg->latency_alu * cfg->issue_alus,
                                   [UNIT_MUL] = cfg->latency_madd,
                                   [UNIT_DIV] = cfg->latency_div,
                                   [UNIT_FP] = cfg->latency_fp,
                                   [UNIT_MEM] = cfg->latency_load,
                                   [UNIT_MEMO] = cfg->memo_queue};
    for (uint32_t u = 0; u < UNITS; u++)
        c->places[u].size = places[u] < HPI_PLACES ? (uint32_t)places[u] : HPI_PLACES;
}

/* ---- beside the executors ---------------------------------------------------------------------------- */

#define TIMED(name, kind)                                                                                    \
    EXEC(timed_##name) {                                                                                     \
        struct hpi *core = c->watch.ctx;                                                                     \
        step(core, (struct hpi_inst *)i->note, c, kind);                                                     \
        if (unlikely(core->cycle > core->until))                                                             \
            return cpu_pause(c, i + 1);                                                                      \
        NEXT;                                                                                                \
    }

TIMED(alu, HPI_ALU)
TIMED(fp, HPI_FP)
TIMED(branch, HPI_BRANCH)
TIMED(load, HPI_LOAD)
TIMED(store, HPI_STORE)

/* This one is a call, since it has a variable with an address. */
static __attribute__((noinline)) void step_any(struct hpi *core, struct hpi_inst *i, const struct cpu *cpu) {
    step(core, i, cpu, HPI_ANY);
}

EXEC(timed_any) {
    struct hpi *core = c->watch.ctx;
    step_any(core, (struct hpi_inst *)i->note, c);
    if (unlikely(core->cycle > core->until))
        return cpu_pause(c, i + 1);
    NEXT;
}

static void describe(void *ctx, uint32_t word, uint64_t pc, const struct a64_inst *i, struct a64_inst *note) {
    static a64_fn *const steps[HPI_KINDS] = {
        [HPI_ALU] = timed_alu,   [HPI_FP] = timed_fp,       [HPI_BRANCH] = timed_branch,
        [HPI_LOAD] = timed_load, [HPI_STORE] = timed_store, [HPI_ANY] = timed_any,
    };
    struct hpi_inst *h = hpi_describe(ctx, word, pc, i);
    note->fn = steps[h->step];
    note->note = h;
}

void hpi_attach(struct hpi *c, struct cpu *cpu) {
    cpu->watch = (struct cpu_watch){describe, c};
    cpu_forget_code(cpu);
}

void hpi_suspend(struct hpi *c, struct cpu *cpu) {
    c->branch = NULL; /* its outcome is not seen */
    cpu->watch.describe = NULL;
    cpu_forget_code(cpu);
}
