/* initcheck: a read of global or shared memory must find what the device or a copy of the host has written. A
 * bit for each byte tells. Memory that the host can write directly (pinned, managed, registered) and
 * variables, which begin as zero, count as written. */
#include <inttypes.h>
#include <string.h>

#include "sanitize/tool.h"

/* Whether bits [at, at + n) are all set. */
static bool all_set(const uint8_t *bits, uint64_t at, uint64_t n) {
    for (; n; at += 32, n -= n < 32 ? n : 32) {
        uint64_t word, want = n < 32 ? (UINT64_C(1) << n) - 1 : UINT32_MAX;
        memcpy(&word, bits + at / 8, sizeof word);
        if ((word >> at % 8 & want) != want)
            return false;
    }
    return true;
}

static void set(uint8_t *bits, uint64_t at, uint64_t n) {
    for (; n && at % 8; at++, n--)
        bits[at / 8] |= (uint8_t)(1 << at % 8);
    memset(bits + at / 8, 0xff, n / 8);
    at += n / 8 * 8;
    for (n %= 8; n; at++, n--)
        bits[at / 8] |= (uint8_t)(1 << at % 8);
}

static void report(struct sanitizer *s, const struct access *a, uint32_t lane, bool shared) {
    struct finding *f = finding_add(s, (uint64_t)RP_INITCHECK << 48 | (uint64_t)shared << 40 | a->pc, false);
    if (!f)
        return;
    struct str *text = &f->text;
    str_printf(text, "========= Uninitialized %s memory read of size %u bytes\n",
               shared ? "__shared__" : "__global__", a->t.bytes);
    finding_place(a, lane, text);
    str_printf(text, "=========     Address 0x%" PRIx64, a->t.at[lane]);
    const struct kept *k = shared ? NULL : kept_find(s, a->t.at[lane]);
    if (k)
        str_printf(text, ", byte %" PRIu64 " of the allocation at 0x%" PRIx64 " of size %" PRIu64 " bytes",
                   a->t.at[lane] - k->addr, k->addr, k->size);
    str_printf(text, "\n");
    if (k)
        describe_trace(s, &k->at, "allocation time", text);
    finding_end(s, text);
}

/* Whether what the access reads there matters: what it exchanges for something else without looking, or loads
 * for nobody, does not. */
static bool reads(const struct access *a) {
    const struct imods *q = &a->i->in->m;
    if (a->i->kind == X_ATOM)
        return q->aop != ATOM_EXCH || a->i->ndw;
    return a->read && (a->i->kind != X_LOAD || a->i->ndw);
}

void initcheck_access(struct sanitizer *s, const struct access *a) {
    uint32_t bytes = a->t.bytes, room = a->w->cta->shared_bytes;
    bool read = reads(a);
    for (uint32_t left = a->t.global | a->t.shared; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        uint64_t at = a->t.at[l];
        bool shared = a->t.shared >> l & 1;
        uint8_t *bits = NULL;
        if (!shared) {
            const struct kept *k = kept_find(s, at);
            if (!k || !k->written || k->size - (at - k->addr) < bytes)
                continue;
            bits = k->written;
            at -= k->addr;
        } else if (at > room || room - at < bytes) {
            continue;
        } else {
            bits = ((struct block_state *)touch_block(a->w, &a->t, l)->watched)->shared_written;
        }
        if (read && !all_set(bits, at, bytes))
            report(s, a, l, shared);
        if (a->write)
            set(bits, at, bytes);
    }
}

void initcheck_written(struct sanitizer *s, uint64_t addr, uint64_t size) {
    const struct kept *k = kept_find(s, addr);
    if (k && k->written && k->size - (addr - k->addr) >= size)
        set(k->written, addr - k->addr, size);
}

void initcheck_copied(struct sanitizer *s, uint64_t to, uint64_t from, uint64_t size) {
    const struct kept *source = kept_find(s, from), *k;
    if (!source || !source->written || source->size - (from - source->addr) < size) {
        initcheck_written(s, to, size);
        return;
    }
    k = kept_find(s, to);
    if (!k || !k->written || k->size - (to - k->addr) < size)
        return;
    for (uint64_t i = 0; i < size; i++) { /* what was not written before stays so */
        uint64_t f = from - source->addr + i, t = to - k->addr + i;
        uint8_t bit = (uint8_t)(1 << t % 8);
        k->written[t / 8] = (uint8_t)(source->written[f / 8] >> f % 8 & 1 ? k->written[t / 8] | bit
                                                                          : k->written[t / 8] & ~bit);
    }
}
