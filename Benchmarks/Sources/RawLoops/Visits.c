#include "Library.h"
#include "RawLoops.h"
#include "RawVisits.h"

#include <stdlib.h>
#include <string.h>

static RawVisit *append(RawVisits *visits) {
    if (visits->count == visits->capacity) {
        size_t capacity = visits->capacity ? 2 * visits->capacity : 16;
        RawVisit *items = realloc(visits->items, capacity * sizeof(RawVisit));
        if (!items) return NULL;
        visits->items = items;
        visits->capacity = capacity;
    }
    RawVisit *visit = &visits->items[visits->count++];
    memset(visit, 0, sizeof *visit);
    return visit;
}

void raw_visits_free(RawVisits *visits) {
    for (size_t index = 0; index < visits->count; index++) {
        free(visits->items[index].name);
        free(visits->items[index].city);
        free(visits->items[index].note);
    }
    free(visits->items);
    *visits = (RawVisits){0};
}

RawVisits raw_visits_make(size_t count, uint64_t seed) {
    RawReadings readings = raw_readings_make(count, seed);
    RawVisits visits = {0};
    for (size_t index = 0; index < count; index++) {
        RawReading *reading = &readings.items[index];
        RawVisit *visit = append(&visits);
        if (!visit) abort();
        memcpy(visit->id, reading->id, sizeof visit->id);
        visit->name = strdup(reading->unit);
        visit->city = strdup(reading->place);
        // Between 1970 and 2036, to the millisecond.
        visit->created = (double)((uint64_t)(reading->flags * 997) % 2082758400000) / 1000;
        visit->hasUpdated = reading->sensor % 3 != 0;
        visit->updated = visit->created + (double)reading->sensor;
        visit->rating = reading->value;
        visit->hasDistance = reading->sensor % 4 != 0;
        visit->distance = reading->deviation;
        visit->count = (int64_t)index;
        visit->hasFlags = reading->sensor % 5 != 0;
        visit->flags = reading->station;
        visit->note = reading->sensor % 2 ? strdup(reading->note) : NULL;
    }
    raw_readings_free(&readings);
    return visits;
}

// Howard Hinnant's days_from_civil and civil_from_days.
static int64_t days_from_civil(int64_t year, int month, int day) {
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t yoe = year - era * 400;
    int64_t doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static int digits(const char *text, int count) {
    int value = 0;
    for (int index = 0; index < count; index++) value = 10 * value + (text[index] - '0');
    return value;
}

// Reads YYYY-MM-DD HH:MM:SS.SSS.
static int parse_date(const char *text, int count, double *seconds) {
    if (count != 23 || text[4] != '-' || text[7] != '-' || text[10] != ' ') return SQLITE_MISMATCH;
    int64_t days = days_from_civil(digits(text, 4), digits(text + 5, 2), digits(text + 8, 2));
    int64_t whole = days * 86400 + digits(text + 11, 2) * 3600 + digits(text + 14, 2) * 60 + digits(text + 17, 2);
    *seconds = (double)(whole * 1000 + digits(text + 20, 3)) / 1000;
    return SQLITE_OK;
}

static void put(char *text, int64_t value, int count) {
    for (int index = count - 1; index >= 0; index--) {
        text[index] = (char)('0' + value % 10);
        value /= 10;
    }
}

static void format_date(double seconds, char text[24]) {
    int64_t milliseconds = (int64_t)(seconds * 1000 + 0.5);
    int64_t days = milliseconds / 86400000, rest = milliseconds % 86400000;
    int64_t z = days + 719468, era = z / 146097, doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    int64_t month = mp < 10 ? mp + 3 : mp - 9;
    memcpy(text, "0000-00-00 00:00:00.000", 24);
    put(text, yoe + era * 400 + (month <= 2), 4);
    put(text + 5, month, 2);
    put(text + 8, doy - (153 * mp + 2) / 5 + 1, 2);
    put(text + 11, rest / 3600000, 2);
    put(text + 14, rest / 60000 % 60, 2);
    put(text + 17, rest / 1000 % 60, 2);
    put(text + 20, rest % 1000, 3);
}

static int read_date(sqlite3_stmt *statement, int column, double *seconds) {
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? parse_date(text, sqlite3_column_bytes(statement, column), seconds) : SQLITE_MISMATCH;
}

static int is_present(sqlite3_stmt *statement, int column) {
    return sqlite3_column_type(statement, column) != SQLITE_NULL;
}

static int read_visit(sqlite3_stmt *statement, RawVisit *visit) {
    const void *id = sqlite3_column_blob(statement, 0);
    if (sqlite3_column_bytes(statement, 0) != sizeof visit->id) return SQLITE_MISMATCH;
    memcpy(visit->id, id, sizeof visit->id);
    visit->name = raw_copy_text(statement, 1);
    visit->city = raw_copy_text(statement, 2);
    int code = read_date(statement, 3, &visit->created);
    visit->hasUpdated = is_present(statement, 4);
    if (visit->hasUpdated) code |= read_date(statement, 4, &visit->updated);
    visit->rating = sqlite3_column_double(statement, 5);
    visit->hasDistance = is_present(statement, 6);
    if (visit->hasDistance) visit->distance = sqlite3_column_double(statement, 6);
    visit->count = sqlite3_column_int64(statement, 7);
    visit->hasFlags = is_present(statement, 8);
    if (visit->hasFlags) visit->flags = sqlite3_column_int64(statement, 8);
    if (is_present(statement, 9)) visit->note = raw_copy_text(statement, 9);
    return code;
}

static int bind_visit(sqlite3_stmt *statement, const RawVisit *visit, char created[24], char updated[24]) {
    format_date(visit->created, created);
    if (visit->hasUpdated) format_date(visit->updated, updated);
    int code = sqlite3_bind_blob(statement, 1, visit->id, sizeof visit->id, SQLITE_STATIC);
    code |= sqlite3_bind_text(statement, 2, visit->name, -1, SQLITE_STATIC);
    code |= sqlite3_bind_text(statement, 3, visit->city, -1, SQLITE_STATIC);
    code |= sqlite3_bind_text(statement, 4, created, 23, SQLITE_STATIC);
    code |= visit->hasUpdated ? sqlite3_bind_text(statement, 5, updated, 23, SQLITE_STATIC)
                              : sqlite3_bind_null(statement, 5);
    code |= sqlite3_bind_double(statement, 6, visit->rating);
    code |= visit->hasDistance ? sqlite3_bind_double(statement, 7, visit->distance)
                               : sqlite3_bind_null(statement, 7);
    code |= sqlite3_bind_int64(statement, 8, visit->count);
    code |= visit->hasFlags ? sqlite3_bind_int64(statement, 9, visit->flags) : sqlite3_bind_null(statement, 9);
    code |= visit->note ? sqlite3_bind_text(statement, 10, visit->note, -1, SQLITE_STATIC)
                        : sqlite3_bind_null(statement, 10);
    return code;
}

static int fetch_visits(sqlite3_stmt *statement, RawVisits *visits) {
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        RawVisit *visit = append(visits);
        if (!visit) return SQLITE_NOMEM;
        if ((code = read_visit(statement, visit))) return code;
    }
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int insert_visits(sqlite3_stmt *statement, const RawVisits *visits) {
    char created[24], updated[24];
    for (size_t index = 0; index < visits->count; index++) {
        if (bind_visit(statement, &visits->items[index], created, updated)) return SQLITE_ERROR;
        int code = sqlite3_step(statement);
        if (code != SQLITE_DONE) return code;
        sqlite3_reset(statement);
    }
    return SQLITE_OK;
}

int raw_visits_fetch(sqlite3 *connection, const char *sql, RawVisits *visits) {
    sqlite3_stmt *statement = NULL;
    int code = raw_execute(connection, "BEGIN DEFERRED TRANSACTION");
    if (!code) code = sqlite3_prepare_v2(connection, sql, -1, &statement, NULL);
    if (!code) code = fetch_visits(statement, visits);
    sqlite3_finalize(statement);
    return code ? code : raw_execute(connection, "COMMIT TRANSACTION");
}

int raw_visits_insert(sqlite3 *connection, const char *sql, const RawVisits *visits) {
    sqlite3_stmt *statement = NULL;
    int code = raw_execute(connection, "BEGIN IMMEDIATE TRANSACTION");
    if (!code) code = sqlite3_prepare_v2(connection, sql, -1, &statement, NULL);
    if (!code) code = insert_visits(statement, visits);
    sqlite3_finalize(statement);
    return code ? code : raw_execute(connection, "COMMIT TRANSACTION");
}
