// What a synchronization does to the tables of two stores, as a C program would write it by hand.
#ifndef RAW_TRANSFERS_H
#define RAW_TRANSFERS_H

#include <stdint.h>

struct sqlite3;

// Brings the rows that were inserted into a table of one store, and are in its log, to another store that tracks the same
// table: notes the version of each row where it comes from, looks for it where it goes to, and inserts the row and its
// version. Each store has one transaction. The table is the only one that the stores track, its key is its first column,
// `id`, and it has at most 100 columns. Returns an SQLite result code, and through `count` how many rows were brought.
int raw_transfer(struct sqlite3 *from, struct sqlite3 *to, const char *table, int64_t *count);

#endif
