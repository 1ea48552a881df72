#include "Library.h"
#include "RawAppends.h"
#include "RawLoops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SELECT_CHANNEL, SELECT_FILE, INSERT_BLOCK, INSERT_FILE, UPDATE_CHANNEL, STATEMENTS };

static const char *const texts[STATEMENTS] = {
    "SELECT number, birth, position, byteCount, fileCount, removalCount, forgotten FROM channel WHERE id = ?",
    "SELECT position, byteCount, digest, body FROM file WHERE channel = ? AND folder = ? AND name = ?",
    "INSERT INTO block (id, bytes) VALUES (?, ?)",
    "INSERT OR REPLACE INTO file (channel, folder, name, position, byteCount, milliseconds, digest, body)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    "UPDATE channel SET position = ?, byteCount = ?, fileCount = ?, removalCount = ?, forgotten = ? WHERE number = ?",
};

int raw_open_relay(const char *path, sqlite3 **connection) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(path, connection, flags, NULL);
    return code ? code : raw_execute(*connection, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
}

// The number of the last body, as the relay finds it.
static int64_t last_body(sqlite3 *connection) {
    sqlite3_stmt *statement = NULL;
    int64_t body = 0;
    if (!sqlite3_prepare_v2(connection, "SELECT coalesce(max(id), 0) / 16384 FROM block", -1, &statement, NULL) &&
        sqlite3_step(statement) == SQLITE_ROW)
        body = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return body;
}

static int run(sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int append(sqlite3_stmt **statements, int64_t channel, int64_t body, const void *bytes, size_t byteCount) {
    uint8_t id[16] = {0};
    for (int i = 0; i < 8; i++) id[15 - i] = (uint8_t)(channel >> (8 * i));
    sqlite3_stmt *select = statements[SELECT_CHANNEL];
    sqlite3_bind_blob(select, 1, id, sizeof id, SQLITE_STATIC);
    if (sqlite3_step(select) != SQLITE_ROW) return SQLITE_NOTFOUND;
    int64_t number = sqlite3_column_int64(select, 0), position = sqlite3_column_int64(select, 2) + 1;
    int64_t bytesThere = sqlite3_column_int64(select, 3), files = sqlite3_column_int64(select, 4);
    int64_t removals = sqlite3_column_int64(select, 5), forgotten = sqlite3_column_int64(select, 6);
    sqlite3_reset(select);
    char name[32];
    snprintf(name, sizeof name, "f%lld", (long long)position);
    static const char folder[] = "00000000000000000000000000000000";
    static const uint8_t digest[32] = {1};
    sqlite3_stmt *known = statements[SELECT_FILE];
    sqlite3_bind_int64(known, 1, number);
    sqlite3_bind_text(known, 2, folder, -1, SQLITE_STATIC);
    sqlite3_bind_text(known, 3, name, -1, SQLITE_STATIC);
    if (run(known)) return SQLITE_CONSTRAINT;
    sqlite3_stmt *block = statements[INSERT_BLOCK];
    sqlite3_bind_int64(block, 1, body * 16384);
    sqlite3_bind_blob(block, 2, bytes, (int)byteCount, SQLITE_STATIC);
    int code = run(block);
    if (code) return code;
    sqlite3_stmt *file = statements[INSERT_FILE];
    sqlite3_bind_int64(file, 1, number);
    sqlite3_bind_text(file, 2, folder, -1, SQLITE_STATIC);
    sqlite3_bind_text(file, 3, name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(file, 4, position);
    sqlite3_bind_int64(file, 5, (int64_t)byteCount);
    sqlite3_bind_int64(file, 6, 1700000000000);
    sqlite3_bind_blob(file, 7, digest, sizeof digest, SQLITE_STATIC);
    sqlite3_bind_int64(file, 8, body);
    if ((code = run(file))) return code;
    sqlite3_stmt *update = statements[UPDATE_CHANNEL];
    sqlite3_bind_int64(update, 1, position);
    sqlite3_bind_int64(update, 2, bytesThere + (int64_t)byteCount);
    sqlite3_bind_int64(update, 3, files + 1);
    sqlite3_bind_int64(update, 4, removals);
    sqlite3_bind_int64(update, 5, forgotten);
    sqlite3_bind_int64(update, 6, number);
    return run(update);
}

int raw_append_pieces(sqlite3 *connection, int64_t count, int64_t groupCount, int64_t channelCount, size_t byteCount) {
    sqlite3_stmt *statements[STATEMENTS] = {NULL};
    uint8_t *bytes = calloc(1, byteCount);
    int64_t body = last_body(connection);
    int code = bytes ? SQLITE_OK : SQLITE_NOMEM;
    for (int i = 0; i < STATEMENTS && !code; i++)
        code = sqlite3_prepare_v2(connection, texts[i], -1, &statements[i], NULL);
    for (int64_t i = 0; i < count && !code; i++) {
        if (i % groupCount == 0) code = raw_execute(connection, "BEGIN IMMEDIATE");
        if (!code) code = append(statements, i % channelCount + 1, ++body, bytes, byteCount);
        if (!code && (i % groupCount == groupCount - 1 || i == count - 1)) code = raw_execute(connection, "COMMIT");
    }
    for (int i = 0; i < STATEMENTS; i++) sqlite3_finalize(statements[i]);
    free(bytes);
    return code;
}
