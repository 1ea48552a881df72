#include "Library.h"
#include "RawLookups.h"

#include <stdlib.h>
#include <string.h>

static int run(sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int look_up(sqlite3_stmt *statement, int64_t key, size_t *byteCount) {
    int code = sqlite3_bind_int64(statement, 1, key);
    if (code) return code;
    if ((code = sqlite3_step(statement)) != SQLITE_ROW) return code == SQLITE_DONE ? SQLITE_NOTFOUND : code;
    const unsigned char *text = sqlite3_column_text(statement, 0);
    size_t count = sqlite3_column_bytes(statement, 0);
    char *copy = malloc(count + 1);
    if (!copy) return SQLITE_NOMEM;
    memcpy(copy, text, count);
    copy[count] = 0;
    *byteCount += strlen(copy);
    free(copy);
    return run(statement);
}

int raw_lookups(sqlite3 *connection, const char *sql, int64_t count, size_t *byteCount) {
    sqlite3_stmt *begin = NULL, *commit = NULL, *statement = NULL;
    int code = sqlite3_prepare_v2(connection, "BEGIN DEFERRED TRANSACTION", -1, &begin, NULL);
    if (!code) code = sqlite3_prepare_v2(connection, "COMMIT TRANSACTION", -1, &commit, NULL);
    if (!code) code = sqlite3_prepare_v2(connection, sql, -1, &statement, NULL);
    for (int64_t key = 0; !code && key < count; key++) {
        code = run(begin);
        if (!code) code = look_up(statement, key, byteCount);
        if (!code) code = run(commit);
    }
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    sqlite3_finalize(statement);
    return code;
}
