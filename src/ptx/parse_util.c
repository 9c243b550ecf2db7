/* Reading tokens one at a time, and saying what is wrong with them. */
#include <stdio.h>
#include <string.h>

#include "ptx/parser.h"

enum { MAX_SUGGESTIONS = 64, MAX_SHOWN = 120 };

void advance(struct ptx_parser *p) {
    p->tok = lex_next(&p->lx);
}

struct token peek_token(const struct ptx_parser *p) {
    struct lexer ahead = p->lx;
    return lex_next(&ahead);
}

const char *tok_text(const struct ptx_parser *p, const struct token *t) {
    return p->m->src.text + t->at;
}

char *tok_strdup(struct ptx_parser *p, const struct token *t) {
    return arena_strndup(&p->m->arena, tok_text(p, t), t->len);
}

int shown_len(size_t len) {
    return len > MAX_SHOWN ? MAX_SHOWN : (int)len;
}

bool at_punct(const struct ptx_parser *p, int c) {
    return p->tok.kind == TOK_PUNCT && p->tok.punct == c;
}

bool at_word(const struct ptx_parser *p, const char *word) {
    return p->tok.kind == TOK_WORD && strlen(word) == p->tok.len &&
           !memcmp(tok_text(p, &p->tok), word, p->tok.len);
}

bool accept(struct ptx_parser *p, int c) {
    if (!at_punct(p, c))
        return false;
    advance(p);
    return true;
}

bool accept_word(struct ptx_parser *p, const char *word) {
    if (!at_word(p, word))
        return false;
    advance(p);
    return true;
}

bool unexpected(struct ptx_parser *p, const char *wanted) {
    if (p->tok.kind == TOK_BAD)
        return fail(p, p->tok.at, "%s", p->tok.problem);
    if (p->tok.kind == TOK_END)
        return fail(p, p->tok.at, "expected %s, but the text ends here", wanted);
    return fail(p, p->tok.at, "expected %s, found '%.*s'", wanted, shown_len(p->tok.len),
                tok_text(p, &p->tok));
}

bool expect(struct ptx_parser *p, int c, const char *after) {
    if (accept(p, c))
        return true;
    char wanted[96];
    snprintf(wanted, sizeof wanted, "'%c' after %s", c, after);
    return unexpected(p, wanted);
}

bool expect_ident(struct ptx_parser *p, const char *what, struct token *name) {
    if (p->tok.kind != TOK_IDENT)
        return unexpected(p, what);
    *name = p->tok;
    advance(p);
    return true;
}

const char *next_word(void *ctx, uint32_t i) {
    return ((const char *const *)ctx)[i];
}

const char *did_you_mean(struct ptx_parser *p, const char *word, size_t len,
                         const char *(*next)(void *ctx, uint32_t i), void *ctx) {
    bool shown = p->to->errors < (p->to->limit ? p->to->limit : 20);
    if (!shown || p->suggestions++ >= MAX_SUGGESTIONS)
        return "";
    const char *best = diag_nearest(word, len, next, ctx);
    return best ? arena_printf(&p->m->arena, "; did you mean '%s'?", best) : "";
}
