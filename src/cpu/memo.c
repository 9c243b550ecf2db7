#include "cpu/memo.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alike.h"
#include "base/ieee.h"

struct memo_l2 {
    struct memo_array array;
    struct memo *core[MEMO_CORES]; /* whose small arrays are part of it */
};

#define ROW(member, name, unit, meaning)                                                                     \
    { name, unit, meaning, offsetof(struct memo_counters, member) }

static const struct counter_info counter_rows[] = {
    ROW(inputs, "inputs", "inputs", "Inputs that were hashed."),
    ROW(cleared, "cleared_bits", "bits", "Low bits that programs wanted cleared, of all inputs together."),
    ROW(crc_words, "crc_words", "words", "Words of four bytes that went through the CRC unit."),
    ROW(lookups, "lookups", "lookups", "Look-ups."),
    ROW(l1_hits, "l1_hits", "lookups",
        "Look-ups that found their result beside the core, sampled ones included."),
    ROW(l2_lookups, "l2_lookups", "lookups", "Look-ups that went on to the table in L2."),
    ROW(l2_hits, "l2_hits", "lookups", "Look-ups that found their result there."),
    ROW(misses, "misses", "lookups", "Look-ups that found nothing."),
    ROW(samples, "samples", "lookups",
        "Look-ups that found their result and were told they had not, to compare."),
    ROW(updates, "updates", "updates", "Results put into a table."),
    ROW(l2_updates, "l2_updates", "updates", "Of these, those that were also put into L2."),
    ROW(stale_updates, "stale_updates", "updates", "Updates without a key of their own, which did nothing."),
    ROW(invalidates, "invalidates", "tables", "Tables that were invalidated."),
    ROW(sweeps, "sweeps", "tables",
        "Times that all entries were looked at, since the epochs of a table were used up."),
    ROW(evictions, "evictions", "entries", "Entries thrown out beside the core."),
    ROW(l2_evictions, "l2_evictions", "entries", "Entries thrown out of L2."),
    ROW(back_invalidations, "back_invalidations", "entries",
        "Entries that left a core because they left L2."),
    ROW(collisions, "collisions", "lookups",
        "Look-ups that found the result of other inputs with the same CRC."),
    ROW(comparisons, "comparisons", "comparisons", "Results compared with those of a table."),
    ROW(bad_comparisons, "bad_comparisons", "comparisons", "Of these, those whose error was too large."),
    ROW(switched_off, "switched_off", "times",
        "Times that all tables, or with memo.apart one, were switched off for that."),
    ROW(refused, "refused", "lookups", "Look-ups in tables that were switched off."),
};
const struct counter_table memo_counters = COUNTER_TABLE(counter_rows);

/* ---- hashes ------------------------------------------------------------------------------------------ */

static uint32_t crc_table[256];

/* CRC-32, reflected, eight bits at a time. */
static void make_table(void) {
    for (uint32_t k = 0; k < 256; k++) {
        uint32_t c = k;
        for (int bit = 0; bit < 8; bit++)
            c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
        crc_table[k] = c;
    }
}

uint32_t memo_crc(uint32_t crc, uint64_t value, uint32_t bytes) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_table);
    for (uint32_t k = 0; k < bytes; k++)
        crc = crc >> 8 ^ crc_table[(crc ^ (uint32_t)(value >> 8 * k)) & 0xff];
    return crc;
}

static uint64_t longer_hash(uint64_t h, uint64_t value, uint32_t bytes) {
    h = (h ^ value ^ (uint64_t)bytes << 60) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}

/* ---- arrays ------------------------------------------------------------------------------------------ */

static void array_init(struct memo_array *a, struct arena *arena, uint32_t bytes) {
    a->sets = bytes / MEMO_SET_BYTES;
    a->entry = arena_array(arena, struct memo_entry, a->sets * MEMO_WAYS);
}

struct memo_l2 *memo_l2_create(struct arena *a, const struct memo_spec *s) {
    struct memo_l2 *l2 = arena_new(a, struct memo_l2);
    array_init(&l2->array, a, s->l2_bytes);
    return l2;
}

void memo_init(struct memo *m, struct arena *a, const struct memo_spec *s, uint32_t core,
               struct memo_l2 *l2) {
    *m = (struct memo){.spec = *s, .core = core, .l2 = l2, .arena = a};
    for (uint32_t t = 0; t < MEMO_TABLES; t++)
        m->hash[t] = MEMO_START;
    if (s->l1_bytes)
        array_init(&m->l1, a, s->l1_bytes);
    if (l2)
        l2->core[core] = m;
}

void memo_free(struct memo *m) {
    map_free(&m->direct);
}

/* The place of a key in a direct table; made when there is none and it is wanted. */
static struct memo_entry *direct_entry(struct memo *m, uint32_t table, uint32_t crc, bool make) {
    uint64_t key = (uint64_t)table << 32 | (crc & ((1u << m->spec.direct) - 1));
    struct memo_entry *e = map_get_u64(&m->direct, key);
    if (!e && make) {
        e = arena_new(m->arena, struct memo_entry);
        map_set_u64(&m->direct, key, e);
    }
    return e && (make || (e->used && e->epoch == m->epoch[table])) ? e : NULL;
}

/* Sets are by the low bits of the key. In L2 those also choose the cache's set and way, which comes to the
 * same. */
static struct memo_entry *set_of(const struct memo_array *a, uint32_t crc) {
    return &a->entry[(crc & (a->sets - 1)) * MEMO_WAYS];
}

static uint32_t ways_of(const struct memo *m) {
    return m->wide ? MEMO_WAYS / 2 : MEMO_WAYS;
}

static struct memo_entry *find(const struct memo *m, struct memo_array *a, uint32_t table, uint32_t crc) {
    struct memo_entry *e = set_of(a, crc);
    for (uint32_t k = 0; k < ways_of(m); k++)
        if (e[k].used && e[k].crc == crc && e[k].table == table && e[k].owner == m->core &&
            e[k].epoch == m->epoch[table])
            return &e[k];
    return NULL;
}

/* An empty entry of a key's set, or the one used longest ago; entries of past epochs are empty. */
static struct memo_entry *victim(const struct memo *m, const struct memo_array *a, uint32_t crc,
                                 bool shared) {
    struct memo_entry *e = set_of(a, crc), *oldest = e;
    for (uint32_t k = 0; k < ways_of(m); k++) {
        const struct memo *owner = shared ? m->l2->core[e[k].owner] : m;
        if (e[k].used && e[k].epoch != owner->epoch[e[k].table])
            e[k].used = 0;
        if (e[k].used < oldest->used)
            oldest = &e[k];
    }
    return oldest;
}

static void put(struct memo_array *a, struct memo_entry *e, const struct memo_entry *new) {
    *e = *new;
    e->used = ++a->time;
}

/* Entries with another width mean nothing: all is forgotten. */
static void widen(struct memo *m, uint32_t bytes) {
    if (m->wide || bytes <= 4)
        return;
    m->wide = true;
    memset(m->l1.entry, 0, sizeof *m->l1.entry * m->l1.sets * MEMO_WAYS);
    for (uint32_t k = 0; m->l2 && k < m->l2->array.sets * MEMO_WAYS; k++)
        if (m->l2->array.entry[k].owner == m->core)
            m->l2->array.entry[k].used = 0;
}

/* Puts an entry into the array beside the core. */
static void put_l1(struct memo *m, const struct memo_entry *new) {
    struct memo_entry *e = find(m, &m->l1, new->table, new->crc);
    if (!e) {
        e = victim(m, &m->l1, new->crc, false);
        m->n.evictions += e->used != 0;
    }
    put(&m->l1, e, new);
}

/* Puts an entry into L2; what goes from there goes from its core, too. */
static void put_l2(struct memo *m, const struct memo_entry *new) {
    struct memo_array *a = &m->l2->array;
    struct memo_entry *e = find(m, a, new->table, new->crc);
    if (!e) {
        e = victim(m, a, new->crc, true);
        if (e->used) {
            struct memo *owner = m->l2->core[e->owner];
            struct memo_entry *copy = find(owner, &owner->l1, e->table, e->crc);
            m->n.l2_evictions++;
            if (copy) {
                copy->used = 0;
                owner->n.back_invalidations++;
            }
        }
    }
    put(a, e, new);
}

/* ---- instructions ------------------------------------------------------------------------------------ */

void memo_input(struct memo *m, uint32_t table, uint64_t value, uint32_t bytes, uint32_t n) {
    if (bytes < 8)
        value &= (1ull << 8 * bytes) - 1;
    if (m->spec.truncate)
        value &= n > 63 ? 0 : ~0ull << n;
    m->hash[table] = memo_crc(m->hash[table], value, bytes);
    m->true_hash[table] = longer_hash(m->true_hash[table], value, bytes);
    m->n.inputs++;
    m->n.cleared += n;
    m->n.crc_words += (bytes + 3) / 4;
    m->last = MEMO_INPUT;
    m->last_bytes = bytes;
}

/* A result was found: whether it is told, or kept for a comparison. */
static bool tell(struct memo *m, uint32_t table, struct memo_pending *p, const struct memo_entry *e,
                 bool in_l2) {
    struct memo_monitor *q = &m->monitor[table];
    m->n.collisions += e->true_key != p->true_key;
    if (in_l2)
        m->n.l2_hits++;
    else
        m->n.l1_hits++;
    m->last = in_l2 ? MEMO_L2_HIT : MEMO_L1_HIT;
    if (!m->spec.sample || ++q->hits % m->spec.sample)
        return true;
    m->n.samples++;
    m->last = MEMO_SAMPLED;
    p->valid = p->sampled = true;
    p->data = e->data;
    return false;
}

bool memo_lookup(struct memo *m, uint32_t table, uint32_t bytes, uint64_t sp, uint64_t *data) {
    struct memo_pending *p = &m->pending[table];
    *p = (struct memo_pending){.crc = m->hash[table], .true_key = m->true_hash[table], .sp = sp};
    m->hash[table] = MEMO_START;
    m->true_hash[table] = 0;
    m->last = MEMO_MISS;
    m->last_l2 = false;
    m->n.lookups++;
    if (!m->spec.l1_bytes || m->monitor[table].off) {
        m->n.refused += m->monitor[table].off;
        m->n.misses++;
        return false;
    }
    widen(m, bytes);
    struct memo_entry *e =
        m->spec.direct ? direct_entry(m, table, p->crc, false) : find(m, &m->l1, table, p->crc);
    if (e) {
        e->used = ++m->l1.time;
        *data = e->data;
        return tell(m, table, p, e, false);
    }
    if (m->l2 && !m->spec.direct) {
        m->n.l2_lookups++;
        m->last_l2 = true;
        e = find(m, &m->l2->array, table, p->crc);
        if (e) {
            e->used = ++m->l2->array.time;
            *data = e->data;
            put_l1(m, e);
            return tell(m, table, p, e, true);
        }
    }
    m->n.misses++;
    p->valid = true;
    return false;
}

/* The relative error of integers and doubles. */
static bool is_far(double was, double is, double limit) {
    if (isnan(was) || isnan(is))
        return isnan(was) != isnan(is);
    return is == 0 ? was != 0 : fabs(was - is) > limit * fabs(is);
}

/* That of floats, which the unit has a circuit for; numbers that are none are alike. */
static bool is_far_float(uint64_t was, uint64_t is, double limit) {
    if (isnan(float_of((uint32_t)was)) && isnan(float_of((uint32_t)is)))
        return false;
    return !alike_floats((uint32_t)is, (uint32_t)was, alike_threshold(limit), true);
}

/* Whether a table's result is too far from the one that was computed; of two, either. */
static bool is_bad(const struct memo *m, uint64_t was, uint64_t is, uint32_t bytes, enum memo_kind kind) {
    double limit = m->spec.error;
    switch (kind) {
    case MEMO_FLOAT:
        return bytes > 4 ? is_far(double_of(was), double_of(is), limit) : is_far_float(was, is, limit);
    case MEMO_TWO_FLOATS:
        return is_far_float(was, is, limit) || is_far_float(was >> 32, is >> 32, limit);
    case MEMO_TWO_INTEGERS:
        return is_far((int32_t)was, (int32_t)is, limit) ||
               is_far((int32_t)(was >> 32), (int32_t)(is >> 32), limit);
    case MEMO_FOUR_SHORTS:
        for (uint32_t k = 0; k < 64; k += 16) {
            int16_t a = (int16_t)(was >> k), b = (int16_t)(is >> k);
            if (abs(a - b) > 1 && is_far(a, b, limit))
                return true;
        }
        return false;
    default:
        return bytes > 4 ? is_far((double)(int64_t)was, (double)(int64_t)is, limit)
                         : is_far((int32_t)was, (int32_t)is, limit);
    }
}

static void compare(struct memo *m, uint32_t table, uint64_t data, uint32_t bytes, enum memo_kind kind) {
    struct memo_monitor *q = &m->monitor[table];
    bool bad = is_bad(m, m->pending[table].data, data, bytes, kind);
    m->n.comparisons++;
    m->n.bad_comparisons += bad;
    q->bad += bad;
    if (++q->comparisons < m->spec.window)
        return;
    if (q->bad > m->spec.bad) {
        for (uint32_t t = 0; t < MEMO_TABLES; t++)
            m->monitor[t].off |= !m->spec.apart || t == table;
        m->n.switched_off++;
    }
    q->comparisons = q->bad = 0;
}

void memo_update(struct memo *m, uint32_t table, uint64_t data, uint32_t bytes, uint64_t sp,
                 enum memo_kind kind) {
    struct memo_pending *p = &m->pending[table];
    m->last = MEMO_IGNORED;
    m->last_l2 = false;
    if (!p->valid || p->sp != sp || !m->spec.l1_bytes || m->monitor[table].off) {
        m->n.stale_updates += !p->valid || p->sp != sp;
        p->valid = false;
        return;
    }
    widen(m, bytes);
    if (p->sampled)
        compare(m, table, data, bytes, kind);
    struct memo_entry new = {.data = data,
                             .true_key = p->true_key,
                             .crc = p->crc,
                             .epoch = m->epoch[table],
                             .table = (uint8_t)table,
                             .owner = (uint8_t)m->core};
    p->valid = false;
    m->n.updates++;
    m->last = MEMO_UPDATED;
    if (m->spec.direct) {
        put(&m->l1, direct_entry(m, table, p->crc, true), &new);
        return;
    }
    put_l1(m, &new);
    if (m->l2) {
        put_l2(m, &new);
        m->n.l2_updates++;
        m->last_l2 = true;
    }
}

/* Throws out what is left of a table's past epochs, since its numbers begin again. */
static void sweep(struct memo *m, uint32_t table) {
    for (uint32_t k = 0; k < m->l1.sets * MEMO_WAYS; k++)
        if (m->l1.entry[k].table == table)
            m->l1.entry[k].used = 0;
    for (uint32_t k = 0; m->l2 && k < m->l2->array.sets * MEMO_WAYS; k++)
        if (m->l2->array.entry[k].table == table && m->l2->array.entry[k].owner == m->core)
            m->l2->array.entry[k].used = 0;
    for (uint32_t k = 0; k < m->direct.len; k++) {
        struct memo_entry *e = m->direct.entries[k].value;
        if (e->table == table)
            e->used = 0;
    }
    m->n.sweeps++;
}

void memo_invalidate(struct memo *m, uint32_t table) {
    m->n.invalidates++;
    m->last = MEMO_CLEARED;
    m->last_l2 = false;
    m->pending[table].valid = false;
    m->hash[table] = MEMO_START;
    m->true_hash[table] = 0;
    m->monitor[table] = (struct memo_monitor){.off = m->monitor[table].off};
    m->epoch[table] = (uint16_t)((m->epoch[table] + 1) & ((1u << m->spec.epoch_bits) - 1));
    if (!m->epoch[table]) {
        sweep(m, table);
        m->last = MEMO_SWEPT;
    }
}
