/* A crossbar with input queues and output buffers. Only inputs at whose head a packet waits, and only outputs
 * some input wants, are looked at. */
#include "mem/icnt.h"

struct waiting {
    struct mem_packet packet;
    uint32_t output;
    uint64_t since;
};

struct arrived {
    struct mem_packet packet;
    uint64_t at;
};

struct input {
    QUEUE(struct waiting) queue;
    uint64_t free_at;
};

struct output {
    QUEUE(struct arrived) queue;
    uint64_t free_at;
    uint32_t turn;      /* the input that is asked first */
    struct bits inputs; /* whose head wants this output */
};

struct icnt {
    struct icnt_spec spec;
    struct input *in;
    struct output *out;
    struct bits wanted; /* outputs that some head wants */
    struct bits filled; /* outputs with packets */
    uint64_t next;
    struct icnt_counters n;
};

struct icnt *icnt_create(struct arena *a, const struct icnt_spec *s) {
    assert(s->latency && s->input_bytes && s->output_bytes && s->inputs && s->outputs);
    struct icnt *n = arena_new(a, struct icnt);
    n->spec = *s;
    n->next = NEVER;
    n->in = arena_array(a, struct input, s->inputs);
    n->out = arena_array(a, struct output, s->outputs);
    for (uint32_t i = 0; i < s->inputs; i++)
        queue_init(&n->in[i].queue, a, s->input_queue);
    for (uint32_t i = 0; i < s->outputs; i++) {
        queue_init(&n->out[i].queue, a, s->output_queue);
        bits_init(&n->out[i].inputs, a, s->inputs);
    }
    bits_init(&n->wanted, a, s->outputs);
    bits_init(&n->filled, a, s->outputs);
    return n;
}

bool icnt_has_room(const struct icnt *n, uint32_t input) {
    return !queue_full(&n->in[input].queue);
}

/* The head of an input asks its output. */
static void ask(struct icnt *n, uint32_t input) {
    uint32_t output = queue_head(&n->in[input].queue)->output;
    bits_add(&n->out[output].inputs, input);
    bits_add(&n->wanted, output);
}

void icnt_push(struct icnt *n, uint64_t now, uint32_t input, uint32_t output, const struct mem_packet *p) {
    struct input *in = &n->in[input];
    queue_push(&in->queue, (struct waiting){*p, output, now});
    if (in->queue.len == 1)
        ask(n, input);
    n->next = min_u64(n->next, now);
}

static uint64_t ticks(uint32_t bytes, uint32_t width) {
    return bytes <= width ? 1 : (bytes + width - 1) / width;
}

/* Starts the transfer of an input's head. */
static void transfer(struct icnt *n, uint64_t now, uint32_t input, struct output *out, uint32_t output) {
    struct input *in = &n->in[input];
    struct waiting *w = queue_head(&in->queue);
    uint32_t bytes = w->packet.bytes + n->spec.header;
    uint64_t in_ticks = ticks(bytes, n->spec.input_bytes), out_ticks = ticks(bytes, n->spec.output_bytes);
    in->free_at = now + in_ticks;
    out->free_at = now + out_ticks;
    out->turn = input + 1 < n->spec.inputs ? input + 1 : 0;
    uint64_t at = now + n->spec.latency + max_u64(in_ticks, out_ticks) - 1;
    queue_push(&out->queue, (struct arrived){w->packet, at});
    bits_add(&n->filled, output);
    n->n.packets++;
    n->n.bytes += bytes;
    n->n.input_busy += in_ticks;
    n->n.output_busy += out_ticks;
    n->n.wait += now - w->since;
    queue_pop(&in->queue);
    bits_remove(&out->inputs, input);
    if (!out->inputs.count)
        bits_remove(&n->wanted, output);
    if (!queue_empty(&in->queue)) {
        ask(n, input);
        n->next = min_u64(n->next, in->free_at); /* its output may have had its turn in this tick */
    }
}

/* Lets an output that is free choose among the inputs that want it. Returns when to look again, as far as is
 * known. */
static uint64_t serve(struct icnt *n, uint64_t now, uint32_t output) {
    struct output *out = &n->out[output];
    if (out->free_at > now)
        return out->free_at;
    if (queue_full(&out->queue))
        return now + 1;
    uint64_t next = NEVER;
    uint32_t turn = out->turn, i = bits_next(&out->inputs, turn);
    for (uint32_t left = out->inputs.count; left > 0; left--) {
        if (i == NO_SLOT)
            i = bits_next(&out->inputs, 0);
        uint64_t at = max_u64(n->in[i].free_at, queue_head(&n->in[i].queue)->since);
        if (at <= now) {
            transfer(n, now, i, out, output);
            return out->inputs.count ? out->free_at : NEVER;
        }
        next = min_u64(next, at);
        i = bits_next(&out->inputs, i + 1);
    }
    return next;
}

void icnt_tick(struct icnt *n, uint64_t now) {
    n->next = NEVER;
    for (uint32_t o = bits_next(&n->wanted, 0); o != NO_SLOT; o = bits_next(&n->wanted, o + 1)) {
        uint64_t again = serve(n, now, o);
        n->next = min_u64(n->next, again);
    }
}

uint64_t icnt_next(const struct icnt *n) {
    return n->next;
}

uint64_t icnt_head_at(const struct icnt *n, uint32_t output) {
    const struct output *out = &n->out[output];
    return queue_empty(&out->queue) ? NEVER : queue_head(&out->queue)->at;
}

const struct mem_packet *icnt_head(const struct icnt *n, uint64_t now, uint32_t output) {
    return icnt_head_at(n, output) <= now ? &queue_head(&n->out[output].queue)->packet : NULL;
}

void icnt_pop(struct icnt *n, uint32_t output) {
    struct output *out = &n->out[output];
    queue_pop(&out->queue);
    if (queue_empty(&out->queue))
        bits_remove(&n->filled, output);
}

uint32_t icnt_filled(const struct icnt *n, uint32_t from) {
    return bits_next(&n->filled, from);
}

bool icnt_idle(const struct icnt *n) {
    return !n->wanted.count && !n->filled.count;
}

const struct icnt_counters *icnt_counters(const struct icnt *n) {
    return &n->n;
}
