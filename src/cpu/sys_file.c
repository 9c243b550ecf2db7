/* System calls about files. What may be opened is what the user named: on the command line, or as an argument
 * of the program. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpu/sys.h"

enum { PATH = 4096, CHUNK = 1 << 20, VECTORS = 1024 };

/* The host's file of the guest's number, or -1. */
static int host_file(const struct guest *g, uint64_t fd) {
    return fd < GUEST_FILES ? g->files[fd] : -1;
}

static bool listed(const char *const *list, const char *path) {
    for (; list && *list; list++)
        if (!strcmp(*list, path))
            return true;
    return false;
}

/* The path at an address, if the guest may open it: 0 or an error. */
static int64_t named_path(const struct guest *g, uint64_t at, char *path) {
    if (!space_read_string(&g->space, at, path, PATH))
        return -EFAULT;
    if (listed(g->options.files, path) || listed(g->options.argv + 1, path))
        return 0;
    return -ENOENT;
}

int64_t sys_openat(struct guest *g, const uint64_t *arg) {
    enum { KEPT = O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND };
    char path[PATH];
    int64_t error = named_path(g, arg[1], path);
    if (error)
        return error;
    for (int k = 0; k < GUEST_FILES; k++)
        if (g->files[k] < 0) {
            g->files[k] = open(path, (int)(arg[2] & KEPT) | O_CLOEXEC | O_NOCTTY, (mode_t)(arg[3] & 0777));
            return g->files[k] < 0 ? -errno : k;
        }
    return -EMFILE;
}

int64_t sys_close(struct guest *g, const uint64_t *arg) {
    int file = host_file(g, arg[0]);
    if (file < 0)
        return -EBADF;
    g->files[arg[0]] = -1;
    return file < 3 || !close(file) ? 0 : -errno; /* the simulator's own streams stay open */
}

void sys_close_all(struct guest *g) {
    for (uint64_t k = 0; k < GUEST_FILES; k++)
        if (g->files[k] > 2)
            sys_close(g, &k);
}

/* Reads or writes at most size bytes at a guest address; offset -1: where the file stands. */
static int64_t transfer(struct guest *g, uint64_t fd, uint64_t at, uint64_t size, bool writes,
                        int64_t offset) {
    int file = host_file(g, fd);
    if (file < 0)
        return -EBADF;
    size = size < CHUNK ? size : CHUNK;
    if (!space_allows(&g->space, at, size, writes ? PERM_READ : PERM_WRITE))
        return -EFAULT;
    uint8_t *bytes = g->space.mem + at;
    ssize_t n;
    if (writes)
        n = offset < 0 ? write(file, bytes, size) : pwrite(file, bytes, size, offset);
    else
        n = offset < 0 ? read(file, bytes, size) : pread(file, bytes, size, offset);
    return n < 0 ? -errno : n;
}

int64_t sys_read(struct guest *g, const uint64_t *arg) {
    return transfer(g, arg[0], arg[1], arg[2], false, -1);
}

int64_t sys_write(struct guest *g, const uint64_t *arg) {
    return transfer(g, arg[0], arg[1], arg[2], true, -1);
}

int64_t sys_pread64(struct guest *g, const uint64_t *arg) {
    return (int64_t)arg[3] < 0 ? -EINVAL : transfer(g, arg[0], arg[1], arg[2], false, (int64_t)arg[3]);
}

int64_t sys_pwrite64(struct guest *g, const uint64_t *arg) {
    return (int64_t)arg[3] < 0 ? -EINVAL : transfer(g, arg[0], arg[1], arg[2], true, (int64_t)arg[3]);
}

static int64_t transfer_vector(struct guest *g, const uint64_t *arg, bool writes) {
    int64_t total = 0;
    if (arg[2] > VECTORS)
        return -EINVAL;
    for (uint64_t k = 0; k < arg[2]; k++) {
        uint64_t v[2];
        if (!space_read(&g->space, arg[1] + 16 * k, v, sizeof v))
            return total ? total : -EFAULT;
        while (v[1]) { /* a long piece takes several transfers */
            int64_t n = transfer(g, arg[0], v[0], v[1], writes, -1);
            if (n <= 0)
                return total ? total : n;
            total += n;
            v[0] += (uint64_t)n;
            v[1] -= (uint64_t)n;
            if (v[1] && !writes)
                return total;
        }
    }
    return total;
}

int64_t sys_readv(struct guest *g, const uint64_t *arg) {
    return transfer_vector(g, arg, false);
}

int64_t sys_writev(struct guest *g, const uint64_t *arg) {
    return transfer_vector(g, arg, true);
}

int64_t sys_lseek(struct guest *g, const uint64_t *arg) {
    int file = host_file(g, arg[0]);
    if (file < 0)
        return -EBADF;
    if (file < 3) /* streams, whatever they are on this host */
        return -ESPIPE;
    off_t at = arg[2] <= 2 ? lseek(file, (off_t)arg[1], (int)arg[2]) : (errno = EINVAL, -1);
    return at < 0 ? -errno : at;
}

int64_t sys_ftruncate(struct guest *g, const uint64_t *arg) {
    int file = host_file(g, arg[0]);
    return file < 3 ? -EINVAL : !ftruncate(file, (off_t)arg[1]) ? 0 : -errno;
}

/* struct stat of the kernel for AArch64. Only what a file is and how large is told. */
struct guest_stat {
    uint64_t dev, ino;
    uint32_t mode, nlink, uid, gid;
    uint64_t rdev, pad;
    int64_t size;
    int32_t blksize, pad2;
    int64_t blocks;
    int64_t times[6];
    uint32_t unused[2];
};

static int64_t give_stat(struct guest *g, uint64_t at, const struct stat *host, bool stream) {
    struct guest_stat s = {.dev = 1, .ino = 1, .nlink = 1, .uid = 1000, .gid = 1000, .blksize = 4096};
    s.mode = stream ? S_IFIFO | 0600 : host->st_mode;
    s.size = stream ? 0 : host->st_size;
    s.blocks = (s.size + 511) / 512;
    return space_write(&g->space, at, &s, sizeof s) ? 0 : -EFAULT;
}

int64_t sys_fstat(struct guest *g, const uint64_t *arg) {
    int file = host_file(g, arg[0]);
    struct stat s = {0};
    if (file < 0)
        return -EBADF;
    return file < 3 || !fstat(file, &s) ? give_stat(g, arg[1], &s, file < 3) : -errno;
}

int64_t sys_newfstatat(struct guest *g, const uint64_t *arg) {
    enum { EMPTY_PATH = 0x1000 };
    char path[PATH];
    struct stat s;
    if ((arg[3] & EMPTY_PATH) && space_read_string(&g->space, arg[1], path, 1))
        return sys_fstat(g, (uint64_t[]){arg[0], arg[2]});
    int64_t error = named_path(g, arg[1], path);
    if (error)
        return error;
    return !stat(path, &s) ? give_stat(g, arg[2], &s, false) : -errno;
}

int64_t sys_faccessat(struct guest *g, const uint64_t *arg) {
    char path[PATH];
    int64_t error = named_path(g, arg[1], path);
    return error ? error : !access(path, (int)arg[2] & 7) ? 0 : -errno;
}

int64_t sys_readlinkat(struct guest *g, const uint64_t *arg) {
    char path[PATH];
    int64_t error = named_path(g, arg[1], path);
    return error ? error : -EINVAL; /* nothing is a link */
}

int64_t sys_getcwd(struct guest *g, const uint64_t *arg) {
    return arg[1] < 2 ? -ERANGE : space_write(&g->space, arg[0], "/", 2) ? 2 : -EFAULT;
}

/* No file is a terminal. */
int64_t sys_ioctl(struct guest *g, const uint64_t *arg) {
    return host_file(g, arg[0]) < 0 ? -EBADF : -ENOTTY;
}

int64_t sys_fcntl(struct guest *g, const uint64_t *arg) {
    int file = host_file(g, arg[0]);
    if (file < 0)
        return -EBADF;
    switch (arg[1]) {
    case F_GETFL: {
        int flags = fcntl(file, F_GETFL);
        return flags < 0 ? -errno : flags & (O_ACCMODE | O_APPEND);
    }
    case F_GETFD:
    case F_SETFD:
    case F_SETFL:
        return 0;
    default:
        return -EINVAL;
    }
}
