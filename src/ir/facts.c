#include "ir/facts.h"

static void number_all(struct program *p) {
    for (uint32_t n = 0; n < p->fns.len; n++)
        for (uint32_t b = 0; b < p->fns.at[n]->blocks.len; b++) {
            struct block *k = &p->fns.at[n]->blocks.at[b];
            for (uint32_t i = 0; i < k->insts.len; i++)
                k->insts.at[i].id = ++p->facts->n;
        }
}

void facts_open(struct program *p, bool keep_notes) {
    p->facts = xcalloc(1, sizeof *p->facts);
    p->facts->keep_notes = keep_notes;
    number_all(p);
}

void facts_free(struct facts *f) {
    if (!f)
        return;
    for (uint32_t k = 0; k < f->tables.len; k++)
        map_free(&f->tables.at[k].by_id);
    vec_free(&f->tables);
    map_free(&f->notes);
    arena_free(&f->arena);
    free(f);
}

/* The number of an instruction that may have been made since the others got theirs. */
static uint32_t number_of(struct facts *f, struct inst *i) {
    if (i && !i->id)
        i->id = ++f->n;
    return i ? i->id : 0;
}

void *fact_make(struct program *p, const void *owner, struct inst *i, size_t size) {
    struct facts *f = p->facts;
    uint32_t id = number_of(f, i), t = 0;
    while (t < f->tables.len && f->tables.at[t].owner != owner)
        t++;
    if (t == f->tables.len) {
        vec_reserve(&f->tables, t + 1);
        f->tables.at[t].owner = owner;
        f->tables.at[t].by_id = (struct map){0};
        f->tables.len++;
    }
    void *fact = map_get_u64(&f->tables.at[t].by_id, id);
    if (!fact) {
        fact = arena_alloc(&f->arena, size);
        map_set_u64(&f->tables.at[t].by_id, id, fact);
    }
    return fact;
}

const void *fact_get(const struct program *p, const void *owner, const struct inst *i) {
    const struct facts *f = p->facts;
    if (!f || (i && !i->id))
        return NULL;
    for (uint32_t t = 0; t < f->tables.len; t++)
        if (f->tables.at[t].owner == owner)
            return map_get_u64(&f->tables.at[t].by_id, i ? i->id : 0);
    return NULL;
}

void note_add(struct program *p, struct inst *i, const char *fmt, ...) {
    struct facts *f = p->facts;
    if (!f || !f->keep_notes)
        return;
    struct str text = {0};
    const char *had = note_of(p, i);
    if (had)
        str_printf(&text, "%s; ", had);
    va_list ap;
    va_start(ap, fmt);
    str_vprintf(&text, fmt, ap);
    va_end(ap);
    map_set_u64(&f->notes, number_of(f, i), arena_strndup(&f->arena, str_text(&text), text.len));
    str_free(&text);
}

const char *note_of(const struct program *p, const struct inst *i) {
    return p->facts && i->id ? map_get_u64(&p->facts->notes, i->id) : NULL;
}
