/* Mechanisms from outside: shared objects built against the installed headers. */
#ifndef REPRISE_MECH_LOAD_H
#define REPRISE_MECH_LOAD_H

#include "base/diag.h"
#include "mech/mech.h"

/* The length of the first name in NAME[+NAME...], and whether it is that of a file: one with a '/', or one
 * that ends in ".so". The name of a file ends with ".so", so that '+' may stand in it. */
size_t mech_name_length(const char *text, bool *is_file);

/* The mechanism of a shared object; NULL, with a message, when it has none that can be used here. It stays
 * loaded, and loading it again gives the same one. */
const struct mechanism *mech_load(const char *path, struct diag *d);

/* Adds text, which is NAME[+NAME...], with the paths of files made absolute, for a process in another folder.
 */
void mech_absolute(const char *text, struct str *out);

#endif
