#include "core/spec.h"

/* Cycles a unit with this many lanes needs for a warp. */
static uint32_t interval(int32_t lanes) {
    return (uint32_t)(WARP_LANES / lanes);
}

struct core_spec core_spec(const struct gpu_config *c) {
    return (struct core_spec){
        .warps = (uint32_t)c->sm_warps,
        .blocks = (uint32_t)c->sm_blocks,
        .registers = (uint32_t)c->sm_registers / WARP_LANES,
        .schedulers = (uint32_t)c->issue_schedulers,
        .width = (uint32_t)c->issue_width,
        .policy = (enum core_sched)c->issue_policy,
        .active = (uint32_t)c->issue_active,
        .ibuffer = (uint32_t)c->fetch_buffer,
        .fetch_groups = (uint32_t)c->fetch_groups,
        .fetch_width = (uint32_t)c->fetch_width,
        .decode = (uint32_t)c->fetch_decode,
        .banks = (uint32_t)c->rf_banks,
        .collectors = {[COLLECT_SP] = (uint32_t)c->rf_collectors,
                       [COLLECT_SFU] = (uint32_t)c->rf_collectors_sfu,
                       [COLLECT_MEM] = (uint32_t)c->rf_collectors_mem},
        .collector_ports = (uint32_t)c->rf_collector_ports,
        .dual_port = c->rf_dual_port,
        .mapping = c->rf_mapping == RF_WID ? MAP_WID : MAP_WSHIFT,
        .units =
            {
                [UNIT_SP] = {(uint32_t)c->unit_sp, interval(c->unit_sp_lanes)},
                [UNIT_SFU] = {(uint32_t)c->unit_sfu, interval(c->unit_sfu_lanes)},
                [UNIT_DP] = {(uint32_t)c->unit_dp, interval(c->unit_dp_lanes)},
                [UNIT_TENSOR] = {(uint32_t)c->unit_tensor, (uint32_t)c->unit_tensor_least},
                [UNIT_MEM] = {(uint32_t)c->unit_mem, interval(c->unit_mem_lanes)},
                [UNIT_TEX] = {(uint32_t)c->unit_tex, interval(c->unit_tex_lanes)},
            },
        .latency =
            {
                [LAT_MOV] = (uint32_t)c->latency_mov,
                [LAT_ALU] = (uint32_t)c->latency_alu,
                [LAT_IMUL] = (uint32_t)c->latency_imul,
                [LAT_FP] = (uint32_t)c->latency_fp,
                [LAT_SFU] = (uint32_t)c->latency_sfu,
                [LAT_DP] = (uint32_t)c->latency_dp,
                [LAT_CVT] = (uint32_t)c->latency_cvt,
                [LAT_MMA] = (uint32_t)c->latency_mma,
                [LAT_MOVM] = (uint32_t)c->latency_movm,
                [LAT_MEMORY] = (uint32_t)c->latency_shared,
                [LAT_CONST] = (uint32_t)c->constcache_latency,
                [LAT_TEX] = (uint32_t)c->latency_texture,
                [LAT_CTRL] = (uint32_t)c->latency_ctrl,
            },
        .tensor =
            {
                .f16 = (uint32_t)c->unit_tensor_f16,
                .f64 = (uint32_t)c->unit_tensor_f64,
                .step = (uint32_t)c->latency_mma_step,
                .double_latency = (uint32_t)c->latency_dmma,
                .double_step = (uint32_t)c->latency_dmma_step,
            },
        .shared_latency = (uint32_t)c->latency_shared,
        .remote_latency = (uint32_t)c->latency_remote,
        .cluster_latency = (uint32_t)c->latency_cluster,
        .lsu_queue = (uint32_t)c->unit_mem_queue,
        .coalescer = {.split_wide = c->coalescer_split_wide, .line = (uint32_t)c->cache_line},
        .sleep = true,
    };
}
