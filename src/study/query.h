/* Answers of the store to a question, for people and for programs. */
#ifndef REPRISE_STUDY_QUERY_H
#define REPRISE_STUDY_QUERY_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

/* Each takes a statement that is ready to step and writes all its rows; false when the statement fails, of
 * which the connection tells more. */

/* Columns side by side; what is no printable text is shown as escapes, and what is too long for 100 columns,
 * or for a wider terminal, goes on in the next line. */
bool query_print(sqlite3_stmt *q, FILE *to);
/* The same without columns that tell no row from another; what they say of all is said in a line above. */
bool query_brief(sqlite3_stmt *q, FILE *to);
/* As RFC 4180 has it; NULL is empty. */
bool query_csv(sqlite3_stmt *q, FILE *to);
/* A list of objects. */
bool query_json(sqlite3_stmt *q, FILE *to);
/* Statements that make a table called result of them. */
bool query_sql(sqlite3_stmt *q, FILE *to);

#endif
