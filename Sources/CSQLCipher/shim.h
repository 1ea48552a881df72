// The one door to the C library. SQLCipher declares sqlite3_key_v2 and its
// siblings only when SQLITE_HAS_CODEC is defined before the header is read.
#ifndef CSQLCIPHER_SHIM_H
#define CSQLCIPHER_SHIM_H

#define SQLITE_HAS_CODEC 1
#include <dlfcn.h>
#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/xattr.h>
#ifdef __APPLE__
#include <sys/acl.h>
#endif
#ifdef __linux__
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

// Swift cannot call C functions with variable arguments.
static inline int csqlcipher_db_config_flag(sqlite3 *db, int option, int value) {
    int current = 0;
    return sqlite3_db_config(db, option, value, &current);
}

// It has an effect before the library is initialized, only.
static inline int csqlcipher_config_log(void (*receive)(void *, int, const char *)) {
    return sqlite3_config(SQLITE_CONFIG_LOG, receive, (void *)0);
}

// SQLITE_TRANSIENT is a function pointer made of -1, which Swift does not import.
static inline int csqlcipher_bind_text(sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

static inline int csqlcipher_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return count == 0 ? sqlite3_bind_zeroblob(statement, index, 0)
                      : sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

// The bytes must stay where they are until the parameter is bound again.
static inline int csqlcipher_bind_static_text(sqlite3_stmt *statement, int index, const void *text, int count) {
    return sqlite3_bind_text(statement, index, (const char *)text, count, SQLITE_STATIC);
}

static inline int csqlcipher_bind_static_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_STATIC);
}

static inline void csqlcipher_result_text(sqlite3_context *context, const void *text, int count) {
    sqlite3_result_text(context, (const char *)text, count, SQLITE_TRANSIENT);
}

static inline void csqlcipher_result_blob(sqlite3_context *context, const void *bytes, int count) {
    if (count == 0) sqlite3_result_zeroblob(context, 0);
    else sqlite3_result_blob(context, bytes, count, SQLITE_TRANSIENT);
}

// Where SQLite is to write the address of FTS5's interface. It has the function from 3.20 on, so
// that it is looked for in the library that the program runs on. The name of the type must stay
// where it is, as no Swift string does.
static inline int csqlcipher_bind_fts5_api(sqlite3_stmt *statement, int index, void *pointer) {
    int (*bind)(sqlite3_stmt *, int, void *, const char *, void (*)(void *)) = 0;
#ifdef __APPLE__
    // There the search could find the system's SQLite, which may be loaded, too.
#if SQLITE_VERSION_NUMBER >= 3020000
    bind = sqlite3_bind_pointer;
#endif
#else
    void *program = dlopen((const char *)0, RTLD_LAZY);
    if (program) {
        bind = (int (*)(sqlite3_stmt *, int, void *, const char *, void (*)(void *)))
            dlsym(program, "sqlite3_bind_pointer");
        dlclose(program);
    }
#endif
    return bind ? bind(statement, index, pointer, "fts5_api_ptr", (void (*)(void *))0) : SQLITE_NOTFOUND;
}

// Swift's C library modules have no extended attributes, and no time of birth on Linux.
// The length of the attribute; -1 when the file has none, -2 when it can have none.
static inline long csqlcipher_get_attribute(const char *path, const char *name, void *value, size_t count) {
#ifdef __APPLE__
    long length = getxattr(path, name, value, count, 0, 0);
    int none = ENOATTR;
#else
    long length = getxattr(path, name, value, count);
    int none = ENODATA;
#endif
    return length >= 0 ? length : (errno == none || errno == ERANGE ? -1 : -2);
}

static inline int csqlcipher_set_attribute(const char *path, const char *name, const void *value, size_t count) {
#ifdef __APPLE__
    return setxattr(path, name, value, count, 0, 0);
#else
    return setxattr(path, name, value, count, 0);
#endif
}

// Gives a file the attributes and the list of rights of another one, but for what FilePlace notes. What the system does
// not allow is left out. No descriptor is used: closing one would drop the locks of an open database. A link in the place
// of the new file is not followed: root would give the rights to the file of somebody else.
static inline void csqlcipher_copy_attributes(const char *from, const char *to) {
    char names[8192];
    char value[8192];
#ifdef __APPLE__
    ssize_t total = listxattr(from, names, sizeof names, 0);
#else
    ssize_t total = listxattr(from, names, sizeof names);
#endif
    for (ssize_t at = 0; at < total; at += (ssize_t)strlen(names + at) + 1) {
        const char *name = names + at;
        if (strncmp(name, "user.cipherstore.", 17) == 0) continue;
#ifndef __APPLE__
        // The others are the kernel's own, or say something about the content.
        if (strncmp(name, "user.", 5) != 0 && strcmp(name, "system.posix_acl_access") != 0
            && strcmp(name, "security.selinux") != 0) continue;
#endif
        long length = csqlcipher_get_attribute(from, name, value, sizeof value);
        if (length < 0) continue;
#ifdef __APPLE__
        setxattr(to, name, value, (size_t)length, 0, XATTR_NOFOLLOW);
#else
        lsetxattr(to, name, value, (size_t)length, 0);
#endif
    }
#ifdef __APPLE__
    acl_t rights = acl_get_file(from, ACL_TYPE_EXTENDED);
    if (rights) {
        acl_set_link_np(to, ACL_TYPE_EXTENDED, rights);
        acl_free(rights);
    }
#else
    // The folder may have given the new file rights that the old one lacks.
    if (csqlcipher_get_attribute(from, "system.posix_acl_access", value, sizeof value) == -1)
        lremovexattr(to, "system.posix_acl_access");
#endif
}

// When the file was made, in nanoseconds of Unix time; 0 when the file system does not say.
static inline long long csqlcipher_birth_time(const char *path) {
#ifdef __APPLE__
    struct stat information;
    if (stat(path, &information) != 0) return 0;
    return information.st_birthtimespec.tv_sec * 1000000000LL + information.st_birthtimespec.tv_nsec;
#elif defined(__linux__) && defined(SYS_statx) && defined(STATX_BTIME)
    struct statx information;
    if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_BTIME, &information) != 0) return 0;
    if (!(information.stx_mask & STATX_BTIME)) return 0;
    return information.stx_btime.tv_sec * 1000000000LL + information.stx_btime.tv_nsec;
#else
    return 0;
#endif
}

#endif
