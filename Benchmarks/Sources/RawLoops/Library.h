// The SQLite that the loops run on: SQLCipher, or with RAW_LOOPS_PLAIN the system's own, which the
// package in ../../Peer compiles these files for.
#ifndef RAW_LOOPS_LIBRARY_H
#define RAW_LOOPS_LIBRARY_H

#ifndef RAW_LOOPS_PLAIN
#define SQLITE_HAS_CODEC 1
#endif
#include <sqlite3.h>

#include <stdlib.h>
#include <string.h>

// The text of a column in memory of its own, as a C program keeps it; null when there is no memory.
static inline char *raw_copy_text(sqlite3_stmt *statement, int column) {
    const unsigned char *text = sqlite3_column_text(statement, column);
    size_t count = sqlite3_column_bytes(statement, column);
    char *copy = malloc(count + 1);
    if (!copy) return NULL;
    if (count) memcpy(copy, text, count);
    copy[count] = 0;
    return copy;
}

#endif
