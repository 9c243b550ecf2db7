/* Loads mechanisms from shared objects, and looks at what they bring before anyone uses it. */
#include "mech/load.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mech/mechanism.h"

#define SUFFIX  ".so"
#define NO_NAME "+:,/ \t\n" /* what cannot stand in the name of a mechanism */

/* ---- names ------------------------------------------------------------------------------------------- */

size_t mech_name_length(const char *text, bool *is_file) {
    size_t len = strcspn(text, "+");
    *is_file = false;
    for (const char *at = text; (at = strstr(at, SUFFIX));) {
        at += strlen(SUFFIX);
        if (*at && *at != '+')
            continue;
        if ((size_t)(at - text) > len && !memchr(text, '/', len))
            break; /* that is another name, further on */
        *is_file = true;
        return (size_t)(at - text);
    }
    *is_file = memchr(text, '/', len) != NULL;
    return len;
}

void mech_absolute(const char *text, struct str *out) {
    for (bool is_file;; text++) {
        size_t len = mech_name_length(text, &is_file);
        char dir[PATH_MAX];
        if (is_file && *text != '/' && getcwd(dir, sizeof dir))
            str_printf(out, "%s/", dir);
        str_add(out, text, len);
        text += len;
        if (!*text)
            return;
        str_add(out, "+", 1);
    }
}

/* ---- what a mechanism must have ---------------------------------------------------------------------- */

static bool wrong_params(const struct param_table *t, struct str *why) {
    for (uint32_t i = 0; i < t->count; i++)
        if (param_is_wrong(t, &t->rows[i], why))
            return true;
    return false;
}

static bool wrong_counters(const struct mechanism *m, struct str *why) {
    for (uint32_t i = 0; !why->len && i < m->counters.count; i++) {
        const struct counter_info *c = &m->counters.rows[i];
        if (!c->name || !*c->name || !c->unit || !c->meaning)
            str_printf(why, "its counter number %u lacks a name, a unit or a meaning", i);
    }
    return why->len;
}

static bool wrong_energy(const struct energy_table *t, struct str *why) {
    for (uint32_t i = 0; i < t->count; i++)
        if (t->rows[i].part >= ENERGY_PARTS || t->rows[i].unit >= ENERGY_UNITS || !t->rows[i].param) {
            str_printf(why, "its energy event number %u lacks a part, a unit or a parameter", i);
            return true;
        }
    return false;
}

/* Says why a mechanism cannot be used. */
static bool is_wrong(const struct mechanism *m, struct str *why) {
    if (!m->name || !*m->name || strpbrk(m->name, NO_NAME) || !m->help)
        str_printf(why, "it has no name of one word, or no line of help");
    else if (!m->create)
        str_printf(why, "it has no function 'create' that makes its state");
    for (const struct mech_model *x = m->models; !why->len && x && x->name; x++)
        if (strpbrk(x->name, NO_NAME) || !x->help)
            str_printf(why, "a model of it has no name of one word, or no line of help");
    return why->len || wrong_params(&m->params, why) || wrong_counters(m, why) ||
           wrong_energy(&m->energy, why);
}

/* ---- loading ----------------------------------------------------------------------------------------- */

/* What a mechanism calls must be found by the loader although a program may have loaded this library for
 * itself alone. Where this is no library but the command, its symbols are known anyway. */
static void publish_symbols(void) {
    Dl_info self;
    if (dladdr((void *)(uintptr_t)mech_load, &self))
        (void)dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

const struct mechanism *mech_load(const char *path, struct diag *d) {
    char real[PATH_MAX];
    if (!realpath(path, real)) { /* dlopen would look for a name without '/' elsewhere */
        diag_add(d, DIAG_ERROR,
                 "there is no file '%s'; a mechanism is a shared object, or a name from "
                 "'reprise list mechs'",
                 path);
        return NULL;
    }
    publish_symbols();
    void *object = dlopen(real, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        const char *said = dlerror();
        bool lacks = strstr(said, "undefined symbol");
        diag_add(d, DIAG_ERROR, "%s; %s", said,
                 lacks
                     ? "a mechanism may call what its headers declare: build it against those of this version"
                     : "a mechanism is a shared object: cc -shared -fPIC");
        return NULL;
    }
    const struct mech_plugin *p = dlsym(object, MECH_PLUGIN_SYMBOL);
    if (!p) {
        diag_add(d, DIAG_ERROR, "'%s' is no mechanism: MECHANISM(name) of mech/mechanism.h must define it",
                 path);
        return NULL;
    }
    if (p->interface != MECH_INTERFACE || p->layout != MECH_LAYOUT) {
        diag_add(d, DIAG_ERROR,
                 "'%s' was built for interface %u.%x, this is %u.%x: build it again with the headers of this "
                 "version",
                 path, p->interface, p->layout, MECH_INTERFACE, MECH_LAYOUT);
        return NULL;
    }
    struct str why = {0};
    bool ok = !is_wrong(p->mechanism, &why);
    if (!ok)
        diag_add(d, DIAG_ERROR, "the mechanism '%s' cannot be used: %s", path, str_text(&why));
    str_free(&why);
    return ok ? p->mechanism : NULL;
}
