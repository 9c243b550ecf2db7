/* The memory system a configuration describes. */
#include "gpu/mem_spec.h"

/* Lines of a cache of so many bytes. */
static struct tags_spec tags(const struct gpu_config *c, uint64_t size, int32_t ways) {
    return (struct tags_spec){.sets = (uint32_t)(size / ((uint64_t)ways * c->cache_line)),
                              .ways = (uint32_t)ways,
                              .replacement = REPLACE_LRU,
                              .line = (uint32_t)c->cache_line};
}

static enum replacement replacement(enum config_replacement r) {
    static const enum replacement of[] = {[CFG_REPLACE_LRU] = REPLACE_LRU, [CFG_REPLACE_FIFO] = REPLACE_FIFO};
    return of[r];
}

/* The read-only caches differ in numbers only. */
#define READ_ONLY(c, name)                                                                                   \
    ((struct cache_spec){.bank = {.tags = tags(c, (c)->name##_size, (c)->name##_ways),                       \
                                  .mshrs = (uint32_t)(c)->name##_mshrs,                                      \
                                  .merges = (uint32_t)(c)->name##_merges,                                    \
                                  .queue = (uint32_t)(c)->name##_queue},                                     \
                         .latency = (uint32_t)(c)->name##_latency,                                           \
                         .interval = 1})

static struct l1_spec l1(const struct gpu_config *c) {
    static const enum l1_write write_hit[] = {
        [WRITE_HIT_EVICT] = L1_WRITE_EVICT, [WRITE_HIT_UPDATE] = L1_WRITE_UPDATE};
    struct cache_spec cache = READ_ONLY(c, l1);
    cache.bank.tags.hash = c->l1_set_hash;
    cache.bank.tags.replacement = replacement(c->l1_replacement);
    cache.bank.sectored = c->l1_sectored;
    cache.interval = (uint32_t)c->l1_interval;
    cache.stores = (uint32_t)c->l1_stores;
    return (struct l1_spec){cache, c->l1_cache_global, c->l1_local_write_back, write_hit[c->l1_write_hit]};
}

/* One of the two networks. */
static struct icnt_spec icnt(const struct gpu_config *c, int32_t input_bytes, int32_t output_bytes) {
    return (struct icnt_spec){
        .input_bytes = (uint32_t)input_bytes,
        .output_bytes = (uint32_t)output_bytes,
        .header = (uint32_t)c->icnt_header,
        .latency = (uint32_t)c->icnt_latency,
        .input_queue = (uint32_t)c->icnt_in_queue,
        .output_queue = (uint32_t)c->icnt_out_queue,
    };
}

static struct l2_spec l2(const struct gpu_config *c) {
    struct tags_spec lines = tags(c, c->l2_size / (uint64_t)c->l2_partitions, c->l2_ways);
    lines.hash = c->l2_set_hash;
    lines.replacement = replacement(c->l2_replacement);
    return (struct l2_spec){
        .bank = {.tags = lines,
                 .mshrs = (uint32_t)c->l2_mshrs,
                 .merges = (uint32_t)c->l2_merges,
                 .queue = (uint32_t)c->l2_out_queue,
                 .sectored = c->l2_sectored},
        .slices = (uint32_t)c->l2_slices,
        .latency = (uint32_t)c->l2_latency,
        .queue = (uint32_t)c->l2_queue,
        .atomic_lanes = (uint32_t)c->l2_atomic_lanes,
    };
}

static struct dram_timing timing(const struct gpu_config *c) {
#define TICKS(name) .name = (uint32_t)c->dram_timing_t##name
    return (struct dram_timing){TICKS(rcd), TICKS(rp),  TICKS(ras), TICKS(rc),  TICKS(rrd),
                                TICKS(faw), TICKS(cl),  TICKS(wl),  TICKS(ccd), TICKS(ccdl),
                                TICKS(wr),  TICKS(wtr), TICKS(rtp)};
#undef TICKS
}

static struct dram_spec dram(const struct gpu_config *c) {
    uint32_t pins = (uint32_t)(c->dram_bus / c->l2_partitions);
    return (struct dram_spec){
        .banks = (uint32_t)c->dram_banks,
        .groups = (uint32_t)c->dram_groups,
        .line = (uint32_t)c->cache_line,
        .row = (uint32_t)c->dram_row,
        .chunk = (uint32_t)c->dram_chunk,
        .hash = c->dram_hash,
        .burst_bytes = pins * (uint32_t)c->dram_burst / 8,
        .burst_ticks = (uint32_t)(c->dram_burst / c->dram_rate),
        .queue = (uint32_t)c->dram_queue,
        .reads = (uint32_t)c->l2_mshrs * MEM_MAX_SECTORS, /* L2 asks for each sector of a line at most once */
        .write_queue = (uint32_t)c->dram_write_queue,
        .write_high = (uint32_t)c->dram_write_high,
        .write_low = (uint32_t)c->dram_write_low,
        .mixed = c->dram_mixed,
        .starve = (uint32_t)c->dram_starve,
        .latency = (uint32_t)c->dram_latency,
        .t = timing(c),
    };
}

static uint64_t khz(double mhz) {
    return (uint64_t)(mhz * 1000 + 0.5);
}

/* scale: ticks of the clock in which mhz is counted, for den of the core's. */
static struct clock clock_of(const struct gpu_config *c, double mhz, uint32_t scale, uint32_t den) {
    return clock_make(khz(mhz) * scale, khz(c->clock_sm) * den);
}

struct mem_spec mem_spec(const struct gpu_config *c) {
    struct cache_spec inst = READ_ONLY(c, icache), texture = READ_ONLY(c, texcache);
    texture.bank.sectored = c->texcache_sectored;
    inst.more = (uint32_t)c->fetch_groups - 1;
    return (struct mem_spec){
        .sms = (uint32_t)c->device_sms,
        .partitions = (uint32_t)c->l2_partitions,
        .interleave = (uint32_t)c->l2_interleave,
        .hash = c->l2_hash,
        .icnt_clock = clock_of(c, c->clock_icnt, 1, 1),
        .l2_clock = clock_of(c, c->clock_l2, 1, 1),
        .dram_clock = clock_of(c, c->clock_dram, 2, (uint32_t)c->dram_rate),
        .l1 = l1(c),
        .texture = texture,
        .constant = READ_ONLY(c, constcache),
        .inst = inst,
        .request = icnt(c, c->icnt_sm_bytes, c->icnt_l2_bytes),
        .reply = icnt(c, c->icnt_l2_bytes, c->icnt_sm_bytes),
        .l2 = l2(c),
        .dram = dram(c),
    };
}
