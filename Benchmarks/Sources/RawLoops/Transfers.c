#include "Library.h"
#include "RawLoops.h"
#include "RawTransfers.h"

#include <stdio.h>
#include <string.h>

enum { READ, NOTE, FIND, INSERT, NOTE_THERE, STATEMENTS };

static int prepare(sqlite3 *connection, const char *sql, sqlite3_stmt **statement) {
    return sqlite3_prepare_v2(connection, sql, -1, statement, NULL);
}

static int prepare_all(sqlite3 *from, sqlite3 *to, const char *table, sqlite3_stmt **statements) {
    static const char note[] =
        "INSERT OR FAIL INTO _sync_row (tbl, pk, cl, hlc, sid, oseq) VALUES (1, ?, 1, ?, ?, ?)";
    char text[1024];
    snprintf(
        text, sizeof text,
        "SELECT l.seq, l.ms, t.* FROM _sync_log AS l CROSS JOIN \"%s\" AS t ON t.id = l.pk WHERE l.op = 1 ORDER BY l.seq",
        table);
    int code = prepare(from, text, &statements[READ]);
    if (code) return code;
    int columns = sqlite3_column_count(statements[READ]) - 2;
    if (columns < 1 || columns > 100) return SQLITE_RANGE;
    // OR FAIL does without a statement journal, as what is measured does.
    int end = snprintf(text, sizeof text, "INSERT OR FAIL INTO \"%s\" VALUES (?", table);
    for (int i = 1; i < columns; i++) end += snprintf(text + end, sizeof text - (size_t)end, ", ?");
    snprintf(text + end, sizeof text - (size_t)end, ")");
    if (!code) code = prepare(to, text, &statements[INSERT]);
    if (!code) code = prepare(from, note, &statements[NOTE]);
    if (!code) code = prepare(to, note, &statements[NOTE_THERE]);
    if (!code) code = prepare(to, "SELECT r, cl, hlc FROM _sync_row WHERE tbl = 1 AND pk = ?", &statements[FIND]);
    return code;
}

// The bytes stay where they are until the statement that reads goes on.
static int bind(sqlite3_stmt *statement, int index, sqlite3_stmt *row, int column) {
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER: return sqlite3_bind_int64(statement, index, sqlite3_column_int64(row, column));
    case SQLITE_FLOAT: return sqlite3_bind_double(statement, index, sqlite3_column_double(row, column));
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_column_text(row, column);
        return sqlite3_bind_text(statement, index, text, sqlite3_column_bytes(row, column), SQLITE_STATIC);
    }
    case SQLITE_BLOB: {
        const void *bytes = sqlite3_column_blob(row, column);
        return sqlite3_bind_blob(statement, index, bytes, sqlite3_column_bytes(row, column), SQLITE_STATIC);
    }
    default: return sqlite3_bind_null(statement, index);
    }
}

static int run(sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int note(sqlite3_stmt *statement, sqlite3_stmt *row, int64_t writer) {
    int code = bind(statement, 1, row, 2);
    code |= sqlite3_bind_int64(statement, 2, sqlite3_column_int64(row, 1) << 16);
    code |= sqlite3_bind_int64(statement, 3, writer);
    code |= bind(statement, 4, row, 0);
    return code ? code : run(statement);
}

static int transfer_row(sqlite3_stmt **statements, int columns) {
    sqlite3_stmt *row = statements[READ];
    int code = note(statements[NOTE], row, 1);
    if (!code) code = bind(statements[FIND], 1, row, 2);
    // A row that is there would have to be merged.
    if (!code) code = run(statements[FIND]);
    for (int i = 0; i < columns && !code; i++) code = bind(statements[INSERT], i + 1, row, i + 2);
    if (!code) code = run(statements[INSERT]);
    return code ? code : note(statements[NOTE_THERE], row, 2);
}

int raw_transfer(sqlite3 *from, sqlite3 *to, const char *table, int64_t *count) {
    sqlite3_stmt *statements[STATEMENTS] = {NULL};
    *count = 0;
    int code = prepare_all(from, to, table, statements);
    if (!code) code = raw_execute(from, "BEGIN IMMEDIATE");
    // What comes from elsewhere is not a change of this store.
    if (!code) code = raw_execute(to, "BEGIN IMMEDIATE; UPDATE _sync_state SET applying = 1");
    if (!code) {
        int columns = sqlite3_column_count(statements[READ]) - 2, step;
        while (!code && (step = sqlite3_step(statements[READ])) == SQLITE_ROW) {
            code = transfer_row(statements, columns);
            *count += 1;
        }
        if (!code && step != SQLITE_DONE) code = step;
    }
    for (int i = 0; i < STATEMENTS; i++) sqlite3_finalize(statements[i]);
    if (!code) code = raw_execute(from, "COMMIT");
    return code ? code : raw_execute(to, "UPDATE _sync_state SET applying = 0; COMMIT");
}
