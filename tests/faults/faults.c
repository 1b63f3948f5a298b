/* Makes calls of the program fail: the Nth allocation, write, fork, ... Linked into the program sluice_faults of builds
 * with sanitizers, and into no other; tests/faults/faults.py runs it.
 *
 *     SLUICE_FAIL=KIND:N        the Nth call of this kind fails; KIND is one of the kinds below
 *     SLUICE_FAIL_CHILD=KIND:N  the same in each process that the program starts
 *     SLUICE_FAIL=paths         no call fails, and the path of each call is noted
 *     SLUICE_FAULTS=FILE        this process, or each child, appends "failed FUNCTION" when a call fails, and "KIND PROCESS
 *                               PATH" for each call if paths are noted; PATH is a digest of the call stack
 *
 * Allocation functions and libyaml and libzstd are replaced by the linker (--wrap), which acts on calls from Sluice's own
 * objects only: the sanitizer keeps its malloc. Functions that reach the kernel are replaced by definitions in the program,
 * which shared libraries call, too: SQLite's writes, opens and fsyncs are counted. SQLite's allocations are counted through
 * its configuration. A FILE is a stream of fopencookie(), so that each of its reads, writes and its close is one call.
 * Not counted: allocations inside the C library and inside libyaml and libzstd, which fail as a whole call; stderr. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <yaml.h>
#include <zstd.h>
#include <zstd_errors.h>

enum kind { MALLOC, LIBRARY, SQLITE, WRITE, FULL, READ, SHORT, OPEN, CLOSE, RENAME, FSYNC, FORK, THREAD, KINDS };
static const char *const kinds[KINDS] = {
    [MALLOC] = "malloc",   /* allocations of Sluice: ENOMEM */
    [LIBRARY] = "library", /* libyaml and libzstd run out of memory */
    [SQLITE] = "sqlite",   /* allocations of SQLite */
    [WRITE] = "write",     /* one write fails: EIO */
    [FULL] = "full",       /* the disk is full from here on: half of the bytes, then ENOSPC */
    [READ] = "read",       /* EIO */
    [SHORT] = "short",     /* a read returns half of its bytes */
    [OPEN] = "open",       /* files, directories, pipes: EMFILE */
    [CLOSE] = "close",     /* fclose() reports EIO, as NFS does */
    [RENAME] = "rename",   /* EIO */
    [FSYNC] = "fsync",     /* EIO */
    [FORK] = "fork",       /* EAGAIN */
    [THREAD] = "thread",   /* EAGAIN */
};

static atomic_long counts[KINDS];
static enum kind armed = KINDS;
static long when;
static pid_t noting_paths; /* the process whose paths are noted; forks of it go on counting from its counts */
static char report[4096];  /* SLUICE_FAULTS */

static int real_open(const char *path, int flags, mode_t mode) {
    static int (*real)(const char *, int, ...);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "open");
    return real(path, flags, mode);
}

static ssize_t real_write(int file, const void *bytes, size_t count) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "write");
    return real(file, bytes, count);
}

static void note(const char *text) {
    int file = report[0] ? real_open(report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (file < 0) return;
    if (real_write(file, text, strlen(text)) < 0) abort();
    close(file);
}

/* Two calls with equal stacks take the same way through the program to their failure, so a few of them stand for all. */
static void note_path(enum kind kind) {
    static atomic_flag busy = ATOMIC_FLAG_INIT; /* notes of two threads in the order of their counts */
    void *frames[64];
    int depth = backtrace(frames, 64);
    char text[64];
    unsigned long long path = XXH3_64bits(frames, (size_t)depth * sizeof *frames);
    snprintf(text, sizeof text, "%s %d %016llx\n", kinds[kind], noting_paths, path);
    while (atomic_flag_test_and_set(&busy)) {
    }
    note(text);
    atomic_flag_clear(&busy);
}

/* Whether this call has to fail. */
static bool fails(enum kind kind, const char *function, int number) {
    if (noting_paths && noting_paths == getpid()) note_path(kind);
    long count = atomic_fetch_add(&counts[kind], 1) + 1;
    if (kind != armed || (kind == FULL ? count < when : count != when)) return false;
    char text[64];
    snprintf(text, sizeof text, "failed %s\n", function);
    if (count == when) note(text);
    errno = number;
    return true;
}

/* --- allocation --- */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
char *__real_strdup(const char *text);
char *__real_realpath(const char *path, char *resolved);
void *__real_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);

void *__wrap_malloc(size_t bytes) { return fails(MALLOC, "malloc", ENOMEM) ? NULL : __real_malloc(bytes); }
void *__wrap_calloc(size_t count, size_t bytes) {
    return fails(MALLOC, "calloc", ENOMEM) ? NULL : __real_calloc(count, bytes);
}
void *__wrap_realloc(void *old, size_t bytes) {
    return fails(MALLOC, "realloc", ENOMEM) ? NULL : __real_realloc(old, bytes);
}
void *__wrap_aligned_alloc(size_t align, size_t bytes) {
    return fails(MALLOC, "aligned_alloc", ENOMEM) ? NULL : __real_aligned_alloc(align, bytes);
}
char *__wrap_strdup(const char *text) { return fails(MALLOC, "strdup", ENOMEM) ? NULL : __real_strdup(text); }
char *__wrap_realpath(const char *path, char *resolved) {
    return fails(MALLOC, "realpath", ENOMEM) ? NULL : __real_realpath(path, resolved);
}
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
    return fails(MALLOC, "mmap", ENOMEM) ? MAP_FAILED : __real_mmap(at, bytes, protection, flags, file, offset);
}

static sqlite3_mem_methods sqlite_memory;
static void *sqlite_malloc(int bytes) {
    return fails(SQLITE, "sqlite malloc", ENOMEM) ? NULL : sqlite_memory.xMalloc(bytes);
}
static void *sqlite_realloc(void *old, int bytes) {
    return fails(SQLITE, "sqlite realloc", ENOMEM) ? NULL : sqlite_memory.xRealloc(old, bytes);
}

/* --- libraries --- */

int __real_yaml_parser_initialize(yaml_parser_t *parser);
int __real_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event);
ZSTD_CCtx *__real_ZSTD_createCCtx(void);
ZSTD_DCtx *__real_ZSTD_createDCtx(void);
size_t __real_ZSTD_compress(void *to, size_t room, const void *from, size_t bytes, int level);
size_t __real_ZSTD_compress2(ZSTD_CCtx *context, void *to, size_t room, const void *from, size_t bytes);
size_t __real_ZSTD_decompress(void *to, size_t room, const void *from, size_t bytes);

static const size_t zstd_no_memory = (size_t)-ZSTD_error_memory_allocation;

int __wrap_yaml_parser_initialize(yaml_parser_t *parser) {
    return fails(LIBRARY, "yaml_parser_initialize", ENOMEM) ? 0 : __real_yaml_parser_initialize(parser);
}
int __wrap_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event) {
    if (!fails(LIBRARY, "yaml_parser_parse", ENOMEM)) return __real_yaml_parser_parse(parser, event);
    memset(event, 0, sizeof *event);
    parser->error = YAML_MEMORY_ERROR;
    return 0;
}
ZSTD_CCtx *__wrap_ZSTD_createCCtx(void) {
    return fails(LIBRARY, "ZSTD_createCCtx", ENOMEM) ? NULL : __real_ZSTD_createCCtx();
}
ZSTD_DCtx *__wrap_ZSTD_createDCtx(void) {
    return fails(LIBRARY, "ZSTD_createDCtx", ENOMEM) ? NULL : __real_ZSTD_createDCtx();
}
size_t __wrap_ZSTD_compress(void *to, size_t room, const void *from, size_t bytes, int level) {
    return fails(LIBRARY, "ZSTD_compress", ENOMEM) ? zstd_no_memory
                                                   : __real_ZSTD_compress(to, room, from, bytes, level);
}
size_t __wrap_ZSTD_compress2(ZSTD_CCtx *context, void *to, size_t room, const void *from, size_t bytes) {
    return fails(LIBRARY, "ZSTD_compress2", ENOMEM) ? zstd_no_memory
                                                    : __real_ZSTD_compress2(context, to, room, from, bytes);
}
size_t __wrap_ZSTD_decompress(void *to, size_t room, const void *from, size_t bytes) {
    return fails(LIBRARY, "ZSTD_decompress", ENOMEM) ? zstd_no_memory : __real_ZSTD_decompress(to, room, from, bytes);
}

/* --- files --- */

/* Defines `real`, the next definition of a function after the program's. */
#define REAL(name, result, ...) \
    static result (*real)(__VA_ARGS__); \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, name)

/* A write to a file of a result. Half of the bytes fit on a full disk. */
static bool write_fails(const char *function, size_t *bytes) {
    bool failed = fails(WRITE, function, EIO);
    if (!fails(FULL, function, ENOSPC)) return failed;
    if (counts[FULL] > when || *bytes < 2) return true;
    *bytes /= 2;
    return false;
}

ssize_t write(int file, const void *bytes, size_t count) {
    if (file != STDERR_FILENO && write_fails("write", &count)) return -1;
    return real_write(file, bytes, count);
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    REAL("pwrite", ssize_t, int, const void *, size_t, off_t);
    return write_fails("pwrite", &count) ? -1 : real(file, bytes, count, offset);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off_t offset) {
    REAL("pwrite64", ssize_t, int, const void *, size_t, off_t);
    return write_fails("pwrite64", &count) ? -1 : real(file, bytes, count, offset);
}
/* SQLite calls pread64() and treats a short read as the end of the file, so its reads are never short. */
ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
    REAL("pread", ssize_t, int, void *, size_t, off_t);
    if (fails(SHORT, "short pread", 0)) count = (count + 1) / 2;
    return fails(READ, "pread", EIO) ? -1 : real(file, bytes, count, offset);
}
ssize_t pread64(int file, void *bytes, size_t count, off_t offset) {
    REAL("pread64", ssize_t, int, void *, size_t, off_t);
    return fails(READ, "pread64", EIO) ? -1 : real(file, bytes, count, offset);
}
int ftruncate64(int file, off_t bytes) {
    REAL("ftruncate64", int, int, off_t);
    return fails(WRITE, "ftruncate64", EIO) ? -1 : real(file, bytes);
}
int fsync(int file) {
    REAL("fsync", int, int);
    return fails(FSYNC, "fsync", EIO) ? -1 : real(file);
}
int fdatasync(int file) {
    REAL("fdatasync", int, int);
    return fails(FSYNC, "fdatasync", EIO) ? -1 : real(file);
}
int rename(const char *from, const char *to) {
    REAL("rename", int, const char *, const char *);
    return fails(RENAME, "rename", EIO) ? -1 : real(from, to);
}

static int open_with(const char *function, const char *path, int flags, va_list rest) {
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    return fails(OPEN, function, EMFILE) ? -1 : real_open(path, flags, mode);
}
int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int file = open_with("open", path, flags, rest);
    va_end(rest);
    return file;
}
int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int file = open_with("open64", path, flags, rest);
    va_end(rest);
    return file;
}
int mkstemp(char *path) {
    REAL("mkstemp", int, char *);
    return fails(OPEN, "mkstemp", EMFILE) ? -1 : real(path);
}
char *mkdtemp(char *path) {
    REAL("mkdtemp", char *, char *);
    return fails(OPEN, "mkdtemp", ENOSPC) ? NULL : real(path);
}
int mkdir(const char *path, mode_t mode) {
    REAL("mkdir", int, const char *, mode_t);
    return fails(OPEN, "mkdir", ENOSPC) ? -1 : real(path, mode);
}
DIR *opendir(const char *path) {
    REAL("opendir", DIR *, const char *);
    return fails(OPEN, "opendir", EMFILE) ? NULL : real(path);
}
int scandir(const char *path, struct dirent ***entries, int (*wanted)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **)) {
    REAL("scandir", int, const char *, struct dirent ***, int (*)(const struct dirent *),
         int (*)(const struct dirent **, const struct dirent **));
    return fails(OPEN, "scandir", EMFILE) ? -1 : real(path, entries, wanted, compare);
}
int pipe(int ends[2]) {
    REAL("pipe", int, int *);
    return fails(OPEN, "pipe", EMFILE) ? -1 : real(ends);
}
int pipe2(int ends[2], int flags) {
    REAL("pipe2", int, int *, int);
    return fails(OPEN, "pipe2", EMFILE) ? -1 : real(ends, flags);
}

/* Streams on a descriptor */

static ssize_t stream_read(void *cookie, char *to, size_t bytes) {
    if (fails(SHORT, "short fread", 0)) bytes = (bytes + 1) / 2;
    return fails(READ, "fread", EIO) ? -1 : read((int)(intptr_t)cookie, to, bytes);
}
static ssize_t stream_write(void *cookie, const char *from, size_t bytes) {
    /* The result 0 is the error that fopencookie(3) defines. */
    if (write_fails("fwrite", &bytes)) return 0;
    ssize_t written = real_write((int)(intptr_t)cookie, from, bytes);
    return written < 0 ? 0 : written;
}
static int stream_seek(void *cookie, off64_t *offset, int from) {
    off_t at = lseek((int)(intptr_t)cookie, *offset, from);
    if (at >= 0) *offset = at;
    return at < 0 ? -1 : 0;
}
static int stream_close(void *cookie) {
    int closed = close((int)(intptr_t)cookie);
    return fails(CLOSE, "fclose", EIO) ? -1 : closed;
}

static FILE *stream(int file, const char *mode) {
    static const cookie_io_functions_t functions = {stream_read, stream_write, stream_seek, stream_close};
    return fopencookie((void *)(intptr_t)file, mode, functions);
}

FILE *__wrap_fdopen(int file, const char *mode) { return fails(OPEN, "fdopen", ENOMEM) ? NULL : stream(file, mode); }
FILE *__wrap_fopen(const char *path, const char *mode) {
    if (fails(OPEN, "fopen", EMFILE)) return NULL;
    int flags = mode[0] == 'r' ? O_RDONLY : O_WRONLY | O_CREAT | (mode[0] == 'a' ? O_APPEND : O_TRUNC);
    int file = real_open(path, flags | (strchr(mode, 'e') ? O_CLOEXEC : 0), 0666);
    return file < 0 ? NULL : stream(file, mode);
}

/* A file in memory */

struct memory {
    char **text;
    size_t *length, used;
};

static ssize_t memory_write(void *cookie, const char *from, size_t bytes) {
    struct memory *memory = cookie;
    char *larger = fails(MALLOC, "realloc of open_memstream", ENOMEM)
                       ? NULL
                       : __real_realloc(*memory->text, memory->used + bytes + 1);
    if (!larger) return 0;
    memcpy(larger + memory->used, from, bytes);
    *memory->length = memory->used += bytes;
    larger[memory->used] = '\0';
    *memory->text = larger;
    return (ssize_t)bytes;
}
static int memory_close(void *cookie) {
    free(cookie);
    return 0;
}

FILE *__wrap_open_memstream(char **text, size_t *length) {
    static const cookie_io_functions_t functions = {.write = memory_write, .close = memory_close};
    if (fails(MALLOC, "open_memstream", ENOMEM)) return NULL;
    struct memory *memory = __real_calloc(1, sizeof *memory);
    *memory = (struct memory){.text = text, .length = length};
    *text = __real_calloc(1, 1);
    *length = 0;
    return fopencookie(memory, "w", functions);
}

/* --- processes and threads --- */

pid_t fork(void) {
    REAL("fork", pid_t, void);
    return fails(FORK, "fork", EAGAIN) ? -1 : real();
}
int posix_spawnp(pid_t *child, const char *program, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const words[], char *const environment[]) {
    REAL("posix_spawnp", int, pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
         char *const *, char *const *);
    return fails(FORK, "posix_spawnp", EAGAIN) ? EAGAIN : real(child, program, actions, attributes, words, environment);
}
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *user) {
    REAL("pthread_create", int, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    return fails(THREAD, "pthread_create", EAGAIN) ? EAGAIN : real(thread, attributes, function, user);
}

/* --- begin and end --- */

static void parse(const char *text) {
    if (strcmp(text, "paths") == 0) {
        noting_paths = getpid();
        return;
    }
    for (unsigned kind = 0; kind < KINDS; kind++) {
        size_t length = strlen(kinds[kind]);
        if (strncmp(text, kinds[kind], length) != 0 || text[length] != ':') continue;
        armed = (enum kind)kind;
        when = atol(text + length + 1);
        return;
    }
    fprintf(stderr, "SLUICE_FAIL=%s: unknown kind\n", text);
    abort();
}

__attribute__((constructor)) static void begin(void) {
    const char *fail = getenv("SLUICE_FAIL"), *child = getenv("SLUICE_FAIL_CHILD"), *path = getenv("SLUICE_FAULTS");
    if (fail) parse(fail);
    if (path && !child) snprintf(report, sizeof report, "%s", path);
    if (child)
        setenv("SLUICE_FAIL", child, 1);
    else
        unsetenv("SLUICE_FAIL"), unsetenv("SLUICE_FAULTS");
    unsetenv("SLUICE_FAIL_CHILD");
    stdout = stream(STDOUT_FILENO, "w");
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory);
    sqlite3_mem_methods memory = sqlite_memory;
    memory.xMalloc = sqlite_malloc;
    memory.xRealloc = sqlite_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
}
