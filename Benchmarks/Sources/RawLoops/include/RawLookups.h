// Rows that are looked up by their keys, one in each transaction.
#ifndef RAW_LOOKUPS_H
#define RAW_LOOKUPS_H

#include <stddef.h>
#include <stdint.h>

struct sqlite3;

// Runs a prepared query with the keys 0 to `count` - 1, each within BEGIN and COMMIT, copies the text of its first column, and
// adds up the bytes of the texts. Returns an SQLite result code.
int raw_lookups(struct sqlite3 *connection, const char *sql, int64_t count, size_t *byteCount);

#endif
