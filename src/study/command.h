/* What a run is, in words: the command line that does it, and its manifest. */
#ifndef REPRISE_STUDY_COMMAND_H
#define REPRISE_STUDY_COMMAND_H

#include "study/key.h"
#include "study/plan.h"
#include "study/store.h"

/* A NULL-terminated command line, freed by command_free. */
struct command {
    VEC(char *) words;
    char *input; /* the file of its standard input, NULL: none */
};
/* Where a run puts what it writes; both NULL in the command by which people repeat it. */
struct command_files {
    const char *report, *results; /* results NULL: they are not wanted */
};

/* The command line of a benchmark on a model of a complete plan. */
void command_of(struct command *c, const struct plan *p, const struct bench *b, const struct model *m,
                const struct command_files *files);
void command_free(struct command *c);
/* The words of a command for a shell, quoted where needed. */
void command_quote(struct str *out, char *const *words);
/* Reads a text as a shell reads the words of a command, by blanks and quotes alone: nothing is expanded, and
 * a word that begins with < outside quotes names the file of its standard input. false when there are no
 * words, a quote is not closed, or there is no such file's name or more than one. */
bool command_split(struct command *c, const char *text);
/* The manifest of a run that is about to start, see store.h; the caller owns it. */
store_manifest *command_manifest(const struct plan *p, const struct bench *b, const struct model *m,
                                 const struct run_key *key);
/* Notes in a manifest where and when the run is done. */
void command_begin(store_manifest *m);
/* A text as JSON; bytes that are not UTF-8 become question marks. */
json_t *command_text(const char *text);

#endif
