/* Tokens of PTX text.
 *
 * Words after a dot (directives, opcode suffixes, types, components) are one token, '::' included, because
 * which of them it is depends on where it stands. The lexer never fails: what it cannot read is a TOK_BAD
 * with a message, and the parser reports it where it meets it. */
#ifndef REPRISE_PTX_LEXER_H
#define REPRISE_PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tok_kind {
    TOK_END,
    TOK_BAD,    /* problem says why */
    TOK_IDENT,  /* identifier, also with leading %, $ or _ */
    TOK_WORD,   /* '.' and what follows; the dot is part of the token */
    TOK_INT,    /* bits; unsigned when is_unsigned */
    TOK_F32,    /* bits of 0fXXXXXXXX */
    TOK_F64,    /* bits of 0dX.. or of a decimal constant */
    TOK_STRING, /* with its quotes */
    TOK_PUNCT,  /* one character, or one of << >> <= >= == != && || : see punct */
};

/* Two-character operators have codes above any character. */
enum tok_punct {
    PUNCT_SHL = 256,
    PUNCT_SHR,
    PUNCT_LE,
    PUNCT_GE,
    PUNCT_EQ,
    PUNCT_NE,
    PUNCT_ANDAND,
    PUNCT_OROR
};

struct token {
    enum tok_kind kind;
    int punct;
    uint32_t at, len, line; /* offset and length in the text; line from 1 */
    bool is_unsigned;
    uint64_t bits;
    const char *problem;
};

/* A place in a text. Copying it is a cheap way to look ahead. */
struct lexer {
    const char *text;
    uint32_t len, at, line;
};

/* The next token; TOK_END for ever at the end. */
struct token lex_next(struct lexer *lx);
/* Moves behind the brace that matches an opening one already read, reading braces, strings and comments only.
 * False when the text ends first. */
bool lex_skip_braces(struct lexer *lx);

#endif
