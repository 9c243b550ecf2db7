/* The interconnect: one network for requests (SMs to L2 partitions), one for replies (back).
 *
 * Each is a crossbar. A packet waits in the queue of its input port until it is the oldest for its output,
 * both ports are free and the output's buffer has room; it then holds both ports for as long as its bytes
 * take, and comes out after the latency. Outputs take turns among inputs. Time is counted in ticks of the
 * interconnect's clock. */
#ifndef REPRISE_MEM_ICNT_H
#define REPRISE_MEM_ICNT_H

#include "mem/mem.h"
#include "sim/pool.h"
#include "sim/queue.h"

struct icnt_spec {
    uint32_t inputs, outputs;
    uint32_t input_bytes, output_bytes; /* a port moves in one tick */
    uint32_t header;                    /* bytes each packet has beside its data */
    uint32_t latency;                   /* ticks until a packet's first bytes are out; at least 1 */
    uint32_t input_queue, output_queue; /* packets */
    /* The clock of the network, if each output gives away one packet in every core cycle, as soon as it is
     * out: then it is known of every packet when it leaves. NULL: whoever stands there decides. */
    const struct clock *gives;
};

/* A packet that comes out. at: the tick in which it is out, or the core cycle in which it is given away. */
struct icnt_packet {
    struct mem_packet packet;
    uint64_t at;
};

/* What a network carries. */
struct icnt_counters { /* in words: mem/counters.c */
    uint64_t packets, bytes, input_busy, output_busy, wait;
};

struct icnt;

struct icnt *icnt_create(struct arena *a, const struct icnt_spec *s);
bool icnt_has_room(const struct icnt *n, uint32_t input);
/* Somebody waits for room at an input, which has none. */
void icnt_await_room(struct icnt *n, uint32_t input);
/* The inputs of those who waited and now have room; who looks at one removes it. */
struct bits *icnt_roomy(struct icnt *n);
/* Queues a packet, which takes part from tick now on. */
void icnt_push(struct icnt *n, uint64_t now, uint32_t input, uint32_t output, const struct mem_packet *p);
void icnt_tick(struct icnt *n, uint64_t now);
/* The next tick with something to do for icnt_tick. */
uint64_t icnt_next(const struct icnt *n);
/* Offers the oldest packet of each output, if it has come out by now, to take, in the order of the outputs.
 * Those for which it returns true leave; where it returns false, nothing is offered until icnt_offer says so.
 * now, and the result of icnt_ready_at: as struct icnt_packet has at.
 */
typedef bool icnt_take(void *ctx, uint32_t output, const struct mem_packet *p);
void icnt_deliver(struct icnt *n, uint64_t now, icnt_take *take, void *ctx);
/* What was refused may be taken now. */
void icnt_offer(struct icnt *n, uint32_t output);
/* When icnt_deliver finds something at the earliest; NEVER when the outputs are empty. */
uint64_t icnt_ready_at(const struct icnt *n);
/* A tick, from now on, before which an input without room does not begin to move a packet, which makes some.
 */
uint64_t icnt_moves_at(const struct icnt *n, uint32_t input, uint64_t now);
/* Looks ahead, changing nothing: which inputs begin to move packets in ticks from now on and before end, as
 * far as that does not depend on packets that are not there yet, or on when others are taken out. An input
 * may get one of those from tick fresh_at[input] on, if its queue has room; end: at most latency ticks away.
 * Returns the first tick of which it is not sure. */
uint64_t icnt_foresee(struct icnt *n, uint64_t now, uint64_t end, const uint64_t *fresh_at);
/* What that found of an input: ticks, ascending, each of which makes room for one packet. */
struct icnt_moves {
    const uint64_t *at;
    uint32_t n;
};
struct icnt_moves icnt_foreseen(const struct icnt *n, uint32_t input);
/* Packets for which the queue of an input has room. */
uint32_t icnt_room(const struct icnt *n, uint32_t input);
/* The packets of an output are numbered as they come, from 0 on: how many there were, and how many of them
 * have left. Those between can be looked at, also while others come. */
uint32_t icnt_came(const struct icnt *n, uint32_t output);
uint32_t icnt_left(const struct icnt *n, uint32_t output);
const struct icnt_packet *icnt_packet(const struct icnt *n, uint32_t output, uint32_t number);
/* Where packets are given away: those of an output that were before a core cycle need not be offered. */
void icnt_gave(struct icnt *n, uint32_t output, uint64_t cycle);
/* Whether packets wait at an input. */
bool icnt_waits(const struct icnt *n);
bool icnt_idle(const struct icnt *n);
const struct icnt_counters *icnt_counters(const struct icnt *n);

#endif
