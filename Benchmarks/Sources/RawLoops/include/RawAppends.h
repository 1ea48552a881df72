// Appends to channels of a relay as a C program would do them: the statements of the relay's SQLite file, in as many commits.
#ifndef RAW_APPENDS_H
#define RAW_APPENDS_H

#include <stddef.h>
#include <stdint.h>

struct sqlite3;

// Appends `count` pieces of `byteCount` bytes to the channels 1 to `channelCount` in turn, `groupCount` by one commit. The
// tables are those of a relay's storage. Returns an SQLite result code.
int raw_append_pieces(
    struct sqlite3 *connection, int64_t count, int64_t groupCount, int64_t channelCount, size_t byteCount);

// Opens the file of a relay with the settings that the relay has: WAL, full sync.
int raw_open_relay(const char *path, struct sqlite3 **connection);

#endif
