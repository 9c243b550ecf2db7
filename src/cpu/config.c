#include "cpu/config.h"

#define AT(member) PARAM_AT(struct cpu_config, member)
#define KIB        1024.0
#define MIB        (1024.0 * KIB)

static const struct param rows[] = {
    {"cpu.name", AT(name), 1, 127, 0, "", "What the processor is called.", .text = "ARM HPI"},
    {"cpu.cores", AT(cores), 1, 2, 2, "cores", "Cores; each runs one program."},
    {"cpu.clock", AT(clock), 1, 10000, 2000, "MHz", "The clock of the cores and caches."},
    {"cpu.quantum", AT(quantum), 1, 100000, 32, "cycles",
     "How far one core's clock may be ahead of the other's."},

    {"fetch.width", AT(fetch_width), 1, 4, 2, "instructions",
     "Instructions that fetch and decode hand on in a cycle."},
    {"fetch.ahead", AT(fetch_ahead), 2, 64, 20, "instructions",
     "Instructions that wait between fetch and issue, at most."},
    {"fetch.depth", AT(fetch_depth), 1, 16, 2, "cycles",
     "From the arrival of an instruction to its issue, at least."},
    {"fetch.taken", AT(fetch_taken), 0, 16, 2, "cycles",
     "Cycles in which nothing arrives behind a branch that was rightly predicted to be taken."},
    {"fetch.redirect", AT(fetch_redirect), 1, 32, 3, "cycles",
     "From the end of a wrongly predicted branch to the arrival of what follows it."},
    {"predict.local", AT(predict_local), 2, 65536, 64, "entries",
     "Local histories of branches, and the counters they choose."},
    {"predict.global", AT(predict_global), 2, 65536, 1024, "entries",
     "Counters chosen by the global history, and those that choose."},
    {"predict.btb", AT(predict_btb), 2, 65536, 128, "entries", "Branch targets."},
    {"predict.ras", AT(predict_ras), 1, 64, 8, "entries", "Return addresses."},

    {"issue.width", AT(issue_width), 1, 4, 2, "instructions", "Instructions issued in a cycle, in order."},
    {"issue.alus", AT(issue_alus), 1, 4, 2, "units",
     "Units for integers and branches. Of all others there is one."},
    {"issue.loads", AT(issue_loads), 1, 8, 2, "loads", "Loads that may miss at the same time."},
    {"issue.stores", AT(issue_stores), 1, 16, 5, "stores", "Stores that may wait for their lines."},

    {"latency.alu", AT(latency_alu), 1, 100, 3, "cycles",
     "From issue to the result of integer operations. Who takes it over earlier: forward.*."},
    {"latency.mul", AT(latency_mul), 1, 100, 3, "cycles", "Long multiplication."},
    {"latency.madd", AT(latency_madd), 1, 100, 4, "cycles", "Multiplication and addition of one width."},
    {"latency.div", AT(latency_div), 1, 100, 3, "cycles",
     "Division, beside what its bits take; nothing else is divided meanwhile."},
    {"latency.div_bits", AT(div_bits), 1, 64, 4, "bits", "Bits of a quotient in a cycle."},
    {"latency.fp", AT(latency_fp), 1, 100, 6, "cycles", "Floating point and Advanced SIMD."},
    {"latency.fdiv_single", AT(latency_fdiv_single), 1, 100, 15, "cycles",
     "Division and square root, single precision; the unit does nothing else meanwhile."},
    {"latency.fdiv_double", AT(latency_fdiv_double), 1, 100, 24, "cycles", "The same, double precision."},
    {"latency.load", AT(latency_load), 1, 100, 4, "cycles",
     "Loads that hit, with a data cache of one cycle."},
    {"forward.alu", AT(forward_alu), 0, 100, 2, "cycles",
     "Integer operations take an operand so long before it is complete."},
    {"forward.flags", AT(forward_flags), 0, 100, 3, "cycles",
     "The same for flags that conditional selection reads."},
    {"forward.fp", AT(forward_fp), 0, 100, 2, "cycles", "The same for floating point."},
    {"forward.simd", AT(forward_simd), 0, 100, 4, "cycles", "The same for vectors of integers."},
    {"forward.fma", AT(forward_fma), 0, 100, 0, "cycles",
     "The same for factors of a fused multiplication and addition."},
    {"forward.addend", AT(forward_addend), 0, 100, 1, "cycles", "The same for its addend."},
    {"forward.address", AT(forward_address), 0, 100, 2, "cycles", "The same for loads and stores."},

    {"tlb.entries", AT(tlb_entries), 4, 4096, 256, "pages",
     "Pages of 4 KB that a translation buffer holds: one for code, one for data."},
    {"tlb.walk", AT(tlb_walk), 0, 1000, 20, "cycles", "To find a page that is not there."},
    {"cache.line", AT(line), 32, 128, 64, "bytes", "Bytes of a line of every cache."},
    {"l1i.size", AT(l1i_size), 1 * KIB, 1 * MIB, 32 * KIB, "bytes", "The instruction cache of a core."},
    {"l1i.ways", AT(l1i_ways), 1, 32, 2, "ways", "Its associativity."},
    {"l1i.latency", AT(l1i_latency), 1, 100, 1, "cycles",
     "Its latency; what is more than one comes on top of fetch.*."},
    {"l1i.mshrs", AT(l1i_mshrs), 1, 64, 2, "lines", "Lines that it may wait for."},
    {"l1d.size", AT(l1d_size), 1 * KIB, 1 * MIB, 32 * KIB, "bytes", "The data cache of a core."},
    {"l1d.ways", AT(l1d_ways), 1, 32, 4, "ways", "Its associativity."},
    {"l1d.latency", AT(l1d_latency), 1, 100, 1, "cycles",
     "Its latency; what is more than one comes on top of latency.load."},
    {"l1d.mshrs", AT(l1d_mshrs), 1, 64, 4, "lines", "Lines that it may wait for."},
    {"l2.size", AT(l2_size), 16 * KIB, 64 * MIB, 1 * MIB, "bytes", "The cache that all cores share."},
    {"l2.ways", AT(l2_ways), 1, 32, 16, "ways", "Its associativity."},
    {"l2.latency", AT(l2_latency), 1, 100, 13, "cycles",
     "From a request to its data, or to what asks memory for it."},
    {"l2.mshrs", AT(l2_mshrs), 1, 64, 16, "lines", "Lines that it may wait for."},
    {"prefetch.degree", AT(prefetch_degree), 0, 16, 4, "lines",
     "Lines that a recognised stride fetches ahead."},
    {"prefetch.entries", AT(prefetch_entries), 1, 1024, 64, "entries", "Loads whose strides are watched."},
    {"dram.channels", AT(dram_channels), 1, 4, 2, "channels", "Channels of memory."},
    {"dram.clock", AT(dram_clock), 1, 10000, 800, "MHz", "Their command clock; twice as many transfers."},
    {"dram.interleave", AT(dram_interleave), 64, 65536, 128, "bytes", "Consecutive bytes in one channel."},
    {"dram.banks", AT(dram_banks), 1, 64, 8, "banks", "Banks of a channel."},
    {"dram.row", AT(dram_row), 256, 65536, 8 * KIB, "bytes", "Bytes of a row."},
    {"dram.queue", AT(dram_queue), 1, 256, 32, "requests", "Requests that wait in a channel, of each kind."},
    {"dram.latency", AT(dram_latency), 0, 1000, 16, "ticks", "What a read takes beside the chips."},
    {"dram.rcd", AT(dram_rcd), 1, 100, 11, "ticks", "Activate to column command."},
    {"dram.rp", AT(dram_rp), 1, 100, 11, "ticks", "Precharge to activate."},
    {"dram.ras", AT(dram_ras), 1, 100, 28, "ticks", "Activate to precharge."},
    {"dram.rc", AT(dram_rc), 1, 100, 39, "ticks", "Activate to activate of the same bank."},
    {"dram.rrd", AT(dram_rrd), 1, 100, 5, "ticks", "Activate to activate of any bank."},
    {"dram.faw", AT(dram_faw), 1, 100, 24, "ticks", "Activate to the fourth after it."},
    {"dram.cl", AT(dram_cl), 1, 100, 11, "ticks", "Read to data."},
    {"dram.wl", AT(dram_wl), 1, 100, 8, "ticks", "Write to data."},
    {"dram.wr", AT(dram_wr), 1, 100, 12, "ticks", "End of written data to precharge."},
    {"dram.wtr", AT(dram_wtr), 1, 100, 6, "ticks", "End of written data to read."},
    {"dram.rtp", AT(dram_rtp), 1, 100, 6, "ticks", "Read to precharge."},

    {"memo.l1", AT(memo_l1), 0, 64 * KIB, 0, "bytes",
     "The table of results beside each core; 0: there is no memoization unit."},
    {"memo.l2", AT(memo_l2), 0, 64 * MIB, 0, "bytes",
     "The table in ways of L2, which hold no lines then; 0: none."},
    {"memo.truncate", AT(memo_truncate), 0, 1, 1, "", "Inputs lose the low bits that programs say."},
    {"memo.sample", AT(memo_sample), 0, 1e6, 100, "hits",
     "Of so many hits one is told as a miss, to compare results; 0: none."},
    {"memo.window", AT(memo_window), 1, 1e6, 100, "comparisons", "After so many a table is judged."},
    {"memo.bad", AT(memo_bad), 0, 1e6, 10, "comparisons",
     "If more of them are bad, memoization is off for the rest of the run."},
    {"memo.apart", AT(memo_apart), 0, 1, 0, "", "Only the table that was judged is switched off."},
    {"memo.error", AT(memo_error), 0, 100, 0.1, "", "A bad one has a larger relative error."},
    {"memo.epoch_bits", AT(memo_epoch_bits), 1, 16, 4, "bits",
     "Bits of an entry that tell whether its table was invalidated since."},
    {"memo.direct", AT(memo_direct), 0, 28, 0, "bits",
     "Tables are as those of software, 2 to this power of entries that the CRC chooses and nothing tells "
     "apart; 0: they are not."},
    {"memo.lookup", AT(memo_lookup), 1, 100, 2, "cycles",
     "A look-up beside the core; one in L2 takes l2.latency more."},
    {"memo.update", AT(memo_update), 1, 100, 2, "cycles", "An update."},
    {"memo.queue", AT(memo_queue), 1, 32, 8, "inputs", "Inputs that wait for the CRC unit."},
    {"memo.crc_bytes", AT(memo_crc_bytes), 1, 8, 4, "bytes",
     "Bytes that the CRC unit takes in a cycle. Each byte also takes a cycle until it is in the hash."},

    {"energy.scale", AT(energy_scale), 0.01, 100, 0.6, "",
     "From the process of the figures, 45 nm, to the chip's, 32 nm."},
    {"energy.fetch", AT(energy_fetch), 0, 1e6, 5, "pJ",
     "An instruction on its way from the instruction cache to decode."},
    {"energy.decode", AT(energy_decode), 0, 1e6, 20, "pJ", "Decoding an instruction."},
    {"energy.issue", AT(energy_issue), 0, 1e6, 18, "pJ", "Its way through issue, bypass and end."},
    {"energy.predict", AT(energy_predict), 0, 1e6, 4, "pJ", "A prediction, and its correction."},
    {"energy.tlb", AT(energy_tlb), 0, 1e6, 4, "pJ", "A look into a translation buffer."},
    {"energy.read", AT(energy_read), 0, 1e6, 2, "pJ", "A register read."},
    {"energy.write", AT(energy_write), 0, 1e6, 2, "pJ", "A register written."},
    {"energy.alu", AT(energy_alu), 0, 1e6, 0.5, "pJ", "An integer operation."},
    {"energy.mul", AT(energy_mul), 0, 1e6, 6, "pJ", "An integer multiplication."},
    {"energy.div", AT(energy_div), 0, 1e6, 20, "pJ", "An integer division."},
    {"energy.fadd", AT(energy_fadd), 0, 1e6, 2, "pJ", "A floating-point addition, comparison or conversion."},
    {"energy.fmul", AT(energy_fmul), 0, 1e6, 8, "pJ", "A floating-point multiplication."},
    {"energy.fma", AT(energy_fma), 0, 1e6, 10, "pJ", "A fused multiplication and addition."},
    {"energy.fdiv", AT(energy_fdiv), 0, 1e6, 60, "pJ", "A floating-point division or square root."},
    {"energy.simd", AT(energy_simd), 0, 1e6, 4, "pJ", "An operation on vectors of integers."},
    {"energy.l1i", AT(energy_l1i), 0, 1e6, 80, "pJ", "Reading a line of the instruction cache."},
    {"energy.l1d", AT(energy_l1d), 0, 1e6, 20, "pJ", "A load from the data cache, or a store to it."},
    {"energy.l1d_fill", AT(energy_l1d_fill), 0, 1e6, 80, "pJ",
     "A line that comes to a data or instruction cache, or leaves it."},
    {"energy.store", AT(energy_store), 0, 1e6, 2, "pJ", "A store in the store buffer."},
    {"energy.l2", AT(energy_l2), 0, 1e6, 400, "pJ", "A line read from L2 or written to it."},
    {"energy.mc", AT(energy_mc), 0, 1e6, 200, "pJ", "A request to the memory controller."},
    {"energy.dram_activate", AT(energy_dram_activate), 0, 1e6, 2000, "pJ", "Opening a row of memory."},
    {"energy.dram_bit", AT(energy_dram_bit), 0, 1e6, 20, "pJ", "A bit read from memory or written to it."},
    {"energy.clock", AT(energy_clock), 0, 1e3, 0.02, "W", "The clock of a core that executes."},
    {"energy.static", AT(energy_static), 0, 1e3, 0.15, "W", "Leakage of the processor."},
    {"energy.memo_crc", AT(energy_memo_crc), 0, 1e6, 2.9143, "pJ",
     "Four bytes through the CRC unit, at 32 nm."},
    {"energy.memo_hash", AT(energy_memo_hash), 0, 1e6, 0.2634, "pJ",
     "An access to a hash register, at 32 nm."},
    {"energy.memo_lut", AT(energy_memo_lut), 0, 1e6, 4.4221, "pJ",
     "An access to the table beside the core, at 32 nm."},
    {"energy.memo_monitor", AT(energy_memo_monitor), 0, 1e3, 7.5e-6, "W", "The comparison of results."},
};

static bool is_power_of_two(uint64_t v) {
    return v && !(v & (v - 1));
}

/* Sets must be a power of two. */
static void check(const void *values, param_fault *fault, void *ctx) {
    const struct cpu_config *c = values;
#define AND(a, b) offsetof(struct cpu_config, a), offsetof(struct cpu_config, b)
    if (!is_power_of_two((uint64_t)c->line))
        fault(ctx, AND(line, line), "is not a power of two:");
    else {
        if (!is_power_of_two(c->l1i_size / (uint64_t)(c->line * c->l1i_ways)) ||
            c->l1i_size % (uint64_t)(c->line * c->l1i_ways))
            fault(ctx, AND(l1i_size, l1i_ways), "does not give a power of two of sets with");
        if (!is_power_of_two(c->l1d_size / (uint64_t)(c->line * c->l1d_ways)) ||
            c->l1d_size % (uint64_t)(c->line * c->l1d_ways))
            fault(ctx, AND(l1d_size, l1d_ways), "does not give a power of two of sets with");
        if (!is_power_of_two(c->l2_size / (uint64_t)(c->line * c->l2_ways)) ||
            c->l2_size % (uint64_t)(c->line * c->l2_ways))
            fault(ctx, AND(l2_size, l2_ways), "does not give a power of two of sets with");
        if (c->dram_interleave % c->line)
            fault(ctx, AND(dram_interleave, line), "is not a multiple of");
    }
    if (c->dram_row % (uint64_t)c->dram_interleave)
        fault(ctx, AND(dram_row, dram_interleave), "is not a multiple of");
    if (c->memo_l1 && (!is_power_of_two(c->memo_l1) || c->memo_l1 < 64))
        fault(ctx, AND(memo_l1, memo_l1), "is not a power of two of sets of 64 bytes:");
    if (c->memo_l2 && (!c->memo_l1 || c->memo_l2 < c->memo_l1))
        fault(ctx, AND(memo_l2, memo_l1), "cannot hold");
    if (c->memo_l2 && (!is_power_of_two(c->memo_l2) || c->memo_l2 * (uint64_t)c->l2_ways % c->l2_size ||
                       c->memo_l2 >= c->l2_size))
        fault(ctx, AND(memo_l2, l2_size), "is not a power of two of ways of");
    if (!is_power_of_two((uint64_t)c->predict_local))
        fault(ctx, AND(predict_local, predict_local), "is not a power of two:");
    if (!is_power_of_two((uint64_t)c->predict_global))
        fault(ctx, AND(predict_global, predict_global), "is not a power of two:");
    if (!is_power_of_two((uint64_t)c->predict_btb))
        fault(ctx, AND(predict_btb, predict_btb), "is not a power of two:");
    if (!is_power_of_two((uint64_t)c->tlb_entries))
        fault(ctx, AND(tlb_entries, tlb_entries), "is not a power of two:");
#undef AND
}

const struct param_table cpu_params = PARAM_TABLE(struct cpu_config, rows, check);
