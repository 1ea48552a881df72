#include "Library.h"
#include "RawLoops.h"

#include <stdlib.h>
#include <string.h>

const char *const raw_settings =
    "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON;"
    "PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0; PRAGMA recursive_triggers = ON";

int raw_key(sqlite3 *connection, const char *key) {
#ifdef RAW_LOOPS_PLAIN
    (void)connection;
    return key ? SQLITE_MISUSE : SQLITE_OK;
#else
    if (!key) return SQLITE_MISUSE;
    int code = sqlite3_key_v2(connection, "main", key, (int)strlen(key));
    return code ? code : raw_execute(connection, "PRAGMA cipher_page_size = 4096");
#endif
}

int raw_open(const char *path, const char *key, sqlite3 **connection) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(path, connection, flags, NULL);
    if (!code) code = raw_key(*connection, key);
    return code ? code : raw_execute(*connection, raw_settings);
}

int raw_close(sqlite3 *connection) { return sqlite3_close(connection); }

const char *raw_message(sqlite3 *connection) { return sqlite3_errmsg(connection); }

int raw_execute(sqlite3 *connection, const char *sql) { return sqlite3_exec(connection, sql, NULL, NULL, NULL); }

static int read_row(sqlite3_stmt *statement, RawReading *reading) {
    const void *id = sqlite3_column_blob(statement, 0);
    if (sqlite3_column_bytes(statement, 0) != sizeof reading->id) return SQLITE_MISMATCH;
    memcpy(reading->id, id, sizeof reading->id);
    reading->station = sqlite3_column_int64(statement, 1);
    reading->sensor = sqlite3_column_int64(statement, 2);
    reading->sequence = sqlite3_column_int64(statement, 3);
    reading->flags = sqlite3_column_int64(statement, 4);
    reading->value = sqlite3_column_double(statement, 5);
    reading->deviation = sqlite3_column_double(statement, 6);
    reading->unit = raw_copy_text(statement, 7);
    reading->place = raw_copy_text(statement, 8);
    reading->note = raw_copy_text(statement, 9);
    return reading->unit && reading->place && reading->note ? SQLITE_OK : SQLITE_NOMEM;
}

static int read_rows(sqlite3_stmt *statement, RawReadings *readings) {
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        RawReading *reading = raw_readings_append(readings);
        if (!reading) return SQLITE_NOMEM;
        memset(reading, 0, sizeof *reading);
        if ((code = read_row(statement, reading))) return code;
    }
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int bind_row(sqlite3_stmt *statement, const RawReading *reading) {
    // The row outlives the step, so that nothing needs to be copied.
    int code = sqlite3_bind_blob(statement, 1, reading->id, sizeof reading->id, SQLITE_STATIC);
    code |= sqlite3_bind_int64(statement, 2, reading->station);
    code |= sqlite3_bind_int64(statement, 3, reading->sensor);
    code |= sqlite3_bind_int64(statement, 4, reading->sequence);
    code |= sqlite3_bind_int64(statement, 5, reading->flags);
    code |= sqlite3_bind_double(statement, 6, reading->value);
    code |= sqlite3_bind_double(statement, 7, reading->deviation);
    code |= sqlite3_bind_text(statement, 8, reading->unit, -1, SQLITE_STATIC);
    code |= sqlite3_bind_text(statement, 9, reading->place, -1, SQLITE_STATIC);
    code |= sqlite3_bind_text(statement, 10, reading->note, -1, SQLITE_STATIC);
    return code;
}

static int write_rows(sqlite3_stmt *statement, const RawReadings *readings) {
    for (size_t index = 0; index < readings->count; index++) {
        if (bind_row(statement, &readings->items[index])) return SQLITE_ERROR;
        int code = sqlite3_step(statement);
        if (code != SQLITE_DONE) return code;
        sqlite3_reset(statement);
    }
    return SQLITE_OK;
}

int raw_fetch(sqlite3 *connection, const char *sql, RawReadings *readings) {
    sqlite3_stmt *statement = NULL;
    int code = raw_execute(connection, "BEGIN DEFERRED TRANSACTION");
    if (!code) code = sqlite3_prepare_v2(connection, sql, -1, &statement, NULL);
    if (!code) code = read_rows(statement, readings);
    sqlite3_finalize(statement);
    return code ? code : raw_execute(connection, "COMMIT TRANSACTION");
}

int raw_insert(sqlite3 *connection, const char *sql, const RawReadings *readings) {
    sqlite3_stmt *statement = NULL;
    int code = raw_execute(connection, "BEGIN IMMEDIATE TRANSACTION");
    if (!code) code = sqlite3_prepare_v2(connection, sql, -1, &statement, NULL);
    if (!code) code = write_rows(statement, readings);
    sqlite3_finalize(statement);
    return code ? code : raw_execute(connection, "COMMIT TRANSACTION");
}

int raw_query(sqlite3 *connection, const char *sql, const RawReadings *keys, size_t count, RawReadings *readings) {
    sqlite3_stmt *statement = NULL;
    int code = raw_execute(connection, "BEGIN DEFERRED TRANSACTION");
    if (!code) code = sqlite3_prepare_v2(connection, sql, -1, &statement, NULL);
    for (size_t index = 0; !code && index < count; index++) {
        const RawReading *key = &keys->items[index % keys->count];
        code = sqlite3_bind_blob(statement, 1, key->id, sizeof key->id, SQLITE_STATIC);
        if (!code) code = read_rows(statement, readings);
        if (!code) code = sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return code ? code : raw_execute(connection, "COMMIT TRANSACTION");
}
