// What a page costs that comes from the file, or goes to it: a table of rows that take a page each.
#ifndef RAW_PAGES_H
#define RAW_PAGES_H

#include <stdint.h>

struct sqlite3;

// Opens a file with a write-ahead log, without checkpoints and with a cache of 50 pages, so that each scan reads its pages anew.
// `key` is a raw key as raw_key() takes it; null is for a file that is not encrypted. `pragma` is run after the key, and may be
// null. Returns an SQLite result code, as the functions below do.
int raw_pages_open(const char *path, const char *key, const char *pragma, struct sqlite3 **connection);

// Makes the table and inserts as many rows, in one transaction.
int raw_pages_write(struct sqlite3 *connection, int64_t count);

// Moves what is in the log into the file.
int raw_pages_checkpoint(struct sqlite3 *connection);

// Reads all rows, and returns how many there are through `count`.
int raw_pages_read(struct sqlite3 *connection, int64_t *count);

#endif
