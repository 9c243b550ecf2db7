/* The energy of a GPU. */
#include "energy/gpu.h"

#include "cfg/gpu.h"

const struct energy_part gpu_parts[ENERGY_PARTS] = {
#define PART(id, name, meaning) [ENERGY_##id] = {name, meaning},
#include "energy/gpu_parts.def"
#undef PART
};

/* A counter may stand in several rows, and a parameter, too. */
static const struct energy_event common[] = {
    {ENERGY_REGISTER_FILE, "rf.read.arrays", "energy.rf.read", ENERGY_PJ},
    {ENERGY_REGISTER_FILE, "rf.write.arrays", "energy.rf.write", ENERGY_PJ},

    {ENERGY_SP, "lanes.idle.sp", "energy.lane.idle", ENERGY_PJ},

    {ENERGY_SFU, "lanes.idle.sfu", "energy.lane.idle", ENERGY_PJ},

    {ENERGY_DP, "lanes.idle.dp", "energy.lane.idle", ENERGY_PJ},

    {ENERGY_TENSOR, "tensor.macs.f16", "energy.tensor.f16", ENERGY_PJ},
    {ENERGY_TENSOR, "tensor.macs.tf32", "energy.tensor.tf32", ENERGY_PJ},
    {ENERGY_TENSOR, "tensor.macs.f64", "energy.tensor.f64", ENERGY_PJ},
    {ENERGY_TENSOR, "tensor.macs.s8", "energy.tensor.s8", ENERGY_PJ},
    {ENERGY_TENSOR, "tensor.macs.s4", "energy.tensor.s4", ENERGY_PJ},
    {ENERGY_TENSOR, "tensor.macs.b1", "energy.tensor.b1", ENERGY_PJ},
    {ENERGY_TENSOR, "lanes.idle.tensor", "energy.lane.idle", ENERGY_PJ},

    {ENERGY_LSU, "lanes.idle.mem", "energy.lane.idle", ENERGY_PJ},

    {ENERGY_SHARED, "shared.words", "energy.shared.word", ENERGY_PJ},

    {ENERGY_L1, "l1.reads", "energy.l1.tag", ENERGY_PJ},
    {ENERGY_L1, "l1.writes", "energy.l1.tag", ENERGY_PJ},
    {ENERGY_L1, "l1.read_sectors", "energy.l1.read", ENERGY_PJ},
    {ENERGY_L1, "l1.write_sectors", "energy.l1.write", ENERGY_PJ},
    {ENERGY_L1, "l1.sectors_fetched", "energy.l1.write", ENERGY_PJ},

    {ENERGY_CONST_TEX, "rf.constants", "energy.const.read", ENERGY_PJ},
    {ENERGY_CONST_TEX, "constcache.reads", "energy.const.read", ENERGY_PJ},
    {ENERGY_CONST_TEX, "constcache.fills", "energy.const.fill", ENERGY_PJ},
    {ENERGY_CONST_TEX, "lanes.tex", "energy.tex.lane", ENERGY_PJ},
    {ENERGY_CONST_TEX, "lanes.idle.tex", "energy.lane.idle", ENERGY_PJ},
    {ENERGY_CONST_TEX, "texcache.read_sectors", "energy.tex.read", ENERGY_PJ},
    {ENERGY_CONST_TEX, "texcache.fills", "energy.tex.fill", ENERGY_PJ},

    {ENERGY_L2, "l2.reads", "energy.l2.tag", ENERGY_PJ},
    {ENERGY_L2, "l2.writes", "energy.l2.tag", ENERGY_PJ},
    {ENERGY_L2, "l2.atomics", "energy.l2.tag", ENERGY_PJ},
    {ENERGY_L2, "l2.read_sectors", "energy.l2.read", ENERGY_PJ},
    {ENERGY_L2, "l2.write_sectors", "energy.l2.write", ENERGY_PJ},
    {ENERGY_L2, "l2.sectors_fetched", "energy.l2.write", ENERGY_PJ},
    {ENERGY_L2, "l2.write_backs", "energy.l2.evict", ENERGY_PJ},
    {ENERGY_L2, "l2.atomic_ops", "energy.l2.atomic", ENERGY_PJ},

    {ENERGY_ICNT, "icnt.request.bytes", "energy.icnt.byte", ENERGY_PJ},
    {ENERGY_ICNT, "icnt.reply.bytes", "energy.icnt.byte", ENERGY_PJ},
    {ENERGY_ICNT, "shared.remote.bytes", "energy.icnt.byte", ENERGY_PJ},

    {ENERGY_MC, "dram.reads", "energy.mc.request", ENERGY_PJ},
    {ENERGY_MC, "dram.writes", "energy.mc.request", ENERGY_PJ},
    {ENERGY_MC, "dram.read_bursts", "energy.mc.bit", ENERGY_PJ_BIT},
    {ENERGY_MC, "dram.write_bursts", "energy.mc.bit", ENERGY_PJ_BIT},

    {ENERGY_DRAM, "dram.activates", "energy.dram.activate", ENERGY_PJ_FIXED},
    {ENERGY_DRAM, "dram.read_bursts", "energy.dram.read", ENERGY_PJ_BIT},
    {ENERGY_DRAM, "dram.write_bursts", "energy.dram.write", ENERGY_PJ_BIT},
};

static const struct energy_event physical[] = {
    {ENERGY_FRONT_END, "icache.reads", "energy.fetch.read", ENERGY_PJ},
    {ENERGY_FRONT_END, "icache.fills", "energy.fetch.fill", ENERGY_PJ},
    {ENERGY_FRONT_END, "fetch.insts", "energy.fetch.decode", ENERGY_PJ},
    {ENERGY_FRONT_END, "sm.insts.warp", "energy.fetch.issue", ENERGY_PJ},

    {ENERGY_COLLECTORS, "rf.reads", "energy.oc.operand", ENERGY_PJ},
    {ENERGY_COLLECTORS, "rf.writes", "energy.oc.result", ENERGY_PJ},

    {ENERGY_SP, "lanes.mov", "energy.sp.mov", ENERGY_PJ},
    {ENERGY_SP, "lanes.logic", "energy.sp.logic", ENERGY_PJ},
    {ENERGY_SP, "lanes.shift", "energy.sp.shift", ENERGY_PJ},
    {ENERGY_SP, "lanes.iadd", "energy.sp.iadd", ENERGY_PJ},
    {ENERGY_SP, "lanes.imul", "energy.sp.imul", ENERGY_PJ},
    {ENERGY_SP, "lanes.imad", "energy.sp.imad", ENERGY_PJ},
    {ENERGY_SP, "lanes.fadd", "energy.sp.fadd", ENERGY_PJ},
    {ENERGY_SP, "lanes.fmul", "energy.sp.fmul", ENERGY_PJ},
    {ENERGY_SP, "lanes.ffma", "energy.sp.ffma", ENERGY_PJ},
    {ENERGY_SP, "lanes.cvt", "energy.sp.cvt", ENERGY_PJ},

    {ENERGY_SFU, "lanes.sfu", "energy.sfu.op", ENERGY_PJ},

    {ENERGY_DP, "lanes.dadd", "energy.dp.add", ENERGY_PJ},
    {ENERGY_DP, "lanes.dmul", "energy.dp.mul", ENERGY_PJ},
    {ENERGY_DP, "lanes.dfma", "energy.dp.fma", ENERGY_PJ},

    {ENERGY_LSU, "lanes.ldst", "energy.lsu.lane", ENERGY_PJ},
    {ENERGY_LSU, "lanes.atom", "energy.lsu.lane", ENERGY_PJ},

    {ENERGY_CLOCK, "sm.cycles", "energy.power.sm", ENERGY_WATT},

    {ENERGY_STATIC, NULL, "energy.power.static", ENERGY_WATT},
};

/* GPUWattch has no collectors apart from the register file, and no leakage. An instruction passes the whole
 * pipeline or, when it goes to no unit, its first half. The collectors' share in an array's energy is spent
 * where a mechanism leaves the array alone, too: who keeps a value in fewer arrays saves accesses of banks.
 */
static const struct energy_event gpuwattch[] = {
    {ENERGY_FRONT_END, "icache.reads", "energy.wattch.fetch", ENERGY_PJ},
    {ENERGY_FRONT_END, "fetch.insts", "energy.wattch.decode", ENERGY_PJ},
    {ENERGY_FRONT_END, "sm.insts.warp", "energy.wattch.issue", ENERGY_PJ},

    {ENERGY_PIPELINE, "sm.insts.warp", "energy.wattch.front", ENERGY_PJ},
    {ENERGY_PIPELINE, "unit.sp", "energy.wattch.back", ENERGY_PJ},
    {ENERGY_PIPELINE, "unit.sfu", "energy.wattch.back", ENERGY_PJ},
    {ENERGY_PIPELINE, "unit.dp", "energy.wattch.back", ENERGY_PJ},
    {ENERGY_PIPELINE, "unit.mem", "energy.wattch.back", ENERGY_PJ},
    {ENERGY_PIPELINE, "unit.tex", "energy.wattch.back", ENERGY_PJ},
    {ENERGY_PIPELINE, "unit.tensor", "energy.wattch.back", ENERGY_PJ},
    {ENERGY_PIPELINE, "unit.ctrl", "energy.wattch.back", ENERGY_PJ},

    {ENERGY_REGISTER_FILE, "rf.read.arrays.spared", "energy.wattch.operand", ENERGY_PJ},
    {ENERGY_REGISTER_FILE, "rf.write.arrays.spared", "energy.wattch.result", ENERGY_PJ},

    {ENERGY_SP, "lanes.mov", "energy.wattch.int", ENERGY_PJ},
    {ENERGY_SP, "lanes.logic", "energy.wattch.int", ENERGY_PJ},
    {ENERGY_SP, "lanes.shift", "energy.wattch.int", ENERGY_PJ},
    {ENERGY_SP, "lanes.iadd", "energy.wattch.int", ENERGY_PJ},
    {ENERGY_SP, "lanes.imul", "energy.wattch.imul", ENERGY_PJ},
    {ENERGY_SP, "lanes.imad", "energy.wattch.imul", ENERGY_PJ},
    {ENERGY_SP, "lanes.fadd", "energy.wattch.fadd", ENERGY_PJ},
    {ENERGY_SP, "lanes.fmul", "energy.wattch.fmul", ENERGY_PJ},
    {ENERGY_SP, "lanes.ffma", "energy.wattch.fmul", ENERGY_PJ},
    {ENERGY_SP, "lanes.cvt", "energy.wattch.fadd", ENERGY_PJ},

    {ENERGY_SFU, "lanes.sfu", "energy.wattch.sfu", ENERGY_PJ},

    {ENERGY_DP, "lanes.dadd", "energy.wattch.fadd", ENERGY_PJ},
    {ENERGY_DP, "lanes.dmul", "energy.wattch.fmul", ENERGY_PJ},
    {ENERGY_DP, "lanes.dfma", "energy.wattch.fmul", ENERGY_PJ},

    {ENERGY_LSU, "unit.mem", "energy.wattch.fadd", ENERGY_PJ},

    {ENERGY_EMPTY, "sm.cycles.empty", "energy.wattch.empty", ENERGY_WATT},

    {ENERGY_CONSTANT, NULL, "energy.wattch.constant", ENERGY_WATT},
};

const struct energy_table gpu_energy = ENERGY_TABLE(common);

const struct gpu_account gpu_accounts[GPU_ACCOUNTS] = {
    [ENERGY_PHYSICAL] = {"energy", "energy", ENERGY_TABLE(physical)},
    [ENERGY_GPUWATTCH] = {"gpuwattch", "energy as GPUWattch accounts for it", ENERGY_TABLE(gpuwattch)},
};

struct energy_spec gpu_energy_spec(const struct gpu_config *cfg, enum gpu_energy_account account) {
    const double mhz = 1e6;
    return (struct energy_spec){
        .key = gpu_accounts[account].key,
        .title = gpu_accounts[account].title,
        .parts = gpu_parts,
        .nparts = ENERGY_PARTS,
        .scale = cfg->energy_scale,
        .burst_bits = (double)cfg->dram_bus / cfg->l2_partitions * cfg->dram_burst, /* of one channel */
        .hz = cfg->clock_sm * mhz,
    };
}
