#include "Library.h"
#include "RawLoops.h"
#include "RawPages.h"

#include <string.h>

int raw_pages_open(const char *path, const char *key, const char *pragma, sqlite3 **connection) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(path, connection, flags, NULL);
    if (!code && key) code = raw_key(*connection, key);
    if (!code && pragma) code = raw_execute(*connection, pragma);
    const char *settings =
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 50;"
        "PRAGMA mmap_size = 0";
    return code ? code : raw_execute(*connection, settings);
}

int raw_pages_write(sqlite3 *connection, int64_t count) {
    // A row fills its leaf, less the end of a page that encryption takes.
    enum { length = 3600 };
    static const unsigned char bytes[length];
    int code = raw_execute(connection, "CREATE TABLE page (id INTEGER PRIMARY KEY, bytes BLOB); BEGIN");
    sqlite3_stmt *statement = NULL;
    if (!code) code = sqlite3_prepare_v2(connection, "INSERT INTO page VALUES (?, ?)", -1, &statement, NULL);
    for (int64_t id = 1; !code && id <= count; id++) {
        sqlite3_bind_int64(statement, 1, id);
        sqlite3_bind_blob(statement, 2, bytes, length, SQLITE_STATIC);
        if (sqlite3_step(statement) != SQLITE_DONE) code = sqlite3_errcode(connection);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return code ? code : raw_execute(connection, "COMMIT");
}

int raw_pages_checkpoint(sqlite3 *connection) {
    return sqlite3_wal_checkpoint_v2(connection, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

int raw_pages_read(sqlite3 *connection, int64_t *count) {
    sqlite3_stmt *statement;
    // The length of a value is in the head of its row: so no value is copied, and each page is read.
    int code = sqlite3_prepare_v2(connection, "SELECT count(*), sum(length(bytes)) FROM page", -1, &statement, NULL);
    if (code) return code;
    code = sqlite3_step(statement) == SQLITE_ROW ? SQLITE_OK : sqlite3_errcode(connection);
    *count = code ? 0 : sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return code;
}
