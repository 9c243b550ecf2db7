/* A crossbar with input queues and output buffers. Packets of one input for different outputs do not wait for
 * one another. Only outputs for which a packet waits, and only inputs at which it does, are looked at. */
#include "mem/icnt.h"

#include "base/often.h"

struct waiting {
    struct mem_packet packet;
    uint64_t since;
};

/* Packets of one input for one output, oldest first. */
struct lane {
    uint32_t first, last;
};

struct input {
    struct waiting *packet;
    struct pool pool; /* of packets; next of one in use: in the same lane */
    struct lane *lane;
};

struct output {
    QUEUE(struct icnt_packet) queue;
    uint64_t free_at;
    uint64_t gives_from; /* the first core cycle in which no packet that came is given away */
    uint32_t turn;       /* the input that is asked first */
    struct bits inputs;  /* with packets for this output */
    uint64_t *since;     /* of the oldest packet of each of them */
};

/* A lane as it is foreseen, if epoch is that of the look ahead; else as it is. */
struct lane_ahead {
    uint32_t first, epoch;
};

struct input_ahead {
    uint64_t free_at, fresh_at;
    struct lane_ahead *lane;
    uint64_t *moves; /* ticks */
    uint32_t nmoves;
};

struct output_ahead {
    uint64_t free_at;
    uint32_t turn, len;
};

/* What is foreseen. */
struct ahead {
    struct input_ahead *in;
    struct output_ahead *out;
    uint32_t epoch;
    struct bits unsure; /* inputs that may have packets which are not known */
};

struct port_ticks {
    uint32_t in, out;
};

enum { PACKET_SIZES = MEM_MAX_LINE + 1 }; /* bytes of data for which ticks are kept */

/* Where the packets of an output lie, by their number and this mask. */
struct shelf {
    const struct icnt_packet *at;
    uint32_t mask;
};

struct icnt {
    struct icnt_spec spec;
    bool small; /* sets of inputs and of outputs are one word each */
    struct input *in;
    uint64_t *free_at; /* of each input */
    struct output *out;
    struct shelf *shelf; /* of each output; others may look there while the network is at work */
    uint64_t *look_at;   /* until this tick no packet can go to an output, unless one comes or leaves */
    uint64_t *head_at;   /* at of the oldest packet of each output; NEVER: there is none */
    struct port_ticks ticks[PACKET_SIZES];
    _Alignas(64) struct bits wanted; /* outputs for which packets wait */
    struct bits offered;             /* outputs with packets ... */
    struct bits refused;             /* ... and those whose oldest nobody takes for now */
    struct bits starved;             /* inputs for which somebody waits for room ... */
    struct bits roomy;               /* ... and those where there was some */
    uint64_t out_at;                 /* the first of head_at */
    uint64_t next;
    struct icnt_counters n;
    struct ahead ahead;
};

static void create_ahead(struct icnt *n, struct arena *a) {
    const struct icnt_spec *s = &n->spec;
    n->ahead.in = arena_array(a, struct input_ahead, s->inputs);
    n->ahead.out = arena_array(a, struct output_ahead, s->outputs);
    for (uint32_t i = 0; i < s->inputs; i++) {
        n->ahead.in[i].lane = arena_array(a, struct lane_ahead, s->outputs);
        n->ahead.in[i].moves = arena_array(a, uint64_t, s->latency);
    }
    bits_init(&n->ahead.unsure, a, s->inputs);
}

static uint32_t ticks_for(uint32_t bytes, uint32_t width) {
    return bytes <= width ? 1 : (bytes + width - 1) / width;
}

struct icnt *icnt_create(struct arena *a, const struct icnt_spec *s) {
    assert(s->latency && s->input_bytes && s->output_bytes && s->inputs && s->outputs);
    struct icnt *n = arena_new(a, struct icnt);
    n->spec = *s;
    n->next = n->out_at = NEVER;
    n->in = arena_array(a, struct input, s->inputs);
    n->free_at = arena_array(a, uint64_t, s->inputs);
    n->out = arena_array(a, struct output, s->outputs);
    n->shelf = arena_array(a, struct shelf, s->outputs);
    n->look_at = arena_array(a, uint64_t, s->outputs);
    n->head_at = arena_array(a, uint64_t, s->outputs);
    for (uint32_t i = 0; i < s->inputs; i++) {
        n->in[i].packet = arena_array(a, struct waiting, s->input_queue);
        pool_init(&n->in[i].pool, a, s->input_queue);
        n->in[i].lane = arena_array(a, struct lane, s->outputs);
        for (uint32_t o = 0; o < s->outputs; o++)
            n->in[i].lane[o] = (struct lane){NO_SLOT, NO_SLOT};
    }
    for (uint32_t i = 0; i < s->outputs; i++) {
        queue_init(&n->out[i].queue, a, s->output_queue);
        n->shelf[i] = (struct shelf){n->out[i].queue.at, n->out[i].queue.mask};
        bits_init(&n->out[i].inputs, a, s->inputs);
        n->out[i].since = arena_array(a, uint64_t, s->inputs);
        n->head_at[i] = n->look_at[i] = NEVER;
    }
    bits_init(&n->wanted, a, s->outputs);
    bits_init(&n->offered, a, s->outputs);
    bits_init(&n->refused, a, s->outputs);
    bits_init(&n->starved, a, s->inputs);
    bits_init(&n->roomy, a, s->inputs);
    n->small = s->inputs <= 64 && s->outputs <= 64;
    for (uint32_t bytes = 0; bytes < PACKET_SIZES; bytes++)
        n->ticks[bytes] = (struct port_ticks){ticks_for(bytes + s->header, s->input_bytes),
                                              ticks_for(bytes + s->header, s->output_bytes)};
    create_ahead(n, a);
    return n;
}

bool icnt_has_room(const struct icnt *n, uint32_t input) {
    return !pool_full(&n->in[input].pool);
}

void icnt_await_room(struct icnt *n, uint32_t input) {
    assert(pool_full(&n->in[input].pool));
    bits_add(&n->starved, input);
}

struct bits *icnt_roomy(struct icnt *n) {
    return &n->roomy;
}

/* An output may have something to choose from tick at on. */
static void look_from(struct icnt *n, uint32_t output, uint64_t at) {
    n->look_at[output] = min_u64(n->look_at[output], at);
    n->next = min_u64(n->next, at);
}

EVERY_TIME void icnt_push(struct icnt *n, uint64_t now, uint32_t input, uint32_t output,
                          const struct mem_packet *p) {
    struct input *in = &n->in[input];
    struct lane *l = &in->lane[output];
    uint32_t i = pool_take(&in->pool);
    in->packet[i].packet = *p;
    in->packet[i].since = now;
    if (l->first == NO_SLOT) {
        l->first = i;
        n->out[output].since[input] = now;
        bits_add(&n->out[output].inputs, input);
        bits_add(&n->wanted, output);
        look_from(n, output, max_u64(now, max_u64(n->free_at[input], n->out[output].free_at)));
    } else {
        in->pool.next[l->last] = i;
    }
    l->last = i;
}

/* Ticks for which a packet with so many bytes of data holds an input, or an output. */
static inline struct port_ticks ticks_of(const struct icnt *n, uint32_t bytes) {
    if (bytes < PACKET_SIZES)
        return n->ticks[bytes];
    bytes += n->spec.header;
    return (struct port_ticks){ticks_for(bytes, n->spec.input_bytes), ticks_for(bytes, n->spec.output_bytes)};
}

/* Starts the transfer of the oldest packet of an input for an output. */
static EVERY_TIME void transfer(struct icnt *n, uint64_t now, uint32_t input, uint32_t output) {
    struct input *in = &n->in[input];
    struct output *out = &n->out[output];
    struct lane *l = &in->lane[output];
    uint32_t i = l->first;
    const struct waiting *w = &in->packet[i];
    uint32_t bytes = w->packet.bytes + n->spec.header;
    struct port_ticks t = ticks_of(n, w->packet.bytes);
    n->free_at[input] = now + t.in;
    out->free_at = now + t.out;
    out->turn = input + 1 < n->spec.inputs ? input + 1 : 0;
    uint64_t at = now + n->spec.latency + (t.in > t.out ? t.in : t.out) - 1;
    if (n->spec.gives) {
        at = max_u64(out->gives_from, clock_cycle(n->spec.gives, at));
        out->gives_from = at + 1;
    }
    struct icnt_packet *to = queue_add(&out->queue);
    to->packet = w->packet;
    to->at = at;
    if (out->queue.len == 1) {
        n->head_at[output] = at;
        n->out_at = min_u64(n->out_at, at);
        bits_add(&n->offered, output);
    }
    n->n.packets++;
    n->n.bytes += bytes;
    n->n.input_busy += t.in;
    n->n.output_busy += t.out;
    n->n.wait += now - w->since;
    l->first = in->pool.next[i];
    pool_give(&in->pool, i);
    if (n->starved.count && bits_has(&n->starved, input)) {
        bits_remove(&n->starved, input);
        bits_add(&n->roomy, input);
    }
    if (l->first != NO_SLOT) {
        out->since[input] = in->packet[l->first].since;
        return;
    }
    bits_remove(&out->inputs, input);
    if (!out->inputs.count)
        bits_remove(&n->wanted, output);
}

/* A set that is gone through from one member on, then from the smallest: part k of it, as bits of a word. Of
 * small sets there is one part, turned so that the first bit is that of start. */
static inline uint64_t turned_part(const struct bits *b, uint32_t start, uint32_t k, bool small) {
    if (small)
        return b->word[0] >> start | b->word[0] << (-start & 63);
    uint32_t first = start / 64, w = first + k < b->words ? first + k : first + k - b->words;
    uint64_t before = (UINT64_C(1) << start % 64) - 1;
    return w == first ? b->word[w] & (k ? before : ~before) : b->word[w];
}

static inline uint32_t turned_parts(const struct bits *b, bool small) {
    return small ? 1 : b->words + 1;
}

/* The first member in part k. */
static inline uint32_t first_turned(const struct bits *b, uint32_t start, uint32_t k, uint64_t part,
                                    bool small) {
    uint32_t i = (uint32_t)__builtin_ctzll(part);
    if (small)
        return (start + i) % 64;
    uint32_t w = start / 64 + k;
    return (w < b->words ? w : w - b->words) * 64 + i;
}

/* Lets an output choose among the inputs with packets for it: those from turn on go before the others.
 * Returns when to look again, as far as is known. */
static EVERY_TIME uint64_t choose_input(struct icnt *n, uint64_t now, uint32_t output, bool small) {
    struct output *out = &n->out[output];
    const struct bits *inputs = &out->inputs;
    uint32_t turn = out->turn;
    uint64_t next = NEVER;
    for (uint32_t k = 0; k < turned_parts(inputs, small); k++)
        for (uint64_t left = turned_part(inputs, turn, k, small); left; left &= left - 1) {
            uint32_t i = first_turned(inputs, turn, k, left, small);
            uint64_t at = max_u64(n->free_at[i], out->since[i]);
            if (at <= now) {
                transfer(n, now, i, output);
                return inputs->count ? out->free_at : NEVER;
            }
            next = min_u64(next, at);
        }
    return next;
}

/* When an output that is full has room. */
static APART uint64_t room_at(struct icnt *n, uint64_t now, uint32_t output) {
    if (!n->spec.gives) /* someone will take a packet, and say so */
        return NEVER;
    icnt_gave(n, output, clock_cycle(n->spec.gives, now));
    return queue_full(&n->out[output].queue) ? clock_tick(n->spec.gives, n->head_at[output] + 1) : now;
}

/* The same, if the output can take one; else, when it can. */
static EVERY_TIME uint64_t serve(struct icnt *n, uint64_t now, uint32_t output, bool small) {
    const struct output *out = &n->out[output];
    if (out->free_at > now)
        return out->free_at;
    uint64_t room = queue_full(&out->queue) ? room_at(n, now, output) : now;
    return room > now ? room : choose_input(n, now, output, small);
}

/* Outputs take turns in being first to choose: those from start on go before the others. */
static EVERY_TIME void tick_outputs(struct icnt *n, uint64_t now, bool small) {
    uint32_t start = (uint32_t)(now % n->spec.outputs);
    uint64_t next = NEVER, *look_at = n->look_at;
    for (uint32_t k = 0; k < turned_parts(&n->wanted, small); k++)
        for (uint64_t left = turned_part(&n->wanted, start, k, small); left; left &= left - 1) {
            uint32_t o = first_turned(&n->wanted, start, k, left, small);
            if (look_at[o] <= now)
                look_at[o] = serve(n, now, o, small);
            next = min_u64(next, look_at[o]);
        }
    n->next = next;
}

static APART void tick_large(struct icnt *n, uint64_t now) {
    tick_outputs(n, now, false);
}

void icnt_tick(struct icnt *n, uint64_t now) {
    if (n->small)
        tick_outputs(n, now, true);
    else
        tick_large(n, now);
}

uint64_t icnt_next(const struct icnt *n) {
    return n->next;
}

uint64_t icnt_ready_at(const struct icnt *n) {
    return n->out_at;
}

uint32_t icnt_room(const struct icnt *n, uint32_t input) {
    const struct pool *p = &n->in[input].pool;
    return p->size - p->used;
}

uint64_t icnt_moves_at(const struct icnt *n, uint32_t input, uint64_t now) {
    const struct input *in = &n->in[input];
    uint64_t first = NEVER;
    assert(pool_full(&in->pool));
    for (uint32_t o = 0; o < n->spec.outputs && first > now; o++)
        if (in->lane[o].first != NO_SLOT)
            first = min_u64(first, max_u64(n->out[o].free_at, now + queue_full(&n->out[o].queue)));
    return max_u64(max_u64(now, n->free_at[input]), first);
}

/* ---- looking ahead ----------------------------------------------------------------------------------- */

/* The oldest packet of a lane, or NO_SLOT. */
static uint32_t lane_first(const struct icnt *n, uint32_t input, uint32_t output) {
    const struct lane_ahead *l = &n->ahead.in[input].lane[output];
    return l->epoch == n->ahead.epoch ? l->first : n->in[input].lane[output].first;
}

/* The input that an output would choose among packets that are there, or NO_SLOT. */
static uint32_t foresee_input(const struct icnt *n, uint64_t now, uint32_t output) {
    const struct bits *inputs = &n->out[output].inputs;
    uint32_t i = bits_next(inputs, n->ahead.out[output].turn);
    for (uint32_t left = inputs->count; left > 0; left--) {
        if (i == NO_SLOT)
            i = bits_next(inputs, 0);
        uint32_t first = lane_first(n, i, output);
        if (first != NO_SLOT && max_u64(n->ahead.in[i].free_at, n->in[i].packet[first].since) <= now)
            return i;
        i = bits_next(inputs, i + 1);
    }
    return NO_SLOT;
}

/* How many inputs an output asks before this one. */
static uint32_t asked_before(const struct icnt *n, uint32_t input, uint32_t output) {
    uint32_t turn = n->ahead.out[output].turn;
    return input >= turn ? input - turn : input + n->spec.inputs - turn;
}

/* Could an output choose a packet that is not known, instead of one of that input, or of none? */
static bool may_choose_other(const struct icnt *n, uint64_t now, uint32_t output, uint32_t input) {
    uint32_t before = input == NO_SLOT ? n->spec.inputs : asked_before(n, input, output);
    BITS_EACH (&n->ahead.unsure, i) {
        const struct input_ahead *in = &n->ahead.in[i];
        if (in->fresh_at <= now && in->free_at <= now && lane_first(n, i, output) == NO_SLOT &&
            asked_before(n, i, output) < before)
            return true;
    }
    return false;
}

static void foresee_transfer(struct icnt *n, uint64_t now, uint32_t input, uint32_t output) {
    struct input_ahead *in = &n->ahead.in[input];
    struct output_ahead *out = &n->ahead.out[output];
    uint32_t first = lane_first(n, input, output);
    struct port_ticks t = ticks_of(n, n->in[input].packet[first].packet.bytes);
    in->free_at = now + t.in;
    out->free_at = now + t.out;
    out->turn = input + 1 < n->spec.inputs ? input + 1 : 0;
    out->len++;
    in->lane[output] = (struct lane_ahead){n->in[input].pool.next[first], n->ahead.epoch};
    in->moves[in->nmoves++] = now;
    if (in->fresh_at == NEVER) { /* it had no room */
        in->fresh_at = now + 1;
        bits_add(&n->ahead.unsure, input);
    }
}

/* What an output does in a tick; false when it is not sure. */
static bool foresee_output(struct icnt *n, uint64_t from, uint64_t now, uint32_t output) {
    const struct output_ahead *out = &n->ahead.out[output];
    if (out->free_at > now)
        return true;
    if (out->len >= n->spec.output_queue) /* no room unless one is taken out before */
        return now == from || n->head_at[output] >= now;
    uint32_t input = foresee_input(n, now, output);
    if (may_choose_other(n, now, output, input))
        return false;
    if (input != NO_SLOT)
        foresee_transfer(n, now, input, output);
    return true;
}

static void begin_ahead(struct icnt *n, const uint64_t *fresh_at) {
    struct ahead *a = &n->ahead;
    a->epoch++;
    for (uint32_t i = 0; i < n->spec.inputs; i++) {
        struct input_ahead *in = &a->in[i];
        in->free_at = n->free_at[i];
        in->fresh_at = pool_full(&n->in[i].pool) ? NEVER : fresh_at[i];
        in->nmoves = 0;
        if (in->fresh_at == NEVER)
            bits_remove(&a->unsure, i);
        else
            bits_add(&a->unsure, i);
    }
    for (uint32_t o = 0; o < n->spec.outputs; o++)
        a->out[o] = (struct output_ahead){n->out[o].free_at, n->out[o].turn, n->out[o].queue.len};
}

uint64_t icnt_foresee(struct icnt *n, uint64_t now, uint64_t end, const uint64_t *fresh_at) {
    assert(end <= now + n->spec.latency);
    begin_ahead(n, fresh_at);
    for (uint64_t tick = now; tick < end; tick++) {
        uint32_t o = (uint32_t)(tick % n->spec.outputs);
        for (uint32_t k = 0; k < n->spec.outputs; k++) {
            if (!foresee_output(n, now, tick, o))
                return tick;
            o = o + 1 < n->spec.outputs ? o + 1 : 0;
        }
    }
    return end;
}

struct icnt_moves icnt_foreseen(const struct icnt *n, uint32_t input) {
    return (struct icnt_moves){n->ahead.in[input].moves, n->ahead.in[input].nmoves};
}

uint32_t icnt_left(const struct icnt *n, uint32_t output) {
    return n->out[output].queue.head;
}

uint32_t icnt_came(const struct icnt *n, uint32_t output) {
    return n->out[output].queue.head + n->out[output].queue.len;
}

const struct icnt_packet *icnt_packet(const struct icnt *n, uint32_t output, uint32_t number) {
    return &n->shelf[output].at[number & n->shelf[output].mask];
}

/* The oldest packet of an output leaves. */
static EVERY_TIME void remove_head(struct icnt *n, uint32_t output) {
    struct output *out = &n->out[output];
    if (!n->spec.gives && queue_full(&out->queue) && out->inputs.count)
        look_from(n, output, out->free_at);
    queue_pop(&out->queue);
    n->head_at[output] = queue_empty(&out->queue) ? NEVER : queue_head(&out->queue)->at;
    if (queue_empty(&out->queue))
        bits_remove(&n->offered, output);
}

void icnt_gave(struct icnt *n, uint32_t output, uint64_t cycle) {
    while (n->head_at[output] < cycle)
        remove_head(n, output);
}

void icnt_deliver(struct icnt *n, uint64_t now, icnt_take *take, void *ctx) {
    if (n->out_at > now)
        return;
    uint64_t first = NEVER;
    BITS_EACH (&n->offered, o) {
        if (n->head_at[o] <= now && !take(ctx, o, &queue_head(&n->out[o].queue)->packet)) {
            bits_remove(&n->offered, o);
            bits_add(&n->refused, o);
            continue;
        }
        if (n->head_at[o] <= now)
            remove_head(n, o);
        first = min_u64(first, n->head_at[o]);
    }
    n->out_at = first;
}

void icnt_offer(struct icnt *n, uint32_t output) {
    if (!bits_has(&n->refused, output))
        return;
    bits_remove(&n->refused, output);
    bits_add(&n->offered, output);
    n->out_at = min_u64(n->out_at, n->head_at[output]);
}

bool icnt_waits(const struct icnt *n) {
    return n->wanted.count;
}

bool icnt_idle(const struct icnt *n) {
    return !n->wanted.count && !n->offered.count && !n->refused.count;
}

const struct icnt_counters *icnt_counters(const struct icnt *n) {
    return &n->n;
}
