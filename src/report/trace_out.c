/* The file of a trace: lines gather in a buffer and reach the file whole. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/trace_model.h"

enum { BUFFER = 1 << 18, LINE = 1 << 13 }; /* LINE: room for the longest lines one call writes */

bool trace_out_open(struct trace_out *o, const char *path) {
    *o = (struct trace_out){0};
    if (!io_begin(&o->file, path))
        return false;
    o->path = xstrdup(path);
    o->buffer = xcalloc(1, BUFFER);
    return true;
}

/* A signal that ends the process waits until the write is over, or it would leave half a line. */
void trace_out_flush(struct trace_out *o) {
    static const int endings[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    sigset_t block, before;
    sigemptyset(&block);
    for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++)
        sigaddset(&block, endings[k]);
    pthread_sigmask(SIG_BLOCK, &block, &before);
    for (size_t done = 0; done < o->len && !o->error;) {
        ssize_t n = write(fileno(o->file.to), o->buffer + done, o->len - done);
        if (n > 0)
            done += (size_t)n;
        else if (n < 0 && errno != EINTR)
            o->error = errno;
    }
    o->len = 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void trace_out_printf(struct trace_out *o, const char *fmt, ...) {
    if (BUFFER - o->len < LINE)
        trace_out_flush(o);
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(o->buffer + o->len, LINE, fmt, ap);
    va_end(ap);
    if (n > 0 && n < LINE)
        o->len += (size_t)n;
}

void trace_out_close(struct trace_out *o) {
    trace_out_flush(o);
    errno = o->error;
    if (!io_end(&o->file, !o->error) && !o->error)
        o->error = EIO;
    free(o->path);
    free(o->buffer);
}
