/* Values derived from the counters of a GPU: name, unit, meaning, formula.
 *
 * A formula is arithmetic over names of counters, parameters of the GPU, and cycles, warp_insts,
 * thread_insts. Where it would divide by zero it has no value. Ratios are from 0 to 1, but utilisations of
 * memory may exceed 1 by what is still under way when the last cycle has been counted. */
#include "gpu/gpu.h"

static const struct formula_info rows[] = {
    {"simd.efficiency", "ratio", "Lanes that worked, of 32, in the average instruction.",
     "thread_insts / (32 * warp_insts)"},
    {"divergence", "ratio", "Instructions on paths of fewer than 32 lanes.", "insts.divergent / warp_insts"},
    {"sm.active", "ratio", "Cycles in which the average SM had a block.",
     "sm.cycles / (cycles * device.sms)"},
    {"sm.ipc", "instructions per cycle", "Warp instructions an SM issued in a cycle in which it had a block.",
     "sm.insts.warp / sm.cycles"},
    {"occupancy", "ratio", "Warp slots in use, of SMs that have a block.",
     "sm.warps.resident / (sm.cycles * sm.warps)"},
    {"issue.utilisation", "ratio", "Issue slots in which an instruction issued.",
     "slot.issued / (sm.cycles * issue.schedulers * issue.width)"},
    {"branch.divergence", "ratio", "Branches that split their warp.", "sm.branches.diverged / sm.branches"},
    {"rf.read.conflict_rate", "cycles per register",
     "Cycles of banks that left reads waiting, for each register read.", "rf.read.conflicts / rf.reads"},
    {"rf.write.conflict_rate", "cycles per register",
     "Cycles of banks that left writes waiting, for each register written.",
     "rf.write.conflicts / rf.writes"},
    {"shared.passes_per_access", "passes",
     "Passes of a warp's access of shared memory; above 1: bank conflicts.",
     "shared.passes / shared.accesses"},
    {"global.lines_per_access", "requests",
     "Line requests of a warp's access of global memory; 1: all lanes in one line.",
     "global.lines / global.accesses"},
    {"l1.hit_rate", "ratio", "Loads that found their data in L1.", "l1.read_hits / l1.reads"},
    {"texcache.hit_rate", "ratio", "The same of the texture cache.", "texcache.read_hits / texcache.reads"},
    {"constcache.hit_rate", "ratio", "The same of the constant cache.",
     "constcache.read_hits / constcache.reads"},
    {"icache.hit_rate", "ratio", "The same of the instruction cache.", "icache.read_hits / icache.reads"},
    {"l2.hit_rate", "ratio", "Requests to L2 that found their line.",
     "(l2.read_hits + l2.write_hits + l2.atomic_hits) / (l2.reads + l2.writes + l2.atomics)"},
    {"icnt.request.utilisation", "ratio", "Time that ports of partitions took in requests.",
     "icnt.request.output_busy / (cycles * clock.icnt / clock.sm * l2.partitions)"},
    {"icnt.reply.utilisation", "ratio", "Time that ports of SMs took in replies.",
     "icnt.reply.output_busy / (cycles * clock.icnt / clock.sm * device.sms)"},
    {"dram.utilisation", "ratio", "Time that the data buses moved data: bandwidth, of the peak.",
     "dram.busy / (cycles * 2 * clock.dram / dram.rate / clock.sm * l2.partitions)"},
    {"dram.row_hit_rate", "ratio", "Requests that found their row open.",
     "dram.row_hits / (dram.row_hits + dram.row_misses)"},
    {"repeat.rate", "ratio",
     "With --probe repeat: instructions whose computation came before in their window.",
     "repeat.repeated / repeat.insts"},
    {"repeat.rate_more_than_10", "ratio", "... whose computation appears there more than 10 times.",
     "repeat.more_than_10 / repeat.insts"},
};

const struct formula_table gpu_formulas = {rows, sizeof rows / sizeof *rows};
