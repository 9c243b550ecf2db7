/* Reads, writes and fills of a cache, without time. */
#include "mem/bank.h"

#include "base/often.h"

void bank_init(struct bank *b, struct arena *a, const struct bank_spec *s, const struct mem_packet *origin) {
    assert(s->queue >= BANK_MOST_REQUESTS);
    b->spec = *s;
    b->origin = *origin;
    tags_init(&b->tags, a, &s->tags);
    mshr_init(&b->mshr, a, s->mshrs, s->merges, s->tags.line);
    b->all = mem_all_sectors(s->tags.line);
    queue_init(&b->out, a, s->queue + s->keep);
    b->out.cap = s->queue;
}

static EVERY_TIME void send(struct bank *b, uint64_t line, uint32_t id, enum mem_kind kind, uint8_t flags,
                            uint8_t sectors) {
    struct mem_packet *p = queue_add(&b->out);
    *p = b->origin;
    p->line = line;
    p->id = id;
    p->kind = (uint8_t)kind;
    p->flags = flags;
    p->sectors = p->full = sectors;
    p->bytes = (uint16_t)(kind == MEM_STORE ? mem_sectors(sectors) * MEM_SECTOR : 0);
}

/* A request for sectors that are missing, on behalf of miss register e. */
static EVERY_TIME void fetch(struct bank *b, uint32_t e, uint8_t sectors) {
    b->mshr.entry[e].wanted |= sectors;
    b->n.sectors_fetched += mem_sectors(sectors);
    send(b, b->mshr.entry[e].line, e, MEM_LOAD, 0, sectors);
}

static EVERY_TIME struct tags_victim take_slot(struct bank *b, uint32_t slot, uint64_t line) {
    struct tags_victim v = tags_place(&b->tags, slot, line);
    b->n.evictions += v.present;
    b->n.prefetch_unused += v.prefetched;
    b->n.write_backs += v.dirty != 0;
    return v;
}

static void write_back(struct bank *b, const struct tags_victim *v) {
    if (v->dirty)
        send(b, v->line, NO_SLOT, MEM_STORE, MEM_SILENT, v->dirty);
}

/* Gives line a slot, writing back what was there; the queue must have room for that. */
static void place(struct bank *b, uint32_t slot, uint64_t line) {
    struct tags_victim v = take_slot(b, slot, line);
    write_back(b, &v);
}

struct tags_victim bank_expect(struct bank *b, uint32_t slot, uint64_t line) {
    struct tags_victim v = take_slot(b, slot, line);
    b->n.sectors_fetched += mem_sectors(b->all);
    tags_await(&b->tags, slot, b->all);
    return v;
}

void bank_ask(struct bank *b, uint32_t slot, const struct tags_victim *v, const struct mem_packet *p) {
    uint32_t e = mshr_add(&b->mshr, p->line);
    b->mshr.entry[e].slot = slot;
    b->mshr.entry[e].wanted = b->all;
    write_back(b, v);
    send(b, p->line, e, MEM_LOAD, 0, b->all);
    mshr_wait(&b->mshr, e, p, p->sectors);
}

/* A load found, or joined, a line that may have been prefetched. */
static void use(struct bank *b, uint32_t slot, const struct mem_packet *p) {
    struct tags_line *l = &b->tags.line[slot];
    tags_touch(&b->tags, slot);
    if (l->prefetched && p->kind != MEM_PREFETCH) {
        l->prefetched = false;
        b->n.prefetch_useful++;
    }
    if (p->flags & MEM_PIN)
        tags_lock(&b->tags, slot);
}

/* The line, or a part of it, is on its way. act: if not, it is only said what would come of it; so below. */
static EVERY_TIME enum mem_result join(struct bank *b, const struct mem_packet *p, uint32_t e, uint8_t needs,
                                       bool act) {
    struct mshr_entry *x = &b->mshr.entry[e];
    uint32_t slot = x->slot;
    if (slot == NO_SLOT) /* it was fetched past the cache, but may have got a place since */
        slot = tags_find(&b->tags, p->line);
    bool waits = p->kind != MEM_PREFETCH;
    uint8_t more = needs & ~x->wanted;
    if (waits && !mshr_has_room(&b->mshr, e))
        return MEM_STALL_MERGE;
    if (p->flags & MEM_PIN && slot == NO_SLOT) /* nothing to lock until the line may have a place */
        return MEM_STALL_MERGE;
    if (more && queue_full(&b->out))
        return MEM_STALL_QUEUE;
    if (!act)
        return more ? MEM_MISS : MEM_MERGED;
    if (more) {
        fetch(b, e, more);
        x->slot = slot;
        if (slot != NO_SLOT)
            tags_await(&b->tags, slot, x->wanted);
    }
    if (slot != NO_SLOT)
        use(b, slot, p);
    if (waits)
        mshr_wait(&b->mshr, e, p, needs);
    return more ? MEM_MISS : MEM_MERGED;
}

/* A new miss. first: of the line's set; slot: of the line if some of its sectors are here, else NO_SLOT. */
static EVERY_TIME enum mem_result miss(struct bank *b, const struct mem_packet *p, uint32_t first,
                                       uint32_t slot, uint8_t needs, bool act) {
    bool keep = !(p->flags & MEM_BYPASS), here = slot != NO_SLOT;
    if (mshr_full(&b->mshr))
        return MEM_STALL_MSHR;
    if (queue_room(&b->out) < BANK_MOST_REQUESTS)
        return MEM_STALL_QUEUE;
    if (keep && !here) {
        slot = tags_victim_in(&b->tags, first);
        if (slot == NO_SLOT || (p->flags & MEM_PIN && !tags_can_lock(&b->tags, slot)))
            return MEM_STALL_WAYS;
        if (act)
            place(b, slot, p->line);
    }
    if (!act)
        return MEM_MISS;
    uint32_t e = mshr_add(&b->mshr, p->line);
    uint8_t want = needs;
    if (keep) {
        b->mshr.entry[e].slot = slot;
        struct tags_line *l = &b->tags.line[slot];
        if (!b->spec.sectored)
            want = b->all & ~l->valid;
        use(b, slot, p);
        tags_await(&b->tags, slot, want);
        l->prefetched = p->kind == MEM_PREFETCH && !here;
    }
    fetch(b, e, want);
    if (p->kind != MEM_PREFETCH)
        mshr_wait(&b->mshr, e, p, needs);
    return MEM_MISS;
}

static EVERY_TIME enum mem_result read_line(struct bank *b, const struct mem_packet *p, bool act) {
    bool bypass = p->flags & MEM_BYPASS;
    uint32_t first = tags_set(&b->tags, p->line),
             slot = bypass ? NO_SLOT : tags_find_in(&b->tags, first, p->line);
    uint8_t needs = p->sectors;
    if (slot != NO_SLOT) {
        if (p->flags & MEM_PIN && !tags_can_lock(&b->tags, slot))
            return MEM_STALL_WAYS;
        needs &= ~b->tags.line[slot].valid;
        if (!needs) {
            if (act)
                use(b, slot, p);
            return MEM_HIT;
        }
    }
    uint32_t e = mshr_find(&b->mshr, p->line);
    return e != NO_SLOT ? join(b, p, e, needs, act) : miss(b, p, first, slot, needs, act);
}

enum mem_result bank_read(struct bank *b, const struct mem_packet *p) {
    return read_line(b, p, true);
}

enum mem_result bank_would_read(struct bank *b, const struct mem_packet *p) {
    return read_line(b, p, false);
}

enum mem_result bank_write(struct bank *b, uint64_t line, uint8_t sectors, uint8_t full) {
    uint32_t first = tags_set(&b->tags, line), slot = tags_find_in(&b->tags, first, line);
    enum mem_result r = MEM_HIT;
    if (slot == NO_SLOT) {
        if (queue_full(&b->out))
            return MEM_STALL_QUEUE;
        slot = tags_victim_in(&b->tags, first);
        if (slot == NO_SLOT)
            return MEM_STALL_WAYS;
        place(b, slot, line);
        r = MEM_MISS;
    }
    tags_touch(&b->tags, slot);
    b->tags.line[slot].dirty |= sectors;
    b->tags.line[slot].valid |= full;
    return r;
}

EVERY_TIME void bank_fill(struct bank *b, uint32_t id, uint8_t sectors) {
    struct mshr_entry *x = &b->mshr.entry[id];
    assert((x->wanted & sectors) == sectors);
    x->wanted &= ~sectors;
    b->epoch++;
    if (x->slot == NO_SLOT)
        return;
    assert(b->tags.key[x->slot] == tags_key(x->line));
    tags_arrive(&b->tags, x->slot, sectors);
}

EVERY_TIME bool bank_take(struct bank *b, uint32_t id, struct mem_packet *out) {
    return mshr_take(&b->mshr, id, out);
}

void bank_write_filled(struct bank *b, uint32_t id, uint8_t sectors) {
    assert(b->mshr.entry[id].slot != NO_SLOT);
    b->tags.line[b->mshr.entry[id].slot].dirty |= sectors;
}

void bank_end_fill(struct bank *b, uint32_t id) {
    if (!b->mshr.entry[id].wanted)
        mshr_remove(&b->mshr, id);
}

void bank_forget(struct bank *b, uint64_t line) {
    uint32_t slot = tags_find(&b->tags, line);
    if (slot == NO_SLOT || b->tags.line[slot].locks)
        return;
    struct tags_line *l = &b->tags.line[slot];
    b->epoch++;
    if (l->pending) /* what is on its way will be newer */
        l->valid = 0;
    else
        tags_drop(&b->tags, slot);
}

void bank_put(struct bank *b, uint64_t line) {
    uint32_t slot = tags_find(&b->tags, line);
    if (slot == NO_SLOT) {
        slot = tags_victim(&b->tags, line);
        if (slot == NO_SLOT)
            return;
        tags_place(&b->tags, slot, line);
    } else {
        tags_touch(&b->tags, slot);
    }
    b->tags.line[slot].valid = b->all;
}

bool bank_idle(const struct bank *b) {
    return queue_empty(&b->out) && !b->mshr.entries.used;
}
