/* The parameters of a simulated CPU: what its cores, caches and memory are. The defaults, and
 * configs/cpu/hpi.yaml, are ARM's high-performance in-order core (HPI) as AxMemo's authors simulated it. */
#ifndef REPRISE_CPU_CONFIG_H
#define REPRISE_CPU_CONFIG_H

#include "cfg/config.h"

#define CPU_DEFAULT "hpi"

struct cpu_config {
    param_string name;
    int32_t cores, clock, quantum;
    /* front end */
    int32_t fetch_width, fetch_ahead, fetch_depth, fetch_taken, fetch_redirect;
    int32_t predict_local, predict_global, predict_btb, predict_ras;
    /* issue */
    int32_t issue_width, issue_alus, issue_loads, issue_stores;
    /* results: cycles from issue to their being complete */
    int32_t latency_alu, latency_mul, latency_madd, latency_div, latency_fp, latency_fdiv_single,
        latency_fdiv_double, latency_load;
    int32_t div_bits;
    /* cycles before that in which an operand may be taken over */
    int32_t forward_alu, forward_flags, forward_fp, forward_simd, forward_fma, forward_addend,
        forward_address;
    /* memory */
    int32_t tlb_entries, tlb_walk;
    int32_t line;
    uint64_t l1i_size, l1d_size, l2_size;
    int32_t l1i_ways, l1i_latency, l1i_mshrs, l1d_ways, l1d_latency, l1d_mshrs, l2_ways, l2_latency, l2_mshrs;
    int32_t prefetch_degree, prefetch_entries;
    int32_t dram_channels, dram_clock, dram_interleave, dram_banks, dram_queue, dram_latency;
    uint64_t dram_row;
    int32_t dram_rcd, dram_rp, dram_ras, dram_rc, dram_rrd, dram_faw, dram_cl, dram_wl, dram_wr, dram_wtr,
        dram_rtp;
    /* memoization */
    uint64_t memo_l1, memo_l2;
    bool memo_truncate, memo_apart;
    int32_t memo_sample, memo_window, memo_bad, memo_epoch_bits, memo_direct, memo_lookup, memo_update,
        memo_queue, memo_crc_bytes;
    double memo_error;
    /* energy: picojoules, and watts for power */
    double energy_scale, energy_fetch, energy_decode, energy_issue, energy_predict, energy_tlb, energy_read,
        energy_write, energy_alu, energy_mul, energy_div, energy_fadd, energy_fmul, energy_fma, energy_fdiv,
        energy_simd, energy_l1i, energy_l1d, energy_l1d_fill, energy_store, energy_l2, energy_mc,
        energy_dram_activate, energy_dram_bit, energy_clock, energy_static, energy_memo_crc, energy_memo_hash,
        energy_memo_lut, energy_memo_monitor;
};

extern const struct param_table cpu_params;

#endif
