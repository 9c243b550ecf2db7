/* The reprise command: one function per subcommand, and what they share. */
#ifndef REPRISE_CLI_CLI_H
#define REPRISE_CLI_CLI_H

#include <stdbool.h>

/* Each takes the arguments after its name and returns the exit status. */
int cli_run(int argc, char **argv);
int cli_env(int argc, char **argv);
int cli_disasm(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_profile(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_repro(int argc, char **argv);
int cli_cpu(int argc, char **argv);
int cli_query(int argc, char **argv);
int cli_sweep(int argc, char **argv);
/* Its part that looks for blocks to memoize. */
int cli_cpu_memo(int argc, char **argv);
/* The part of run that takes a PTX file; help is shown on misuse. */
int cli_run_ptx(int argc, char **argv, const char *help);
/* Whether it is an option of run; those come before a PTX file, whose own come behind it. */
bool cli_is_run_option(const char *word);

/* Says what is wrong and how the command is used; returns 2. */
int cli_usage_error(const char *help, const char *what, const char *word);
struct workload_run;
/* The two tables of 'reprise list workloads'; the mix comes from running each of them. */
void cli_list_workloads(void);
int cli_list_mix(const struct workload_run *r);
int cli_list_cpus(void);
struct rp_options;
/* What the mechanisms of a machine do: only approximate; run streams of code of their own. */
struct cli_machine {
    bool approximate, streams;
};
/* Whether the options name a GPU, mechanisms, probes and settings that there are, else a message says what is
 * wrong; and what the mechanisms do. Mechanisms are loaded as cli_load says, unless the options have a list
 * of their own. */
bool cli_machine_exists(const struct rp_options *o, struct cli_machine *machine);
/* Loads the mechanism of a shared object, in this process and those it starts, by their environment. */
void cli_load(const char *path);

#endif
