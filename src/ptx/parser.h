/* What the parser's files share. Functions carry the names of what they read; each returns false after it
 * reported a problem, and whoever reads the enclosing statement or declaration then finds the next one.
 *
 * Names: a name may be declared at module scope (a variable or a function) and in any of the scopes open
 * inside the current function. Registers and variables are declared before use and resolved at once; labels
 * may follow their use and are resolved when their scope closes; functions and module variables that follow
 * their use are resolved at the end of the module. */
#ifndef REPRISE_PTX_PARSER_H
#define REPRISE_PTX_PARSER_H

#include "base/vec.h"
#include "ptx/lexer.h"
#include "ptx/ptx.h"

enum {
    PTX_MAX_DEPTH = 64,            /* nesting of scopes, expressions, operands */
    PTX_MAX_REGS = 1 << 20,        /* registers of a function */
    PTX_MAX_MODULE_REGS = 4 << 20, /* registers of a module, over and above one per byte of text */
    PTX_MAX_FILE = 65535,          /* .file number */
    PTX_MAX_DIMS = 16,
};

#define PTX_MAX_BYTES ((uint64_t)1 << 40) /* size of a variable */

/* What a name of module scope stands for, and its newest declaration in the current function. */
struct ptx_symbol {
    struct ptx_var *var;
    struct ptx_func *func;
    uint32_t local; /* index + 1 in parser.locals, 0 when none */
};

enum local_kind { LOCAL_REG, LOCAL_RANGE, LOCAL_VAR, LOCAL_LABEL, LOCAL_TARGETS };

/* A declaration in an open scope. */
struct ptx_local {
    enum local_kind kind;
    uint32_t depth; /* of its scope */
    uint32_t outer; /* index + 1 of the declaration it hides, 0 when none */
    uint32_t first; /* REG, RANGE: first register; LABEL: label */
    uint32_t count; /* RANGE: names in it */
    uint32_t vec;   /* REG, RANGE: elements of each, 1 unless declared as vectors */
    struct ptx_symbol *sym;
    const char *name;
    struct ptx_var *var;
    const struct ptx_targets *targets;
};

enum use_kind { USE_OPERAND, USE_LABEL, USE_FUNC, USE_INIT };

/* A use of a name not yet declared; to is what is filled in, by kind. */
struct ptx_use {
    enum use_kind kind;
    uint32_t at, len;
    bool branch;           /* only a label will do */
    struct ptx_func *func; /* where it is used, NULL at module scope */
    union {
        struct ptx_opd *opd;
        uint32_t *label;
        const struct ptx_func **func;
        struct ptx_init *init;
    } to;
};

/* A value of an initialiser; a symbol's address has the place and length of its name. */
struct init_value {
    struct ptx_init init;
    uint32_t at, len;
};

/* .alias: a function's name that stands for another's. */
struct ptx_alias {
    struct ptx_func *func;
    uint32_t at, len; /* the name it stands for */
};

/* The state of one ptx_parse. */
struct ptx_parser {
    struct ptx_module *m;
    struct diag *d;   /* the module's problems */
    struct diag body; /* the current function body's */
    struct diag *to;  /* one of the two: where problems go */
    struct lexer lx;
    struct token tok;
    struct map opcodes, mods, types, sregs; /* word -> id + 1 */
    VEC(struct ptx_var *) vars;
    VEC(struct ptx_func *) funcs;
    VEC(struct ptx_alias) aliases;
    VEC(struct ptx_use) later; /* uses left for the end of the module */
    bool address_size_given;
    uint64_t module_regs;
    uint32_t suggestions; /* made so far; they cost time, so there is a limit */

    /* The current function. */
    struct ptx_func *func;
    uint32_t depth;        /* scopes open */
    uint32_t digit_ranges; /* ranges whose prefix ends in a digit */
    VEC(struct ptx_local) locals;
    VEC(struct ptx_use) uses;               /* labels not yet seen, those of inner scopes last */
    VEC(uint32_t) scope_locals, scope_uses; /* where the open scopes start in the two above */
    VEC(struct ptx_reg) regs;
    VEC(struct ptx_var *) func_vars;
    VEC(struct ptx_inst) insts;
    VEC(struct ptx_label) labels;
    VEC(struct ptx_opd) opds;     /* operands being collected, nested lists last */
    VEC(struct init_value) inits; /* of the variable being read */
    bool in_branch;               /* the instruction being read wants labels */
    uint32_t nesting;             /* of the expression or operand being read */
    uint32_t dbg_file, dbg_line, dbg_site;
    struct map site_at; /* of the function: from the hash of a .loc's place to its dbg_site, plus 1 */
    struct map sites;   /* from the hash of a site to its number, plus 1 */
};

/* ---- tokens and problems (parse_util.c) */

/* Reports a problem at a source offset and is false. */
#define fail(p, at, ...) (diag_at((p)->to, DIAG_ERROR, &(p)->m->src, (at), __VA_ARGS__), false)

void advance(struct ptx_parser *p);
/* The token after the current one. */
struct token peek_token(const struct ptx_parser *p);
bool at_punct(const struct ptx_parser *p, int c);
bool at_word(const struct ptx_parser *p, const char *word);
/* Moves on when the current token is c. */
bool accept(struct ptx_parser *p, int c);
bool accept_word(struct ptx_parser *p, const char *word);
/* The same, and a problem when it is not; after names what came before. */
bool expect(struct ptx_parser *p, int c, const char *after);
/* Reports that the current token is not what was wanted. */
bool unexpected(struct ptx_parser *p, const char *wanted);
/* An identifier: its token, copied; the parser moves on. */
bool expect_ident(struct ptx_parser *p, const char *what, struct token *name);
const char *tok_text(const struct ptx_parser *p, const struct token *t);
/* How much of a name or word messages show, for %.*s: it may be as long as the text. */
int shown_len(size_t len);
char *tok_strdup(struct ptx_parser *p, const struct token *t);
/* "; did you mean 'x'?" or "". */
const char *did_you_mean(struct ptx_parser *p, const char *word, size_t len,
                         const char *(*next)(void *ctx, uint32_t i), void *ctx);
/* Tables of candidates for did_you_mean: ctx is an array of words that ends with NULL. */
const char *next_word(void *ctx, uint32_t i);

/* ---- constant expressions (parse_const.c) */

enum const_kind { CONST_S64, CONST_U64, CONST_F32, CONST_F64 };

struct ptx_const {
    enum const_kind kind;
    uint64_t bits;
};

bool parse_const(struct ptx_parser *p, struct ptx_const *c);
/* A constant integer of at most max; what names it in messages. */
bool parse_uint(struct ptx_parser *p, const char *what, uint64_t max, uint64_t *out);
/* An optional + constant or - constant behind a name or register, added to *offset. */
bool parse_offset(struct ptx_parser *p, uint64_t *offset);
/* Whether a constant expression starts here. */
bool at_const(const struct ptx_parser *p);

/* ---- names and scopes (scope.c) */

struct ptx_symbol *symbol_find(const struct ptx_parser *p, const char *name, size_t len);
struct ptx_symbol *symbol_intern(struct ptx_parser *p, const char *name, size_t len);
void scope_open(struct ptx_parser *p);
/* Resolves the labels used inside and forgets the scope's names. */
void scope_close(struct ptx_parser *p);
/* Forgets all scopes of a function that could not be read. */
void scope_close_all(struct ptx_parser *p);
/* Declares a name (the token) in the innermost scope; a problem when it is already there. */
bool local_declare(struct ptx_parser *p, const struct token *name, struct ptx_local l);
/* What a name stands for here; *index is the element of a range. NULL when no open scope declares it. */
const struct ptx_local *local_find(const struct ptx_parser *p, const char *name, size_t len, uint32_t *index);
/* Reports a name that nothing declares. */
bool undeclared(struct ptx_parser *p, uint32_t at, uint32_t len);
/* Notes uses among n operands now at their final place. */
void note_uses(struct ptx_parser *p, struct ptx_opd *opds, uint32_t n);
/* Fills in what a use stands for at module scope; false when it is still unknown. */
bool use_resolve_global(struct ptx_parser *p, const struct ptx_use *u);

/* ---- declarations (parse_decl.c, parse_init.c) */

/* The words in front of a declared name. */
struct decl_spec {
    enum ptx_space space;
    enum ptx_type type;
    enum ptx_linkage linkage;
    uint32_t align, vec, at;
    bool managed, ptr;
};

/* Whether the current word names a state space in which variables are declared. */
bool at_space(const struct ptx_parser *p);
bool parse_attribute(struct ptx_parser *p, bool *managed);
/* [n] behind const: the banks of PTX 1.x are one space today. */
bool parse_bank(struct ptx_parser *p);
bool parse_decl_spec(struct ptx_parser *p, struct decl_spec *s);
/* A name with its dimensions, without registering it; *name is its token. Used for parameters too. */
struct ptx_var *parse_declarator(struct ptx_parser *p, const struct decl_spec *s, struct token *name);
/* A whole variable declaration, at module scope or in a body. */
bool parse_variable(struct ptx_parser *p, enum ptx_linkage linkage);
/* .reg with its list of names. */
bool parse_reg(struct ptx_parser *p);
/* Adds count names' registers to the function; the index of the first goes to *first. */
bool add_regs(struct ptx_parser *p, const struct token *name, const struct decl_spec *s, uint64_t count,
              bool range, uint32_t *first);
/* What follows '='. dims has the array's dimensions, outermost first; an open one is filled in. */
bool parse_initialiser(struct ptx_parser *p, struct ptx_var *v, uint64_t *dims, uint32_t ndims);
/* Sets count and size from the dimensions; a problem when the size is out of all reason. */
bool set_size(struct ptx_parser *p, struct ptx_var *v, const uint64_t *dims, uint32_t ndims);

/* ---- functions (parse_func.c, parse_body.c) */

bool parse_function(struct ptx_parser *p, enum ptx_linkage linkage);
/* ( parameters ) for a declaration, definition or prototype. */
bool parse_params(struct ptx_parser *p, struct ptx_var ***vars, uint32_t *n);
bool parse_func_attributes(struct ptx_parser *p, struct ptx_func *f);
/* The statements of p->func after its '{', to its '}'. */
bool parse_body(struct ptx_parser *p);
/* Whether the current token starts something that stands only at module scope. */
bool at_module_directive(const struct ptx_parser *p);
bool parse_file(struct ptx_parser *p);
bool parse_loc(struct ptx_parser *p);
bool parse_pragma(struct ptx_parser *p);
/* The string of a .pragma in a function that begins with "reprise": what the program says of itself. */
bool parse_annotation(struct ptx_parser *p, const struct token *text);

/* ---- instructions (parse_inst.c, parse_opd.c) */

bool parse_instruction(struct ptx_parser *p);
bool parse_operands(struct ptx_parser *p, struct ptx_inst *i);
/* Adds a word, without its dot, to the instruction. */
bool add_word(struct ptx_parser *p, struct ptx_inst *i, const struct token *t);

/* Word tables, NULL-terminated (names.c). */
extern const char *const ptx_type_words[], *const ptx_opcode_words[], *const ptx_mod_words[],
                                                                          *const ptx_sreg_words[];

#endif
