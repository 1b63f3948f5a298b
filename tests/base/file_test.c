/* Parts of files. */
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

TEST("a part of a file reads back as it was written, and is shorter at the end of the file") {
    FILE *file = tmpfile();
    REQUIRE(file);
    char text[8] = "";
    CHECK(file_write_at(fileno(file), "0123456789", 10, 2));
    CHECK_EQ(file_read_at(fileno(file), text, 4, 5), 4u);
    CHECK_EQ((const char *)text, "3456");
    CHECK_EQ(file_read_at(fileno(file), text, 4, 10), 2u);
    CHECK_EQ(errno, 0);
    CHECK_EQ((const char *)text, "8956");
    fclose(file);
}

TEST("reads and writes that fail give the reason in errno") {
    char byte = 0;
    CHECK_EQ(file_read_at(-1, &byte, 1, 0), 0u);
    CHECK_EQ(errno, EBADF);
    CHECK(!file_write_at(-1, &byte, 1, 0));
    CHECK_EQ(errno, EBADF);
}
