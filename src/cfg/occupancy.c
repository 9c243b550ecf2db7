/* What fits: occupancy of an SM, and the figures programs are told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cfg/gpu.h"
#include "reprise.h"

static uint64_t round_up(uint64_t n, uint64_t unit) {
    return (n + unit - 1) / unit * unit;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Blocks that the register file can hold. Warps get registers in whole units, and the file is split into
 * sm_warp_unit parts among which a block's warps go round, so only whole rounds of warps count. */
static uint64_t blocks_by_registers(const struct gpu_config *c, uint64_t warps, uint32_t regs) {
    if (!regs)
        return UINT64_MAX;
    uint64_t parts = (uint64_t)c->sm_warp_unit;
    uint64_t per_warp = round_up((uint64_t)regs * CONFIG_WARP_SIZE, (uint64_t)c->sm_register_unit);
    if (round_up(warps, parts) * per_warp > (uint64_t)c->block_registers)
        return 0;
    return (uint64_t)c->sm_registers / per_warp / parts * parts / warps;
}

static uint64_t blocks_by_shared(const struct gpu_config *c, uint32_t shared) {
    if (shared > c->block_shared_optin)
        return 0;
    uint64_t per_block = round_up(shared + c->block_shared_reserved, c->sm_shared_unit);
    return per_block ? c->sm_shared / per_block : UINT64_MAX;
}

int config_occupancy(const struct gpu_config *c, uint32_t threads, uint32_t regs, uint32_t shared) {
    if (!threads || threads > (uint32_t)c->block_threads || regs > (uint32_t)c->thread_registers)
        return 0;
    uint64_t warps = (threads + CONFIG_WARP_SIZE - 1) / CONFIG_WARP_SIZE;
    uint64_t blocks = least((uint64_t)c->sm_blocks, (uint64_t)c->sm_warps / warps);
    blocks = least(blocks, blocks_by_registers(c, warps, regs));
    return (int)least(blocks, blocks_by_shared(c, shared));
}

uint32_t config_gpc(const struct gpu_config *c, uint32_t k) {
    const char *at = c->device_gpcs;
    uint64_t left = (uint64_t)c->device_sms, size = 0;
    for (uint32_t i = 0; left; i++) {
        char *end;
        unsigned long next = strtoul(at, &end, 10);
        if (end != at)
            size = next;
        if (!size || size > 1024 || (*end && *end != ' ') || (end == at && *at))
            return 0;
        at = end;
        if (i == k)
            return (uint32_t)least(size, left);
        left -= least(size, left);
    }
    return 0;
}

int config_clusters(const struct gpu_config *c, uint32_t per_sm, uint32_t blocks) {
    uint64_t n = 0;
    per_sm = (uint32_t)least(per_sm, CLUSTER_PER_SM);
    for (uint32_t k = 0, size; (size = config_gpc(c, k)); k++)
        if (size >= blocks)
            n += (uint64_t)size * per_sm / blocks;
    return (int)n;
}

void config_info(const struct gpu_config *c, struct rp_gpu_info *info) {
    *info = (struct rp_gpu_info){
        .cc_major = c->device_cc / 10,
        .cc_minor = c->device_cc % 10,
        .sms = c->device_sms,
        .warp_size = CONFIG_WARP_SIZE,
        .max_threads_per_block = c->block_threads,
        .max_threads_per_sm = c->sm_threads,
        .max_blocks_per_sm = c->sm_blocks,
        .max_block = {c->block_x, c->block_y, c->block_z},
        .max_grid = {c->grid_x, c->grid_y, c->grid_z},
        .regs_per_block = c->block_registers,
        .regs_per_sm = c->sm_registers,
        .max_regs_per_thread = c->thread_registers,
        .shared_per_block = c->block_shared,
        .shared_per_block_optin = c->block_shared_optin,
        .shared_per_sm = c->sm_shared,
        .shared_reserved_per_block = c->block_shared_reserved,
        .const_bytes = c->const_size,
        .total_mem = c->dram_size,
        .l2_bytes = c->l2_size,
        .clock_khz = (int)(c->clock_sm * 1000 + 0.5),
        .mem_clock_khz = (int)(c->clock_dram * 1000 + 0.5),
        .mem_bus_bits = c->dram_bus,
    };
    snprintf(info->name, sizeof info->name, "%s", c->device_name);
}
