/* Where the host program was: its frames, for reports of the tools. */
#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>

#include "cuda/queue.h"

/* Of work that is done later, those who submitted it. */
static uint32_t capture(void **frames, uint32_t max) {
    uint32_t submitted = cud_running_frames(frames, max);
    if (submitted)
        return submitted;
    int n = backtrace(frames, (int)max);
    return n > 0 ? (uint32_t)n : 0;
}

static bool in_library(const Dl_info *info, const char *library) {
    const char *slash = strrchr(info->dli_fname, '/'), *name = slash ? slash + 1 : info->dli_fname;
    return !strncmp(name, library, strlen(library));
}

/* Whether a frame is in the libraries that stand for CUDA's. */
static bool is_ours(const Dl_info *info, const Dl_info *self) {
    return info->dli_fbase == self->dli_fbase || in_library(info, "libcuda");
}

static char *print(void *const *frames, uint32_t n) {
    Dl_info self, info;
    struct str lines = {0};
    bool outside = false;
    if (!dladdr(&cud, &self))
        n = 0;
    for (uint32_t i = 0; i < n; i++) {
        /* A return address may be the first of another function: the call is before it. */
        const char *at = (const char *)frames[i] - 1;
        if (!dladdr(at, &info) || !info.dli_fname)
            continue;
        outside |= !is_ours(&info, &self);
        if (!outside)
            continue;
        if (lines.len && in_library(&info, "libc.so")) /* what called main is the same in every program */
            break;
        if (info.dli_sname)
            str_printf(&lines, "%s+0x%lx in %s\n", info.dli_sname,
                       (unsigned long)(at + 1 - (const char *)info.dli_saddr), info.dli_fname);
        else
            str_printf(&lines, "[0x%lx] in %s\n", (unsigned long)(at + 1 - (const char *)info.dli_fbase),
                       info.dli_fname);
    }
    char *text = xstrdup(str_text(&lines));
    str_free(&lines);
    return text;
}

const struct rp_host_trace cud_host_trace = {capture, print};
