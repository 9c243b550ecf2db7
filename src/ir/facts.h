/* What passes of mechanisms find out about single instructions, on its way to the machine and to listings.
 *
 * An instruction is known by its number (inst.id), which it keeps through register allocation and layout;
 * what was found out is kept beside the code, by owner and number. Instructions that the allocator adds have
 * no number, and so no facts. A copy of an instruction shares the facts of the original until its id is set
 * to 0. The streams of a program (program.streams) share its tables. */
#ifndef REPRISE_IR_FACTS_H
#define REPRISE_IR_FACTS_H

#include "base/map.h"
#include "ir/ir.h"

struct facts {
    struct arena arena;
    uint32_t n; /* numbers given to instructions so far */
    VEC(struct {
        const void *owner;
        struct map by_id; /* of what fact_make gave out */
    })
    tables;
    bool keep_notes;
    struct map notes; /* by number: text */
};

/* Opens the tables of a program that has none yet, and numbers its instructions. Notes are kept only when
 * somebody will read them. */
void facts_open(struct program *p, bool keep_notes);
/* Releases them; for program_free. */
void facts_free(struct facts *f);

/* The fact of an owner (an address nobody else uses) about instruction i, or about the whole program when i
 * is NULL: size zeroed bytes when it is asked for the first time. */
void *fact_make(struct program *p, const void *owner, struct inst *i, size_t size);
/* The same of a fact that was made; NULL: there is none. */
const void *fact_get(const struct program *p, const void *owner, const struct inst *i);

/* Adds to the text that listings print beside instruction i. */
void note_add(struct program *p, struct inst *i, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* That text, or NULL. */
const char *note_of(const struct program *p, const struct inst *i);

#endif
