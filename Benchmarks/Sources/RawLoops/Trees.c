#include "Library.h"
#include "RawLoops.h"
#include "RawTrees.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int raw_teams_make(sqlite3 *connection, int64_t teamCount, int64_t playerCount) {
    char sql[1024];
    snprintf(
        sql, sizeof sql,
        "CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL);"
        "CREATE TABLE player (id INTEGER PRIMARY KEY, teamId INTEGER NOT NULL REFERENCES team, name TEXT NOT NULL, score REAL NOT NULL);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %lld)"
        "INSERT INTO team SELECT i, 'team number ' || i, 'city ' || i %% 97 FROM n;"
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %lld)"
        "INSERT INTO player SELECT i + 1, 1 + i %% %lld, 'player number ' || i, i * 0.25 FROM n;"
        "CREATE INDEX player_team ON player (teamId);",
        (long long)teamCount, (long long)(teamCount * playerCount - 1), (long long)teamCount);
    return raw_execute(connection, sql);
}

// Room for one more item in an array that doubles.
static void *append(void **items, size_t *count, size_t *capacity, size_t size) {
    if (*count == *capacity) {
        size_t wanted = *capacity ? 2 * *capacity : 16;
        void *room = realloc(*items, wanted * size);
        if (!room) return NULL;
        *items = room;
        *capacity = wanted;
    }
    return (char *)*items + size * (*count)++;
}

static int fetch_teams(sqlite3_stmt *statement, RawTeams *teams) {
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        RawTeam *team = append((void **)&teams->items, &teams->count, &teams->capacity, sizeof *team);
        if (!team) return SQLITE_NOMEM;
        *team = (RawTeam){.id = sqlite3_column_int64(statement, 0)};
        team->name = raw_copy_text(statement, 1);
        team->city = raw_copy_text(statement, 2);
    }
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

// The teams are sorted by their identifiers.
static RawTeam *find(RawTeams *teams, int64_t id) {
    size_t low = 0, high = teams->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (teams->items[middle].id < id) low = middle + 1;
        else high = middle;
    }
    return low < teams->count && teams->items[low].id == id ? &teams->items[low] : NULL;
}

static int fetch_players(sqlite3_stmt *statement, RawTeams *teams) {
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t teamId = sqlite3_column_int64(statement, 1);
        RawTeam *team = find(teams, teamId);
        if (!team) return SQLITE_MISMATCH;
        RawPlayer *player = append((void **)&team->players, &team->count, &team->capacity, sizeof *player);
        if (!player) return SQLITE_NOMEM;
        *player = (RawPlayer){.id = sqlite3_column_int64(statement, 0), .teamId = teamId};
        player->name = raw_copy_text(statement, 2);
        player->score = sqlite3_column_double(statement, 3);
    }
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int raw_teams_fetch(sqlite3 *connection, RawTeams *teams) {
    sqlite3_stmt *statement = NULL;
    int code = raw_execute(connection, "BEGIN DEFERRED TRANSACTION");
    if (!code) code = sqlite3_prepare_v2(connection, "SELECT id, name, city FROM team ORDER BY id", -1, &statement, NULL);
    if (!code) code = fetch_teams(statement, teams);
    sqlite3_finalize(statement);
    statement = NULL;
    const char *sql = "SELECT id, teamId, name, score FROM player WHERE teamId IN (SELECT id FROM team)";
    if (!code) code = sqlite3_prepare_v2(connection, sql, -1, &statement, NULL);
    if (!code) code = fetch_players(statement, teams);
    sqlite3_finalize(statement);
    return code ? code : raw_execute(connection, "COMMIT TRANSACTION");
}

void raw_teams_free(RawTeams *teams) {
    for (size_t index = 0; index < teams->count; index++) {
        RawTeam *team = &teams->items[index];
        for (size_t player = 0; player < team->count; player++) free(team->players[player].name);
        free(team->players);
        free(team->name);
        free(team->city);
    }
    free(teams->items);
    *teams = (RawTeams){0};
}
