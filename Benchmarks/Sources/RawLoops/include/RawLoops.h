// The loops that a library is measured against: what a C program would write by hand for the
// same table, on the same SQLite or SQLCipher.
//
// The header does not include sqlite3.h, so that Swift sees one declaration of it alone, the one
// of the package that is measured.
#ifndef RAW_LOOPS_H
#define RAW_LOOPS_H

#include <stddef.h>
#include <stdint.h>

struct sqlite3;

// A row of the table that is measured.
typedef struct RawReading {
    uint8_t id[16];
    int64_t station;
    int64_t sensor;
    int64_t sequence;
    int64_t flags;
    double value;
    double deviation;
    char *unit;
    char *place;
    char *note;
} RawReading;

// An array that owns its rows and their texts.
typedef struct RawReadings {
    RawReading *items;
    size_t count;
    size_t capacity;
} RawReadings;

// Makes rows with ascending version 7 UUIDs as keys; the same seed makes the same rows.
RawReadings raw_readings_make(size_t count, uint64_t seed);

// Returns room for one more row at the end, or null when there is no memory.
RawReading *raw_readings_append(RawReadings *readings);

// Releases the rows and their texts.
void raw_readings_free(RawReadings *readings);

// The pragmas that both sides run. Older libraries ignore those that they do not know.
extern const char *const raw_settings;

// Gives a connection its raw key, x'96 hexadecimal digits', and a page size of 4096 bytes. Without
// SQLCipher there is no key, and this accepts null alone. Returns an SQLite result code, as all
// functions below do.
int raw_key(struct sqlite3 *connection, const char *key);

// Opens a connection with a key and the settings.
int raw_open(const char *path, const char *key, struct sqlite3 **connection);

// Closes a connection.
int raw_close(struct sqlite3 *connection);

// Describes the last failure of a connection.
const char *raw_message(struct sqlite3 *connection);

// Runs statements that return nothing of interest.
int raw_execute(struct sqlite3 *connection, const char *sql);

// Appends the rows of a query that selects the ten columns in order, in one transaction.
int raw_fetch(struct sqlite3 *connection, const char *sql, RawReadings *readings);

// Runs a statement with ten parameters once for each row, in one transaction.
int raw_insert(struct sqlite3 *connection, const char *sql, const RawReadings *readings);

/// Runs a prepared query of one row `count` times in a transaction, each time with the key of another row.
int raw_query(struct sqlite3 *connection, const char *sql, const RawReadings *keys, size_t count, RawReadings *readings);

#include "RawAppends.h"
#include "RawLookups.h"
#include "RawPages.h"
#include "RawTransfers.h"
#include "RawTrees.h"
#include "RawVisits.h"

#endif
