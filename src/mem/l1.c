/* Stores, atomics and locks of the data cache. */
#include "mem/l1.h"

struct l1 *l1_create(struct arena *a, const struct l1_spec *s, uint32_t port) {
    struct l1 *l = arena_new(a, struct l1);
    l->spec = *s;
    cache_init(&l->cache, a, &s->cache, port);
    return l;
}

static uint8_t load_flags(const struct l1 *l, const struct mem_access *x) {
    uint8_t flags = x->flags;
    if (!l->spec.cache_global && !(flags & MEM_LOCAL))
        flags |= MEM_BYPASS;
    if (flags & (MEM_PIN | MEM_UNPIN) || x->kind == MEM_PREFETCH)
        flags &= ~MEM_BYPASS; /* what is to be kept must have a place, and is read there */
    return flags;
}

enum mem_result l1_would_load(struct l1 *l, const struct mem_access *x) {
    struct mem_packet p = {
        .line = x->line, .kind = x->kind, .flags = load_flags(l, x), .sectors = x->sectors};
    return bank_would_read(&l->cache.bank, &p);
}

static enum mem_result load(struct l1 *l, uint64_t now, const struct mem_access *x, uint32_t token) {
    uint8_t flags = load_flags(l, x);
    enum mem_result r = cache_read(&l->cache, now, x, flags, token);
    if (!mem_accepted(r))
        return r;
    l->n.locks += (flags & MEM_PIN) != 0;
    if (flags & MEM_UNPIN)
        l1_unlock(l, x->line);
    return r;
}

/* Sends a store or atomic to L2. */
static enum mem_result send_on(struct l1 *l, const struct mem_access *x, uint32_t token, uint32_t bytes) {
    struct bank *b = &l->cache.bank;
    if (l->cache.stores == l->spec.cache.stores)
        return MEM_STALL_STORES;
    if (queue_full(&b->out))
        return MEM_STALL_QUEUE;
    struct mem_packet *p = queue_add(&b->out);
    *p = b->origin;
    p->line = x->line;
    p->id = token;
    p->bytes = (uint16_t)bytes;
    p->kind = x->kind;
    p->flags = x->flags & ~(MEM_BYPASS | MEM_PIN | MEM_UNPIN); /* those were for this cache */
    p->sectors = x->sectors;
    p->full = x->full;
    p->ops = x->ops;
    p->serial = x->serial;
    l->cache.stores++;
    return MEM_SENT;
}

static enum mem_result store_through(struct l1 *l, const struct mem_access *x, uint32_t token) {
    struct bank *b = &l->cache.bank;
    uint32_t sectors = mem_sectors(x->sectors);
    enum mem_result r = send_on(l, x, token, sectors * MEM_SECTOR);
    if (!mem_accepted(r))
        return r;
    l->n.write_through++;
    uint32_t slot = tags_find(&b->tags, x->line);
    if (slot == NO_SLOT)
        return r;
    l->n.write_hits++;
    if (l->spec.write_hit == L1_WRITE_UPDATE)
        tags_touch(&b->tags, slot);
    else
        bank_forget(b, x->line);
    return r;
}

static enum mem_result store_back(struct l1 *l, uint64_t now, const struct mem_access *x, uint32_t token) {
    enum mem_result r = bank_write(&l->cache.bank, x->line, x->sectors, x->full);
    if (!mem_accepted(r))
        return r;
    l->n.write_hits += r == MEM_HIT;
    cache_hit(&l->cache, now, token, x);
    return MEM_HIT; /* nothing is fetched, so it is done as soon as a hit */
}

static enum mem_result store(struct l1 *l, uint64_t now, const struct mem_access *x, uint32_t token) {
    bool keep = x->flags & MEM_LOCAL && l->spec.local_write_back;
    enum mem_result r = keep ? store_back(l, now, x, token) : store_through(l, x, token);
    if (mem_accepted(r)) {
        l->n.writes++;
        l->n.write_sectors += mem_sectors(x->sectors);
    }
    return r;
}

static enum mem_result atomic(struct l1 *l, const struct mem_access *x, uint32_t token) {
    enum mem_result r = send_on(l, x, token, x->bytes);
    if (mem_accepted(r)) {
        l->n.atomics++;
        bank_forget(&l->cache.bank, x->line);
    }
    return r;
}

enum mem_result l1_access(struct l1 *l, uint64_t now, const struct mem_access *x, uint32_t token) {
    enum mem_result r = cache_begin(&l->cache, now, x);
    if (!mem_accepted(r))
        return cache_end(&l->cache, now, x, r);
    if (x->kind == MEM_STORE)
        r = store(l, now, x, token);
    else if (x->kind == MEM_ATOMIC)
        r = atomic(l, x, token);
    else
        r = load(l, now, x, token);
    return cache_end(&l->cache, now, x, r);
}

bool l1_unlock(struct l1 *l, uint64_t line) {
    struct bank *b = &l->cache.bank;
    uint32_t slot = tags_find(&b->tags, line);
    if (slot == NO_SLOT || !b->tags.line[slot].locks)
        return false;
    tags_unlock(&b->tags, slot);
    b->epoch++;
    l->n.unlocks++;
    return true;
}

void l1_fill(struct l1 *l, uint64_t now, const struct mem_packet *p) {
    if (p->kind == MEM_LOAD) {
        cache_fill(&l->cache, now, p);
        return;
    }
    l->cache.stores--;
    l->cache.bank.epoch++;
    cache_answer(&l->cache, now, p);
}

bool l1_idle(const struct l1 *l) {
    return !l->cache.stores && cache_idle(&l->cache);
}
