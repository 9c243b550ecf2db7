/* Puts the report's page together: data/page/page.html, in which words between @ stand for what is put there.
 */
#include "study/page.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/vec.h"
#include "study/place.h"

/* The scripts of the page, in the order in which they run. */
static const char *const scripts[] = {"base.js",  "charts.js",   "compare.js",  "machine.js", "profile.js",
                                      "repro.js", "pictures.js", "hardware.js", "setup.js",   "main.js"};

/* The parts of Vega that charts need. The distribution has it in modules of CommonJS, not in one file; name
 * is what the others call a module whose file is called otherwise. */
static const struct {
    const char *file, *name;
} modules[] = {
    {"vega-util", NULL},
    {"vega-time", NULL},
    {"vega-format", NULL},
    {"vega-loader", NULL},
    {"vega-dataflow", NULL},
    {"vega-canvas", NULL},
    {"vega-scale", NULL},
    {"vega-scenegraph", NULL},
    {"vega-statistics", NULL},
    {"vega-expression", NULL},
    {"vega-selection", "vega-selections"},
    {"vega-functions", NULL},
    {"vega-event-selector", NULL},
    {"vega-runtime", NULL},
    {"vega-parser", NULL},
    {"vega-view", NULL},
    {"vega-encode", NULL},
    {"vega-transforms", NULL},
    {"vega-view-transforms", NULL},
    {"vega-label", NULL},
    {"vega-interpreter", NULL},
};

/* Adds a file of data/page; false after a message. */
static bool add_file(struct str *out, const char *name) {
    char inside[PATH_MAX], path[PATH_MAX];
    size_t len;
    snprintf(inside, sizeof inside, "page/%s", name);
    char *text = place_data(inside, path, sizeof path) ? io_read(path, &len) : NULL;
    if (text)
        str_add(out, text, len);
    free(text);
    return text != NULL;
}

static bool add_style(struct str *out, const json_t *data) {
    (void)data;
    return add_file(out, "page.css");
}

static bool add_scripts(struct str *out, const json_t *data) {
    (void)data;
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof scripts / sizeof scripts[0]; i++)
        ok = add_file(out, scripts[i]);
    return ok;
}

/* Adds a module as a function that the page's require calls. Where its map is, is of no use in another place.
 */
static bool add_module(struct str *out, const char *file, const char *name) {
    char path[PATH_MAX];
    size_t len;
    snprintf(path, sizeof path, "%s/%s.min.js", VEGA_DIR, file);
    char *text = io_read(path, &len);
    if (!text) {
        fputs("reprise: charts need Vega: install the package libjs-vega\n", stderr);
        return false;
    }
    const char *map = strstr(text, "//# sourceMappingURL");
    str_printf(out, "<script>modules[\"%s\"] = function (module, exports, require) {\n", name ? name : file);
    str_add(out, text, map ? (size_t)(map - text) : len);
    str_printf(out, "\n};</script>\n");
    free(text);
    return true;
}

static bool add_vega(struct str *out, const json_t *data) {
    (void)data;
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof modules / sizeof modules[0]; i++)
        ok = add_module(out, modules[i].file, modules[i].name);
    return ok;
}

/* Inside a script, "</script" and "<!--" would end or change it, whatever string of the data they stand in:
 * "<", which JSON has in strings only, is written as an escape. */
static bool add_data(struct str *out, const json_t *data) {
    char *text = json_dumps(data, JSON_COMPACT);
    for (const char *at = text; at && *at;) {
        size_t n = strcspn(at, "<");
        str_add(out, at, n);
        at += n;
        if (*at == '<') {
            str_printf(out, "\\u003c");
            at++;
        }
    }
    free(text);
    return text != NULL;
}

static const struct {
    const char *word;
    bool (*add)(struct str *out, const json_t *data);
} places[] = {{"@style@", add_style}, {"@vega@", add_vega}, {"@data@", add_data}, {"@script@", add_scripts}};
enum { NPLACES = sizeof places / sizeof places[0] };

/* Adds what the template's text stands for; false after a message. */
static bool fill(struct str *out, const char *text, const json_t *data) {
    while (*text) {
        size_t n = strcspn(text, "@"), k = 0;
        str_add(out, text, n);
        text += n;
        while (k < NPLACES && strncmp(text, places[k].word, strlen(places[k].word)))
            k++;
        if (k < NPLACES) {
            if (!places[k].add(out, data))
                return false;
            text += strlen(places[k].word);
        } else if (*text) {
            str_add(out, text++, 1);
        }
    }
    return true;
}

bool page_write(const char *path, const json_t *data) {
    struct str page = {0}, html = {0};
    bool ok = add_file(&page, "page.html") && fill(&html, str_text(&page), data);
    ok = ok && io_write(path, str_text(&html), html.len);
    str_free(&page);
    str_free(&html);
    return ok;
}
