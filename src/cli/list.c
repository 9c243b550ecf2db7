/* reprise list: what there is to choose from. */
#include <stdio.h>
#include <string.h>

#include "cfg/config.h"
#include "cli/cli.h"

static const char help[] = "usage: reprise list gpus|params\n"
                           "\n"
                           "  gpus     the GPUs --gpu knows\n"
                           "  params   every parameter of a GPU: type, range, default, unit, meaning\n";

int cli_list(int argc, char **argv) {
    struct str out = {0};
    if (argc == 1 && !strcmp(argv[0], "--help")) {
        fputs(help, stdout);
        return 0;
    }
    if (argc == 1 && !strcmp(argv[0], "gpus"))
        config_list_gpus(&out, NULL);
    else if (argc == 1 && !strcmp(argv[0], "params"))
        config_list(&out);
    else
        return cli_usage_error(help, "what should be listed?", "");
    fputs(str_text(&out), stdout);
    str_free(&out);
    return 0;
}
