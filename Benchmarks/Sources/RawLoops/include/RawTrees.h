// The loops that prefetched associations are measured against: parents, and the children of all of them.
#ifndef RAW_TREES_H
#define RAW_TREES_H

#include <stddef.h>
#include <stdint.h>

struct sqlite3;

typedef struct RawPlayer {
    int64_t id;
    int64_t teamId;
    char *name;
    double score;
} RawPlayer;

// A parent that owns its children.
typedef struct RawTeam {
    int64_t id;
    char *name;
    char *city;
    RawPlayer *players;
    size_t count;
    size_t capacity;
} RawTeam;

typedef struct RawTeams {
    RawTeam *items;
    size_t count;
    size_t capacity;
} RawTeams;

// Makes the tables of `teamCount` teams, whose identifiers begin with 1, and as many players of each. Returns an SQLite result code, as
// the next one does.
int raw_teams_make(struct sqlite3 *connection, int64_t teamCount, int64_t playerCount);

// Appends all teams, then all players to their teams, in one transaction.
int raw_teams_fetch(struct sqlite3 *connection, RawTeams *teams);

// Releases the teams with their players.
void raw_teams_free(RawTeams *teams);

#endif
