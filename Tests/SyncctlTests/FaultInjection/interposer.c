// Stands between a program and the C library and lets the disk or the process fail at a chosen
// call. Loaded with LD_PRELOAD; Linux only.
//
// Only calls count that change a file below FAULT_PATH_PREFIX (an absolute path without links):
// write, pwrite, ftruncate, fsync, fdatasync, rename, link and unlink. At call number FAULT_AT
// (the first is 1) happens what FAULT_MODE names:
//   kill       the process is killed before the call
//   torn       half of the bytes of a write are written, then the process is killed
//   full       from this call on, all that needs space fails with ENOSPC
//   readOnly   (at every call) files and folders there can't be written: EROFS, or what FAULT_ERROR names (EACCES)
//   interrupt  SIGINT is raised before the call, which then goes on; interruptTwice: two of them, with a pause
// With FAULT_READS=1 each read and pread counts, too, and goes on unless it kills.
// FAULT_COUNT_FILE gets the number of calls when the process exits.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum mode { NONE, KILL, TORN, FULL, READ_ONLY, INTERRUPT, INTERRUPT_TWICE };

static enum mode mode = NONE;
static long fault_at = 0;
static atomic_long calls = 0;
static char prefix[PATH_MAX];
static size_t prefix_length = 0;

static int counts_reads = 0;
static int read_only_error = EROFS;

static ssize_t (*real_read)(int, void *, size_t);
static ssize_t (*real_pread64)(int, void *, size_t, off64_t);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite64)(int, const void *, size_t, off64_t);
static int (*real_ftruncate64)(int, off64_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_rename)(const char *, const char *);
static int (*real_link)(const char *, const char *);
static int (*real_unlink)(const char *);
static int (*real_open64)(const char *, int, ...);
static int (*real_access)(const char *, int);
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void set_up(void) {
    *(void **)&real_read = dlsym(RTLD_NEXT, "read");
    *(void **)&real_pread64 = dlsym(RTLD_NEXT, "pread64");
    *(void **)&real_write = dlsym(RTLD_NEXT, "write");
    *(void **)&real_pwrite64 = dlsym(RTLD_NEXT, "pwrite64");
    *(void **)&real_ftruncate64 = dlsym(RTLD_NEXT, "ftruncate64");
    *(void **)&real_fsync = dlsym(RTLD_NEXT, "fsync");
    *(void **)&real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    *(void **)&real_rename = dlsym(RTLD_NEXT, "rename");
    *(void **)&real_link = dlsym(RTLD_NEXT, "link");
    *(void **)&real_unlink = dlsym(RTLD_NEXT, "unlink");
    *(void **)&real_open64 = dlsym(RTLD_NEXT, "open64");
    *(void **)&real_access = dlsym(RTLD_NEXT, "access");
    const char *path = getenv("FAULT_PATH_PREFIX");
    const char *at = getenv("FAULT_AT");
    const char *name = getenv("FAULT_MODE");
    if (path != NULL && strlen(path) < sizeof prefix) strcpy(prefix, path);
    prefix_length = strlen(prefix);
    fault_at = at == NULL ? 0 : atol(at);
    counts_reads = getenv("FAULT_READS") != NULL;
    if (name == NULL) return;
    if (strcmp(name, "kill") == 0) mode = KILL;
    if (strcmp(name, "torn") == 0) mode = TORN;
    if (strcmp(name, "full") == 0) mode = FULL;
    if (strcmp(name, "readOnly") == 0) mode = READ_ONLY;
    const char *error = getenv("FAULT_ERROR");
    if (error != NULL && strcmp(error, "EACCES") == 0) read_only_error = EACCES;
    if (strcmp(name, "interrupt") == 0) mode = INTERRUPT;
    if (strcmp(name, "interruptTwice") == 0) mode = INTERRUPT_TWICE;
}

// The first call may come from another library's start, before this one's.
__attribute__((constructor)) static void start(void) { pthread_once(&once, set_up); }

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("FAULT_COUNT_FILE");
    if (path == NULL) return;
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return;
    if (real_write(file, text, (size_t)length) < 0) perror("interposer");
    close(file);
}

static int is_watched_path(const char *path) {
    return prefix_length > 0 && path != NULL && strncmp(path, prefix, prefix_length) == 0;
}

// Pipes and terminals have links without a slash, so they never match.
static int is_watched(int file) {
    if (prefix_length == 0) return 0;
    char link_path[64];
    char target[PATH_MAX];
    snprintf(link_path, sizeof link_path, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link_path, target, sizeof target - 1);
    if (length <= 0) return 0;
    target[length] = 0;
    return is_watched_path(target);
}

// Says whether a path can't be written; then the error is set.
static int is_read_only(const char *path) {
    if (mode != READ_ONLY || !is_watched_path(path)) return 0;
    errno = read_only_error;
    return 1;
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

// Counts a call, and says whether it fails for want of space or is to be torn.
static int fails(int tears) {
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (mode == FULL) return fault_at > 0 && number >= fault_at;
    if (number != fault_at) return 0;
    if (mode == KILL || (mode == TORN && !tears)) die();
    if (mode == INTERRUPT || mode == INTERRUPT_TWICE) raise(SIGINT);
    if (mode == INTERRUPT_TWICE) {
        usleep(400000);  // At once, it would be a repetition of the first one.
        raise(SIGINT);
    }
    return mode == TORN;
}

ssize_t read(int file, void *bytes, size_t count) {
    pthread_once(&once, set_up);
    if (counts_reads && is_watched(file)) fails(0);
    return real_read(file, bytes, count);
}

ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) {
    pthread_once(&once, set_up);
    if (counts_reads && is_watched(file)) fails(0);
    return real_pread64(file, bytes, count, offset);
}

ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
    return pread64(file, bytes, count, offset);
}

ssize_t write(int file, const void *bytes, size_t count) {
    pthread_once(&once, set_up);
    if (!is_watched(file)) return real_write(file, bytes, count);
    if (fails(1)) {
        if (mode == TORN) {
            (void)!real_write(file, bytes, count / 2);
            die();
        }
        errno = ENOSPC;
        return -1;
    }
    return real_write(file, bytes, count);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    pthread_once(&once, set_up);
    if (!is_watched(file)) return real_pwrite64(file, bytes, count, offset);
    if (fails(1)) {
        if (mode == TORN) {
            (void)!real_pwrite64(file, bytes, count / 2, offset);
            die();
        }
        errno = ENOSPC;
        return -1;
    }
    return real_pwrite64(file, bytes, count, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    return pwrite64(file, bytes, count, offset);
}

// A file that gets longer this way has a hole, which takes no space.
int ftruncate64(int file, off64_t length) {
    pthread_once(&once, set_up);
    if (is_watched(file)) fails(0);
    return real_ftruncate64(file, length);
}

int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

// A file system that has taken the bytes has space for them, so a sync does not fail.
int fsync(int file) {
    pthread_once(&once, set_up);
    if (is_watched(file)) fails(0);
    return real_fsync(file);
}

int fdatasync(int file) {
    pthread_once(&once, set_up);
    if (is_watched(file)) fails(0);
    return real_fdatasync(file);
}

int rename(const char *from, const char *to) {
    pthread_once(&once, set_up);
    if (is_read_only(from) || is_read_only(to)) return -1;
    if ((is_watched_path(from) || is_watched_path(to)) && fails(0)) {
        errno = ENOSPC;
        return -1;
    }
    return real_rename(from, to);
}

int link(const char *from, const char *to) {
    pthread_once(&once, set_up);
    if (is_read_only(from) || is_read_only(to)) return -1;
    if ((is_watched_path(from) || is_watched_path(to)) && fails(0)) {
        errno = ENOSPC;
        return -1;
    }
    return real_link(from, to);
}

int unlink(const char *path) {
    pthread_once(&once, set_up);
    if (is_read_only(path)) return -1;
    if (is_watched_path(path)) fails(0);
    return real_unlink(path);
}

int open64(const char *path, int flags, ...) {
    pthread_once(&once, set_up);
    va_list arguments;
    va_start(arguments, flags);
    mode_t permissions = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if ((flags & (O_CREAT | O_ACCMODE)) != O_RDONLY && is_read_only(path)) return -1;
    return real_open64(path, flags, permissions);
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t permissions = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open64(path, flags, permissions);
}

int access(const char *path, int wanted) {
    pthread_once(&once, set_up);
    if ((wanted & W_OK) && is_read_only(path)) return -1;
    return real_access(path, wanted);
}
