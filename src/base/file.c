#include "base/file.h"

#include <errno.h>
#include <unistd.h>

size_t file_read_at(int file, void *to, size_t bytes, uint64_t offset) {
    size_t have = 0;
    while (have < bytes) {
        errno = 0;
        ssize_t got = pread(file, (char *)to + have, bytes - have, (off_t)(offset + have));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        have += (size_t)got;
    }
    return have;
}

bool file_write_at(int file, const void *from, size_t bytes, uint64_t offset) {
    size_t done = 0;
    while (done < bytes) {
        ssize_t written = pwrite(file, (const char *)from + done, bytes - done, (off_t)(offset + done));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        done += (size_t)written;
    }
    return true;
}
