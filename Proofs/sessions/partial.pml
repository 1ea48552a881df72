/* A store that holds some rows of a table (RowExchange, PartialTable), with a server that may be put back to its backup,
 * and with another store that has all rows and may go away for good.
 *
 * Each edit is a row of its own that stays inside or outside of what the store chose. */

#define SERVER 0
#define OTHER 1
#define PART 2
#define FILES 3
#define NOBODY 15

#ifndef EDITS
#define EDITS 3
#endif
#ifndef RESTORATIONS
#define RESTORATIONS 1
#endif
#ifndef DEPARTURES
#define DEPARTURES 1
#endif
#ifndef SPARE
#define SPARE 1 /* identities that the store may have beyond one for each replica that is gone (RowExchange.spareIdentityCount) */
#endif
#define RENEWALS_MAX (RESTORATIONS + DEPARTURES + SPARE - 1)
#ifndef LATE
#define LATE 3 /* rounds after the last event within which all are equal */
#endif
#define IDS (FILES + RESTORATIONS + RENEWALS_MAX + 1)

typedef File {
    byte self;
    byte known[IDS];     /* of the store with some rows: what its rows take into account, and its own changes in `own` */
    byte own[IDS];
    byte id[EDITS];      /* who wrote the version of an edit; NOBODY where it is not */
    byte number[EDITS];
    byte retired;        /* bits of ids */
}

File file[FILES];
File backup;
bit hasBackup;
byte ids, edits, restorations, renewals, rounds;
byte isInside;           /* edits among the rows that were chosen */
byte knewOf[EDITS];      /* edits that its writer had */
byte mine = 1 << PART;   /* bits of the ids that the store with some rows has had */
bit isGone, isRetired, hasAll = 1, quiet;

hidden byte i_, e_, d_, f_, n_, x_, y_;

#define HAS(f, e) (file[f].id[e] != NOBODY)
#define IS_INSIDE(e) (isInside & (1 << e))

inline beginStores() {
    for (f_ : 0 .. FILES - 1) {
        file[f_].self = f_;
        for (e_ : 0 .. EDITS - 1) { file[f_].id[e_] = NOBODY }
    }
    ids = FILES; f_ = 0; e_ = 0
}

inline copyFile(from, to) {
    to.self = from.self; to.retired = from.retired;
    for (i_ : 0 .. IDS - 1) { to.known[i_] = from.known[i_]; to.own[i_] = from.own[i_] }
    for (e_ : 0 .. EDITS - 1) { to.id[e_] = from.id[e_]; to.number[e_] = from.number[e_] }
    i_ = 0; e_ = 0
}

/* The last number of a file's own changes is in `own` of the store with some rows, and in the vector of others. */
inline edit(f) {
    n_ = file[f].self;
    if
    :: f == PART -> file[f].own[n_]++; file[f].number[edits] = file[f].own[n_]
    :: else -> file[f].known[n_]++; file[f].number[edits] = file[f].known[n_]
    fi;
    file[f].id[edits] = n_;
    for (e_ : 0 .. EDITS - 1) {
        if
        :: e_ != edits && HAS(f, e_) -> knewOf[edits] = knewOf[edits] | (1 << e_)
        :: else
        fi
    }
    printf("edit %d by file %d as %d/%d, inside %d\n", edits, f, n_, file[f].number[edits], IS_INSIDE(edits));
    edits++; e_ = 0; n_ = 0
}

/* A version that comes: what was moved to a later id counts as written after (ReplicaIdentity.renew). */
inline merge(f, e, who, count) {
    if
    :: !HAS(f, e) || who > file[f].id[e] || (who == file[f].id[e] && count > file[f].number[e]) ->
        file[f].id[e] = who; file[f].number[e] = count
    :: else
    fi
}

/* Whole stores: what is beyond the receiver's vector, and the vector. */
inline send(from, to) {
    printf("file %d sends to %d\n", from, to);
    for (e_ : 0 .. EDITS - 1) {
        if
        :: HAS(from, e_) && file[from].number[e_] > file[to].known[file[from].id[e_]] ->
            merge(to, e_, file[from].id[e_], file[from].number[e_])
        :: else
        fi
    }
    for (i_ : 0 .. IDS - 1) {
        file[to].known[i_] = (file[from].known[i_] > file[to].known[i_] -> file[from].known[i_] : file[to].known[i_])
    }
    file[to].retired = file[to].retired | file[from].retired;
    i_ = 0; e_ = 0
}

/* ReplicaFacts.Partial.needed, against what another one knows. `x_` and `y_`: ids of which that lacks something, and those
 * of them that are retired (RowExchange.orphans). */
inline look(r) {
    x_ = 0; y_ = 0;
    for (i_ : 0 .. IDS - 1) {
        if
#ifdef OWN_IS_NEEDED
        :: file[PART].known[i_] > file[r].known[i_] -> x_ = x_ | (1 << i_)
#else
        :: file[PART].known[i_] > file[r].known[i_] && file[PART].known[i_] > file[PART].own[i_] -> x_ = x_ | (1 << i_)
#endif
        :: else
        fi
    }
#ifdef RETIRED_OR_NOT
    y_ = x_;
#else
    y_ = x_ & (file[PART].retired | file[r].retired);
#endif
    y_ = y_ & ~((1 << file[PART].self) | (1 << file[r].self));
#ifndef ALWAYS_TAKES_OVER
    n_ = IDS;
    for (i_ : 0 .. IDS - 1) {
        if
        :: mine & (1 << i_) -> n_++
        :: !(mine & (1 << i_)) && ((file[PART].retired | file[r].retired) & (1 << i_)) -> n_--
        :: else
        fi
    }
    if
    :: n_ >= IDS + SPARE -> y_ = 0
    :: else
    fi;
    n_ = 0;
#endif
    i_ = 0
}

/* What is known of replicas that are gone, and another one lacks, becomes its own under a new id. */
inline takeOver(r, orphans) {
    assert(renewals < RENEWALS_MAX);
    renewals++; hasAll = 0;
    printf("ids %d are taken over as %d, for file %d\n", orphans, ids, r);
    file[PART].retired = file[PART].retired | (1 << file[PART].self);
    n_ = ids; ids++;
    mine = mine | (1 << n_);
    file[PART].self = n_;
    file[PART].own[n_] = 1;
    for (e_ : 0 .. EDITS - 1) {
        if
        :: HAS(PART, e_) && (orphans & (1 << file[PART].id[e_])) &&
                file[PART].number[e_] > file[r].known[file[PART].id[e_]] ->
#ifndef VERSIONS_STAY
            file[PART].id[e_] = n_; file[PART].number[e_] = 1
#else
            skip
#endif
        :: else
        fi
    }
    for (i_ : 0 .. IDS - 1) {
        if
        :: (orphans & (1 << i_)) && file[PART].known[i_] > file[r].known[i_] -> file[PART].known[i_] = file[r].known[i_]
        :: else
        fi
    }
    i_ = 0; e_ = 0; n_ = 0
}

/* What comes of the chosen rows (ExportedRows), and what it takes into account (PartialTable.take). */
inline pull(r) {
    for (e_ : 0 .. EDITS - 1) {
        if
        :: HAS(r, e_) && IS_INSIDE(e_) && file[r].number[e_] > file[PART].own[file[r].id[e_]] &&
                (!hasAll || file[r].number[e_] > file[PART].known[file[r].id[e_]]) ->
            merge(PART, e_, file[r].id[e_], file[r].number[e_])
        :: else
        fi
    }
    for (i_ : 0 .. IDS - 1) {
        if
        :: file[PART].known[i_] <= file[PART].own[i_] || file[r].known[i_] > file[PART].known[i_] ->
            file[PART].known[i_] = file[r].known[i_]
        :: else
        fi
    }
    file[PART].retired = file[PART].retired | file[r].retired;
    hasAll = 1; i_ = 0; e_ = 0
}

/* Only its own changes go, and are claimed. */
inline push(r) {
    for (e_ : 0 .. EDITS - 1) {
        if
        :: HAS(PART, e_) && file[PART].number[e_] <= file[PART].own[file[PART].id[e_]] &&
                file[PART].number[e_] > file[r].known[file[PART].id[e_]] ->
            merge(r, e_, file[PART].id[e_], file[PART].number[e_])
        :: else
        fi
    }
    for (i_ : 0 .. IDS - 1) {
        file[r].known[i_] = (file[PART].own[i_] > file[r].known[i_] -> file[PART].own[i_] : file[r].known[i_])
    }
    file[r].retired = file[r].retired | file[PART].retired;
    i_ = 0; e_ = 0
}

inline meetPart(r) {
    look(r);
    printf("the part meets file %d: it lacks %d, of which %d are taken over; cut %d\n", r, x_, y_, f_);
    if
#ifndef NOTHING_IS_TAKEN_OVER
    :: y_ != 0 -> takeOver(r, y_); look(r)
#endif
    :: else
    fi;
    if
#ifndef NOBODY_WAITS
    :: x_ != 0 /* it waits */
#endif
    :: else ->
        pull(r);
        if
        :: f_ == 0 -> push(r)
        :: else /* the connection breaks */
        fi
    fi;
    x_ = 0; y_ = 0; f_ = 0
}

/* Who claims to know a version has it, or a later one. */
inline checkClaims() {
    for (f_ : 0 .. FILES - 1) {
        for (e_ : 0 .. EDITS - 1) {
            if
            :: HAS(f_, e_) ->
                for (d_ : 0 .. FILES - 1) {
                    assert(HAS(d_, e_) || file[f_].number[e_] > file[d_].known[file[f_].id[e_]] ||
                        (d_ == PART && (!IS_INSIDE(e_) || !hasAll || file[f_].number[e_] <= file[d_].own[file[f_].id[e_]])))
                }
                /* Who has an edit has what its writer knew, as far as it was chosen. */
                for (d_ : 0 .. EDITS - 1) {
                    assert(!(knewOf[e_] & (1 << d_)) || HAS(f_, d_) || (f_ == PART && (!IS_INSIDE(d_) || !hasAll)))
                }
            :: else
            fi
        }
    }
    f_ = 0; e_ = 0; d_ = 0
}

/* All have the same versions, and nothing is lost that somebody has who goes on. */
inline areEqual(result) {
    result = hasAll;
    for (e_ : 0 .. EDITS - 1) {
        if
        :: HAS(PART, e_) || (IS_INSIDE(e_) && HAS(SERVER, e_)) ->
            result = result && file[PART].id[e_] == file[SERVER].id[e_] && file[PART].number[e_] == file[SERVER].number[e_]
        :: else
        fi;
        if
        :: !isGone ->
            result = result && file[OTHER].id[e_] == file[SERVER].id[e_] && file[OTHER].number[e_] == file[SERVER].number[e_]
        :: else
        fi
    }
    e_ = 0
}

/* What was known of edits that may be lost with a file. */
inline forgetCauses() {
    for (e_ : 0 .. EDITS - 1) { knewOf[e_] = 0 }
    e_ = 0
}

inline retireOther() {
    file[SERVER].retired = file[SERVER].retired | (1 << file[OTHER].self);
    isRetired = 1
}

inline change() {
    if
    :: edits < EDITS -> d_step { isInside = isInside | (1 << edits); edit(PART) }
    :: edits < EDITS -> d_step { isInside = isInside | (1 << edits); edit(SERVER) }
    :: edits < EDITS -> d_step { edit(SERVER) }
    :: edits < EDITS && !isGone -> d_step { isInside = isInside | (1 << edits); edit(OTHER) }
    :: edits < EDITS && !isGone -> d_step { edit(OTHER) }
    :: restorations < RESTORATIONS && !hasBackup -> d_step { copyFile(file[SERVER], backup); hasBackup = 1 }
    :: hasBackup && restorations < RESTORATIONS ->
        /* It sees that, gets a new id, and retires the one that it had. */
        d_step {
            copyFile(backup, file[SERVER]);
            file[SERVER].retired = file[SERVER].retired | (1 << file[SERVER].self);
            file[SERVER].self = ids; ids++;
            restorations++;
            printf("the server is put back, and is %d now\n", file[SERVER].self);
            hasBackup = 0;
            backup.self = 0; backup.retired = 0;
            for (i_ : 0 .. IDS - 1) { backup.known[i_] = 0 }
            forgetCauses();
            for (e_ : 0 .. EDITS - 1) { backup.id[e_] = 0; backup.number[e_] = 0 }
            i_ = 0; e_ = 0
        }
    :: !isGone && DEPARTURES > 0 -> d_step { isGone = 1; forgetCauses() }
    :: isGone && !isRetired -> d_step { retireOther() }
    fi
}

inline synchronize() {
    if
    :: true -> d_step { f_ = 0; meetPart(SERVER) }
    :: true -> d_step { f_ = 1; meetPart(SERVER) }
    :: !isGone -> d_step { f_ = 0; meetPart(OTHER) }
    :: !isGone -> d_step { send(SERVER, OTHER) }
    :: !isGone -> d_step { send(OTHER, SERVER) }
    fi
}

proctype Course() {
    bit isDone;

    do
    :: quiet -> break
    :: !quiet ->
        if
        :: change()
        :: synchronize()
        :: quiet = 1
        fi;
        d_step { checkClaims() }
    od;
    true;
    d_step {
        /* Users say who is gone, again where that was forgotten. */
        if
        :: isGone -> retireOther()
        :: else
        fi;
        areEqual(isDone)
    };
    do
    :: isDone -> break
    :: !isDone ->
        assert(rounds < LATE);
        d_step {
            rounds++;
            if
            :: !isGone -> send(OTHER, SERVER)
            :: else
            fi;
            f_ = 0;
            meetPart(SERVER);
            if
            :: !isGone -> send(SERVER, OTHER)
            :: else
            fi;
            checkClaims();
            areEqual(isDone)
        }
    od
}

init {
    atomic {
        d_step { beginStores() };
        run Course()
    }
}
