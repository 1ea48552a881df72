// The loops that records are measured against: rows of mixed types, with dates as text and with
// NULLs, as an app's tables have them.
#ifndef RAW_VISITS_H
#define RAW_VISITS_H

#include <stddef.h>
#include <stdint.h>

struct sqlite3;

// A row of the table that is measured. Dates are seconds since 1970.
typedef struct RawVisit {
    uint8_t id[16];
    char *name;
    char *city;
    double created;
    double updated;
    int hasUpdated;
    double rating;
    double distance;
    int hasDistance;
    int64_t count;
    int64_t flags;
    int hasFlags;
    char *note;
} RawVisit;

// An array that owns its rows and their texts.
typedef struct RawVisits {
    RawVisit *items;
    size_t count;
    size_t capacity;
} RawVisits;

// Makes rows with ascending version 7 UUIDs as keys; the same seed makes the same rows.
RawVisits raw_visits_make(size_t count, uint64_t seed);

// Releases the rows and their texts.
void raw_visits_free(RawVisits *visits);

// Appends the rows of a query that selects the ten columns in order, in one transaction. Returns an
// SQLite result code, as the next one does.
int raw_visits_fetch(struct sqlite3 *connection, const char *sql, RawVisits *visits);

// Runs a statement with ten parameters once for each row, in one transaction.
int raw_visits_insert(struct sqlite3 *connection, const char *sql, const RawVisits *visits);

#endif
