/* What the file of a mechanism includes: the SM as mechanisms see it, the points, the tables, and the macro
 * that says which mechanism the file is.
 *
 *   MECHANISM(toy) = {.name = "toy", .help = "...", .points = {...}, .create = create};
 *
 * In the source tree that is struct mechanism mech_toy, which a line in src/mech/meson.build adds to those
 * built in. Anywhere else the file becomes a shared object that users name by its path:
 *
 *   cc -shared -fPIC -I PREFIX/include/reprise toy.c -o toy.so
 *   reprise run --mech ./toy.so ...
 *
 * Such a file is bound to the interface it was built for: its number, and the size of the structs that
 * mechanisms look into. A machine of another interface refuses it. */
#ifndef REPRISE_MECH_MECHANISM_H
#define REPRISE_MECH_MECHANISM_H

#include "core/view.h"
#include "mech/mech.h"

/* The number of the interface; it changes when points, tables or what core/view.h offers change their
 * meaning. */
enum { MECH_INTERFACE = 14 };

/* What shows that the structs have changed although the number was forgotten: a mix of their sizes. */
#define MECH_SIZE(before, type) ((before)*31u + (uint32_t)sizeof(struct type))
#define MECH_TABLES                                                                                          \
    MECH_SIZE(MECH_SIZE(MECH_SIZE(MECH_SIZE(0, mechanism), param), counter_info), energy_event)
#define MECH_LAYOUT                                                                                          \
    MECH_SIZE(MECH_SIZE(MECH_SIZE(MECH_SIZE(MECH_SIZE(MECH_SIZE(MECH_TABLES, sm), core_op), core_warp),      \
                                  core_spec),                                                                \
                        warp),                                                                               \
              xinst)

/* What a shared object exports under the name reprise_mechanism. The first two members stay where they are.
 */
struct mech_plugin {
    uint32_t interface, layout; /* MECH_INTERFACE and MECH_LAYOUT when it was built */
    const struct mechanism *mechanism;
};

#define MECH_PLUGIN_SYMBOL "reprise_mechanism"

#ifdef REPRISE_BUILT_IN
#define MECHANISM(id) const struct mechanism mech_##id
#else
#define MECHANISM(id)                                                                                        \
    static const struct mechanism mech_##id;                                                                 \
    extern const struct mech_plugin reprise_mechanism;                                                       \
    __attribute__((visibility("default")))                                                                   \
    const struct mech_plugin reprise_mechanism = {MECH_INTERFACE, MECH_LAYOUT, &mech_##id};                  \
    static const struct mechanism mech_##id
#endif

#endif
