/* A disk that refuses: preloaded, it fails the n-th use of the files whose path holds a word.

   refuse("word", n, 0)  the n-th use fails, once; refuse("word", n, 1) it and all later ones
   used()                how many uses there were

   A use is an opening for writing, a write, a sync, a change of size, a renaming, a deletion, a new
   folder or a mapping: what SQLite and Python do alike, since both go through the C library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

static char word[256];
static long at = -1, uses;
static int for_good;

void refuse(const char *of, long place, int all) {
    strncpy(word, of, sizeof word - 1);
    at = place, for_good = all, uses = 0;
}

long used(void) { return uses; }

static int fails(void) {
    long now = uses++;
    if (at < 0 || now < at || (now > at && !for_good)) return 0;
    errno = EIO;
    return 1;
}

static int refused(const char *path) { return word[0] && path && strstr(path, word) && fails(); }

static int refused_file(int file) {
    char link[64], path[PATH_MAX];
    if (!word[0] || file < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0) return 0;
    path[size] = 0;
    return refused(path);
}

#define REAL(name) __typeof__(name) *real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
#define ON_FILE(type, name, declared, given)                                                       \
    type name declared {                                                                           \
        REAL(name);                                                                                \
        return refused_file(file) ? -1 : real given;                                               \
    }
#define ON_PATH(name, declared, given)                                                             \
    int name declared {                                                                            \
        REAL(name);                                                                                \
        return refused(path) ? -1 : real given;                                                    \
    }
#define OPEN(name, declared, given, from)                                                          \
    int name declared {                                                                            \
        REAL(name);                                                                                \
        mode_t mode = 0;                                                                           \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                       \
            va_list more;                                                                          \
            va_start(more, flags);                                                                 \
            mode = va_arg(more, mode_t);                                                           \
            va_end(more);                                                                          \
        }                                                                                          \
        if ((flags & (O_WRONLY | O_RDWR | O_CREAT)) && refused(path)) return -1;                   \
        return real given;                                                                         \
    }

OPEN(open, (const char *path, int flags, ...), (path, flags, mode), flags)
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode), flags)
OPEN(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode), flags)
OPEN(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode), flags)
ON_FILE(ssize_t, write, (int file, const void *from, size_t size), (file, from, size))
ON_FILE(ssize_t, pwrite, (int file, const void *from, size_t size, off_t to),
        (file, from, size, to))
ON_FILE(ssize_t, pwrite64, (int file, const void *from, size_t size, off64_t to),
        (file, from, size, to))
ON_FILE(int, fsync, (int file), (file))
ON_FILE(int, fdatasync, (int file), (file))
ON_FILE(int, ftruncate, (int file, off_t size), (file, size))
ON_FILE(int, ftruncate64, (int file, off64_t size), (file, size))
ON_PATH(rename, (const char *path, const char *to), (path, to))
ON_PATH(unlink, (const char *path), (path))
ON_PATH(mkdir, (const char *path, mode_t mode), (path, mode))

void *mmap(void *place, size_t size, int protection, int flags, int file, off_t from) {
    REAL(mmap);
    return refused_file(file) ? MAP_FAILED : real(place, size, protection, flags, file, from);
}

void *mmap64(void *place, size_t size, int protection, int flags, int file, off64_t from) {
    REAL(mmap64);
    return refused_file(file) ? MAP_FAILED : real(place, size, protection, flags, file, from);
}
