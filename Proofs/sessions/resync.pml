/* Files with all rows, one key, and deletions that are forgotten (Tombstones, ForgottenDeletions, Resync): a file may be
 * away, be given up and come back, or be put back to an earlier state, and a bundle may come late.
 *
 * The row has one column, which a write of the whole row (`base`) or of the column (`cell`) wrote last. */

#ifndef FILES
#define FILES 3
#endif
#define LAST (FILES - 1) /* who is given up, and of whom a bundle comes */
#define NOBODY 15

#ifndef EDITS
#define EDITS 3
#endif
#ifndef COMPACTIONS
#define COMPACTIONS 1
#endif
#ifndef RETIREMENTS
#define RETIREMENTS 1
#endif
#ifndef RESTORATIONS
#define RESTORATIONS 0
#endif
#ifndef BUNDLES
#define BUNDLES 0 /* bundles that come late */
#endif
#ifndef CUTS
#define CUTS 1 /* synchronizations that end after the pull */
#endif
#ifndef AHEAD
#define AHEAD 0 /* how far a clock is ahead that nobody follows */
#endif
#ifndef LATE
#define LATE 3 /* rounds after the last event within which all are equal */
#endif
#define RENEWALS_MAX (RETIREMENTS + RESTORATIONS)
#define IDS (FILES + RENEWALS_MAX)

typedef Stamp {
    byte time;
    byte id;     /* NOBODY where there is none */
    byte number;
    byte write;  /* what nobody sees: which write it is */
}

typedef File {
    byte self;
    byte clock;
    byte known[IDS];        /* the vector */
    byte floor[IDS];
    byte others[IDS * IDS]; /* _sync_known: for each replica, what it knows */
    byte met;               /* bits of ids: _sync_replica */
    byte retired;
    byte seen;              /* bits of writes that the vector covers */
    byte life;              /* 0: there is no version; even: deleted */
    Stamp base;
    Stamp cell;
}

/* The last one is an older state of a file: its backup, or a bundle that was made of it. */
#define OLDER FILES
File file[FILES + 1];
byte late[IDS];             /* what the receiver of the bundle knew when it was made */
bit hasBackup, hasBundle, quiet;
byte ids, edits, restorations, bundles, retirements, compactions, cuts, renewals, rounds;
byte deletions;             /* bits of writes */
byte journal;               /* bits of writes whose value is in a journal */
byte knew[EDITS];           /* writes that the writer had seen */

byte l_, r_; /* who meets */
bit isCut;
hidden byte c_, e_, f_, g_, i_, m_, n_, p_, q_, t_, x_, y_;
hidden byte isResync, exist, isMentioned, hasBase, hasWrite, isGone, isEnded;
hidden byte base[IDS];      /* what is based upon now */
hidden byte life_;
Stamp base_, write_, own_;

#define IS_ALIVE(life) ((life) & 1)
#define COVERS(vector, stamp) (file[vector].known[stamp.id] >= stamp.number)
#define IS_NEWER(a, b) (a.time > b.time || (a.time == b.time && a.id > b.id))
#define IS_SAME(a, b) (a.id == b.id && a.number == b.number && a.time == b.time)

#define set(a, b) a.time = b.time; a.id = b.id; a.number = b.number; a.write = b.write
#define unset(a) a.time = 0; a.id = NOBODY; a.number = 0; a.write = 0

/* What wrote the column last. */
inline value(f, stamp) {
    if
    :: file[f].cell.id != NOBODY -> set(stamp, file[f].cell)
    :: else -> set(stamp, file[f].base)
    fi
}

inline toJournal(stamp) { journal = journal | (1 << stamp.write) }

inline forgetRow(f) { file[f].life = 0; unset(file[f].base); unset(file[f].cell) }

inline clearOlder() {
    hasBackup = 0; hasBundle = 0;
    file[OLDER].self = 0; file[OLDER].clock = 0; file[OLDER].met = 0; file[OLDER].retired = 0;
    file[OLDER].seen = 0; file[OLDER].life = 0;
    unset(file[OLDER].base); unset(file[OLDER].cell);
    for (i_ : 0 .. IDS - 1) { file[OLDER].known[i_] = 0; file[OLDER].floor[i_] = 0; late[i_] = 0 }
    for (i_ : 0 .. IDS * IDS - 1) { file[OLDER].others[i_] = 0 }
    i_ = 0
}

inline beginStores() {
    unset(base_); unset(write_); unset(own_);
    for (f_ : 0 .. FILES - 1) {
        file[f_].self = f_;
        file[f_].met = 1 << f_;
        unset(file[f_].base); unset(file[f_].cell)
    }
    clearOlder();
    ids = FILES; f_ = 0
}

/* One of three pairs, in turn. */
inline meetAny(n) {
    l_ = (n == 2 -> 1 : 0); r_ = (n % 3 == 0 -> 1 : LAST);
    if
    :: FILES == 2 -> l_ = 0; r_ = 1
    :: else
    fi;
    meet()
}

/* A row that all have, and everybody knows that. */
inline beginTogether() {
    edit(0, 0, 0);
    for (m_ : 0 .. 3) { meetAny(m_) }
    m_ = 0
}

/* Then the row was deleted while the third file was away, which was given up, and the deletion is forgotten. */
inline beginApart() {
    edit(0, 1, 0);
    file[0].retired = 1 << file[LAST].self;
    for (m_ : 0 .. 1) { l_ = 0; r_ = 1; meet(); compact(0) }
    assert(file[0].life == 0);
    retirements = 1;
    m_ = 0
}

inline copyFile(from, to) {
    file[to].self = file[from].self; file[to].clock = file[from].clock; file[to].met = file[from].met;
    file[to].retired = file[from].retired; file[to].seen = file[from].seen; file[to].life = file[from].life;
    set(file[to].base, file[from].base); set(file[to].cell, file[from].cell);
    for (i_ : 0 .. IDS - 1) {
        file[to].known[i_] = file[from].known[i_]; file[to].floor[i_] = file[from].floor[i_]
    }
    for (i_ : 0 .. IDS * IDS - 1) { file[to].others[i_] = file[from].others[i_] }
    i_ = 0
}

/* A stamp of a write that is made now, above those of the row. Others do not follow a clock that is far ahead. */
inline stampNow(f, stamp, isAhead) {
    n_ = file[f].self;
    file[f].clock++;
    file[f].known[n_]++;
    x_ = (file[f].base.time > file[f].cell.time -> file[f].base.time : file[f].cell.time) + 1;
    stamp.time = (x_ > file[f].clock + isAhead * AHEAD -> x_ : file[f].clock + isAhead * AHEAD);
    stamp.id = n_; stamp.number = file[f].known[n_];
    n_ = 0; x_ = 0
}

inline edit(f, isDeletion, isAhead) {
    stampNow(f, write_, isAhead);
    write_.write = edits;
    knew[edits] = file[f].seen;
    file[f].seen = file[f].seen | (1 << edits);
    if
    :: !IS_ALIVE(file[f].life) -> /* life 1 where the deletion is forgotten */
        file[f].life++; set(file[f].base, write_)
    :: IS_ALIVE(file[f].life) && isDeletion ->
        file[f].life++; set(file[f].base, write_); unset(file[f].cell);
        deletions = deletions | (1 << edits)
    :: else -> set(file[f].cell, write_)
    fi;
    printf("file %d writes %d as %d/%d, life %d\n", f, edits, write_.id, write_.number, file[f].life);
    edits++; unset(write_)
}

/* VersionTable.forgetDeletions */
inline forgetDeletion(f) {
    if
    :: file[f].life > 0 && !IS_ALIVE(file[f].life) && file[f].base.number <= file[f].floor[file[f].base.id] ->
        printf("file %d forgets the deletion\n", f);
        forgetRow(f)
    :: else
    fi
}

/* Tombstones.commonVector and raiseFloor. `x_`: whether there is a vector that all know. */
inline compact(f) {
    x_ = 1;
    for (g_ : 0 .. IDS - 1) {
        if
        :: g_ != file[f].self && (file[f].met & (1 << g_)) && !(file[f].retired & (1 << g_)) ->
            if
            :: file[f].others[g_ * IDS + g_] > file[f].known[g_] -> x_ = 0
            :: else
            fi
        :: else
        fi
    }
    for (i_ : 0 .. IDS - 1) {
        n_ = file[f].known[i_];
        for (g_ : 0 .. IDS - 1) {
            if
            :: g_ != file[f].self && (file[f].met & (1 << g_)) && !(file[f].retired & (1 << g_)) &&
                    file[f].others[g_ * IDS + i_] < n_ ->
                n_ = file[f].others[g_ * IDS + i_]
            :: else
            fi
        }
        if
        :: x_ && n_ > file[f].floor[i_] -> file[f].floor[i_] = n_
        :: else
        fi
    }
    forgetDeletion(f);
    g_ = 0; i_ = 0; n_ = 0; x_ = 0
}

/* ReplicaIdentity.renew: the changes after the last one that the other side knows move to a new id. */
inline renew(f, common) {
    assert(renewals < RENEWALS_MAX);
    renewals++;
    y_ = file[f].self;
    n_ = ids; ids++;
    printf("file %d is %d now, and moves what is after %d/%d\n", f, n_, y_, common);
    file[f].self = n_;
    file[f].met = file[f].met | (1 << n_);
    file[f].known[n_] = 1;
    if
    :: file[f].life > 0 && file[f].base.id == y_ && file[f].base.number > common ->
        file[f].base.id = n_; file[f].base.number = 1; file[f].base.time++
    :: else
    fi;
    if
    :: file[f].cell.id == y_ && file[f].cell.number > common ->
        file[f].cell.id = n_; file[f].cell.number = 1; file[f].cell.time++
    :: else
    fi;
    if /* VersionTable.raiseCells */
    :: file[f].cell.id != NOBODY && file[f].base.id == n_ && file[f].cell.time <= file[f].base.time ->
        file[f].cell.id = n_; file[f].cell.number = 1; file[f].cell.time = file[f].base.time + 1
    :: else
    fi;
    if
    :: file[f].floor[y_] > common ->
#ifndef FLOOR_STAYS
        file[f].floor[y_] = common;
        file[f].floor[n_] = 1
#else
        skip
#endif
    :: else
    fi;
    file[f].known[y_] = (file[f].known[y_] > common -> common : file[f].known[y_]);
    x_ = (file[f].base.time > file[f].cell.time -> file[f].base.time : file[f].cell.time);
    file[f].clock = (x_ > file[f].clock -> x_ : file[f].clock);
    n_ = 0; x_ = 0; y_ = 0
}

/* ReplicaRegister.learn */
inline learn(f, s) {
    file[f].met = file[f].met | file[s].met;
    file[f].retired = file[f].retired | (file[s].retired & ~(1 << file[f].self));
    for (g_ : 0 .. IDS - 1) {
        for (i_ : 0 .. IDS - 1) {
            x_ = (g_ == file[s].self -> file[s].known[i_] : file[s].others[g_ * IDS + i_]);
            if
            :: file[f].retired & (1 << g_) -> file[f].others[g_ * IDS + i_] = 0 /* nobody asks for it */
            :: !(file[f].retired & (1 << g_)) && g_ != file[f].self && x_ > file[f].others[g_ * IDS + i_] ->
                file[f].others[g_ * IDS + i_] = x_
            :: else
            fi
        }
    }
    g_ = 0; i_ = 0; x_ = 0
}

/* ForgottenDeletions.takeOut: a value that the sender does not know goes to the journal. */
inline takeOut(f, s) {
    if
    :: IS_ALIVE(file[f].life) ->
        value(f, own_);
        if
        :: !COVERS(s, own_) -> toJournal(own_)
        :: else
        fi;
        unset(own_)
    :: else
    fi;
    forgetRow(f)
}

/* ForgottenDeletions.keep, for what the sender tells: `life_`, `base_` and `write_`. */
inline keep(f, s) {
#ifndef FORGOTTEN_THERE_STAYS
    if
    :: file[f].life > 0 && !IS_ALIVE(file[f].life) && IS_ALIVE(life_) && life_ < file[f].life && hasBase &&
            COVERS(s, file[f].base) && !COVERS(f, base_) ->
        forgetRow(f)
    :: else
    fi;
#endif
#ifndef OUTLIVED_STAYS
    if /* Resync.isOutlived */
    :: isResync && file[f].life > 0 && hasBase && !IS_SAME(base_, file[f].base) && COVERS(s, file[f].base) ->
        isGone = 0;
        if
        :: file[f].life != life_ -> isGone = file[f].life > life_
        :: file[f].life == life_ && IS_NEWER(file[f].base, base_) -> isGone = 1
        :: else ->
            if
            :: file[f].cell.id != NOBODY && COVERS(s, file[f].cell) ->
                if
                :: hasWrite -> isGone = IS_NEWER(file[f].cell, write_)
                :: else -> isGone = IS_NEWER(file[f].cell, base_)
                fi
            :: else
            fi
        fi;
        if
        :: isGone -> takeOut(f, s)
        :: else
        fi;
        isGone = 0
    :: else
    fi
#else
    skip
#endif
}

/* AppliedRecords.merge: whether the deletion of what is told was forgotten. */
inline askForgotten(f) {
    isGone = 0;
    if
    :: file[f].life > 0 ->
        isGone = exist && hasBase && !IS_SAME(base_, file[f].base) && COVERS(f, base_) &&
            (life_ > file[f].life || (life_ == file[f].life && IS_NEWER(base_, file[f].base)))
    :: file[f].life == 0 && hasBase ->
        isGone = exist && COVERS(f, base_) && base_.number <= file[f].floor[base_.id]
    :: else -> isGone = exist
    fi
}

/* Merge.plan of columns */
inline mergeColumn(f, s) {
    value(f, own_);
    if
    :: hasBase && IS_NEWER(base_, file[f].base) -> set(file[f].base, base_)
    :: else
    fi;
    unset(file[f].cell);
    if
    :: !hasWrite ->
        assert(!hasBase || !IS_NEWER(base_, own_)); /* values that are newer than the row come with it, or are here */
        if
        :: !IS_SAME(own_, file[f].base) -> set(file[f].cell, own_)
        :: else
        fi
    :: hasWrite && IS_NEWER(write_, own_) ->
        if
        :: own_.write != write_.write && !COVERS(s, own_) -> toJournal(own_)
        :: else
        fi;
        if
        :: !IS_SAME(write_, file[f].base) -> set(file[f].cell, write_)
        :: else
        fi
    :: else ->
        if
        :: own_.write != write_.write && !COVERS(f, write_) -> toJournal(write_)
        :: else
        fi;
        if
        :: !IS_SAME(own_, file[f].base) -> set(file[f].cell, own_)
        :: else
        fi
    fi;
    unset(own_)
}

/* HalfKnownDeletions.note */
inline noteHalfKnown(f, s) {
#ifndef NOTHING_IS_ISSUED_AGAIN
    if
    :: file[f].life > 0 && IS_ALIVE(file[f].life) != IS_ALIVE(life_) && hasBase &&
            (IS_ALIVE(life_) -> life_ < file[f].life : life_ > file[f].life) &&
            !COVERS(f, base_) && !COVERS(s, file[f].base) ->
        isEnded = 1
    :: else
    fi
#else
    skip
#endif
}

inline mergeRow(f, s) {
    noteHalfKnown(f, s);
    if
    :: file[f].life == 0 || life_ > file[f].life ->
        assert(hasBase); /* a life begins with the write that began it */
        if
        :: IS_ALIVE(file[f].life) ->
            value(f, own_);
            if
            :: !COVERS(s, own_) || IS_NEWER(own_, base_) -> toJournal(own_)
            :: else
            fi;
            unset(own_)
        :: else
        fi;
        file[f].life = life_;
        set(file[f].base, base_); unset(file[f].cell);
        if
        :: IS_ALIVE(life_) && hasWrite && !IS_SAME(write_, base_) -> set(file[f].cell, write_)
        :: else
        fi
    :: file[f].life > 0 && life_ < file[f].life ->
        if
        :: IS_ALIVE(life_) && hasWrite && !COVERS(f, write_) -> toJournal(write_)
        :: else
        fi
    :: file[f].life > 0 && life_ == file[f].life && !IS_ALIVE(life_) ->
        if
        :: hasBase && IS_NEWER(base_, file[f].base) -> set(file[f].base, base_)
        :: else
        fi
    :: else -> mergeColumn(f, s)
    fi
}

/* AppliedRecords.apply and merge */
inline applyRow(f, s) {
    keep(f, s);
    askForgotten(f);
    if
    :: isGone -> /* ForgottenDeletions.discard */
        if
        :: IS_ALIVE(life_) && hasWrite && !COVERS(f, write_) -> toJournal(write_)
        :: else
        fi
    :: else ->
#ifndef FORMER_WRITES_COUNT
        if /* ForgottenDeletions.withoutFormerWrites; isGone: nothing is left to merge */
        :: exist && IS_ALIVE(file[f].life) && IS_ALIVE(life_) && !COVERS(s, file[f].base) && (!hasBase || COVERS(f, base_)) ->
            if
            :: hasWrite && COVERS(f, write_) -> hasWrite = 0
            :: else
            fi;
            isGone = !hasWrite
        :: else
        fi;
#endif
        if
        :: !isGone -> mergeRow(f, s)
        :: else
        fi
    fi;
    isGone = 0
}

/* What the sender tells of the row beyond what the receiver knows, or all of it: with the base comes the column. */
inline tell(s) {
    hasBase = file[s].life > 0 && file[s].base.number > base[file[s].base.id];
    if
    :: !IS_ALIVE(file[s].life) -> hasWrite = 0
    :: else ->
        value(s, write_);
#ifdef KNOWN_CELLS_STAY
        hasWrite = (file[s].cell.id == NOBODY -> hasBase : file[s].cell.number > base[file[s].cell.id])
#else
        hasWrite = hasBase || (file[s].cell.id != NOBODY && file[s].cell.number > base[file[s].cell.id])
#endif
    fi;
    life_ = file[s].life;
    set(base_, file[s].base)
}

/* What a bundle is based upon: all that the receiver knows, or nothing when it does not know the floor. */
inline chooseBase(f, s) {
    isResync = 0;
    for (i_ : 0 .. IDS - 1) {
        if
        :: file[f].known[i_] < file[s].floor[i_] -> isResync = 1
        :: else
        fi;
        assert(file[s].known[i_] >= file[s].floor[i_])
    }
#ifdef NO_RESYNC
    isResync = 0;
#endif
    for (i_ : 0 .. IDS - 1) { base[i_] = (isResync -> 0 : file[f].known[i_]) }
    i_ = 0
}

/* BundleAdmission.refuseLate and admit: a bundle that came late may not fit any more. */
inline admit(f, s, isTaken) {
    isTaken = 1; x_ = 1; y_ = 1;
    isResync = 0;
    for (i_ : 0 .. IDS - 1) {
        x_ = x_ && base[i_] == 0;
        y_ = y_ && file[f].known[i_] >= file[s].known[i_];
        isTaken = isTaken && file[f].known[i_] >= base[i_];
        isResync = isResync || file[f].known[i_] < file[s].floor[i_]
    }
    isTaken = isTaken && (!isResync || x_) && (y_ || !(file[f].retired & (1 << file[s].self))) &&
        !(file[s].retired & (1 << file[f].self)) && file[f].self != file[s].self;
    i_ = 0; x_ = 0; y_ = 0
}

/* What a file sends, by `base`, comes to another one. */
inline transfer(f, s) {
    printf("file %d sends to %d; resync %d\n", s, f, isResync);
    tell(s);
    exist = 0;
    for (i_ : 0 .. IDS - 1) {
        if
        :: file[s].floor[i_] > file[f].floor[i_] -> file[f].floor[i_] = file[s].floor[i_]
        :: else
        fi;
        exist = exist || file[f].floor[i_] > 0
    }
    forgetDeletion(f);
    isMentioned = hasBase || hasWrite;
    if
    :: isMentioned -> applyRow(f, s)
    :: else
    fi;
#ifndef SILENCE_SAYS_NOTHING
    if /* ForgottenDeletions.finish */
    :: isResync && !isMentioned && file[f].life > 0 && (COVERS(s, file[f].base) ||
            (file[f].cell.id != NOBODY && COVERS(s, file[f].cell))) ->
        takeOut(f, s)
    :: else
    fi;
#endif
    file[f].clock = (file[s].clock > file[f].clock -> file[s].clock : file[f].clock);
    if
    :: isEnded && file[f].life > 0 && !IS_ALIVE(file[f].life) -> stampNow(f, file[f].base, 0)
    :: else
    fi;
    for (i_ : 0 .. IDS - 1) {
        file[f].known[i_] = (file[s].known[i_] > file[f].known[i_] -> file[s].known[i_] : file[f].known[i_])
    }
    file[f].seen = file[f].seen | file[s].seen;
    for (i_ : 0 .. IDS - 1) { base[i_] = 0 }
    isResync = 0; isMentioned = 0; exist = 0; hasBase = 0; hasWrite = 0; isEnded = 0; life_ = 0; i_ = 0;
    unset(base_); unset(write_)
}

/* Who is given up by the other side gets a new identity (SyncSession.retirement). */
inline renewRetired(a, b) {
    if
    :: file[b].retired & (1 << file[a].self) -> c_ = file[b].known[file[a].self]; renew(a, c_); c_ = 0
    :: else
    fi
}

/* One synchronization of files `l_` and `r_`: a pull and a push, of which the latter may not come. */
inline meet() {
    for (t_ : 0 .. 2) {
        p_ = (t_ == 1 -> r_ : l_); q_ = (t_ == 1 -> l_ : r_);
        learn(p_, q_); /* StorePeer.meet */
        learn(q_, p_);
        renewRetired(p_, q_)
    }
    learn(l_, r_);
    learn(r_, l_);
    for (t_ : 0 .. 1) {
        p_ = (t_ == 1 -> r_ : l_); q_ = (t_ == 1 -> l_ : r_);
        if
        :: t_ == 0 || !isCut -> chooseBase(p_, q_); transfer(p_, q_); learn(p_, q_)
        :: else
        fi
    }
    l_ = 0; p_ = 0; q_ = 0; r_ = 0; t_ = 0; isCut = 0
}

inline checkFiles() {
    for (f_ : 0 .. FILES - 1) {
        if
        :: IS_ALIVE(file[f_].life) ->
            for (e_ : 0 .. EDITS - 1) { /* a row whose deletion is known, by somebody who knew the row, is not there */
                assert(!(file[f_].seen & deletions & (1 << e_)) || !(knew[e_] & (1 << file[f_].base.write)))
            }
        :: else
        fi
    }
    f_ = 0; e_ = 0
}

inline areEqual(result) {
    result = 1;
    for (f_ : 1 .. FILES - 1) {
        for (i_ : 0 .. IDS - 1) { result = result && file[f_].known[i_] == file[0].known[i_] }
        result = result && IS_ALIVE(file[f_].life) == IS_ALIVE(file[0].life);
        if
        :: IS_ALIVE(file[f_].life) && IS_ALIVE(file[0].life) ->
            result = result && IS_SAME(file[f_].base, file[0].base) && IS_SAME(file[f_].cell, file[0].cell)
        :: else
        fi
    }
    f_ = 0; i_ = 0
}

/* Each value is visible, replaced or deleted by somebody who had seen it, or in a journal; or it was lost with a file. */
inline checkValues() {
    x_ = 0;
    for (f_ : 0 .. FILES - 1) { x_ = x_ | file[f_].seen }
    for (e_ : 0 .. EDITS - 1) {
        y_ = !(x_ & (1 << e_)) || (deletions & (1 << e_)) || (journal & (1 << e_));
        for (g_ : 0 .. EDITS - 1) {
            y_ = y_ || ((x_ & (1 << g_)) && (knew[g_] & (1 << e_)))
        }
        if
        :: IS_ALIVE(file[0].life) ->
            value(0, own_);
            y_ = y_ || own_.write == e_;
            unset(own_)
        :: else
        fi;
        assert(y_)
    }
    e_ = 0; f_ = 0; g_ = 0; x_ = 0; y_ = 0
}

inline restore(f) {
    copyFile(OLDER, f);
    clearOlder();
    /* It sees that, gets a new id, and retires the one that it had; nothing moves (StoreFence, mintForCopy). */
    file[f].retired = file[f].retired | (1 << file[f].self);
    assert(renewals < RENEWALS_MAX);
    renewals++;
    file[f].self = ids; ids++;
    file[f].met = file[f].met | (1 << file[f].self);
    restorations++;
    printf("file %d is put back, and is %d now\n", f, file[f].self)
}

/* A bundle of the third file for the first. */
inline bundle() {
    if
    :: hasBundle ->
        for (i_ : 0 .. IDS - 1) { base[i_] = late[i_] }
        admit(0, OLDER, isCut);
        if
        :: isCut -> printf("the bundle comes\n"); transfer(0, OLDER); learn(0, OLDER)
        :: else
        fi;
        isCut = 0; isResync = 0;
        clearOlder()
    :: else ->
        chooseBase(0, LAST);
        for (i_ : 0 .. IDS - 1) { late[i_] = base[i_] }
        i_ = 0; isResync = 0;
        copyFile(LAST, OLDER);
        bundles++;
        hasBundle = 1
    fi
}

inline giveUp(f, g) {
    retirements++;
    file[f].retired = file[f].retired | (1 << file[g].self)
}

inline choose(f) {
    if
    :: f = 0
    :: f = 1
    :: FILES > 2 -> f = 2
    fi
}

inline change(f) {
    if
    :: edits < EDITS -> d_step { edit(f, 0, 0) }
    :: edits < EDITS && IS_ALIVE(file[f].life) -> d_step { edit(f, 1, 0) }
    :: edits < EDITS && AHEAD > 0 && f == LAST && IS_ALIVE(file[f].life) -> d_step { edit(f, 0, 1) }
    :: compactions < COMPACTIONS -> d_step { printf("file %d is compacted\n", f); compactions++; compact(f) }
    :: retirements < RETIREMENTS && f != LAST && (file[f].met & (1 << file[LAST].self)) -> /* the lease of the third file is over */
        d_step { printf("file %d gives file %d up\n", f, LAST); giveUp(f, LAST) }
    :: retirements < RETIREMENTS && f == LAST && (file[f].met & (1 << file[0].self)) ->
        d_step { printf("file %d gives file 0 up\n", LAST); giveUp(LAST, 0) }
    :: restorations < RESTORATIONS && !hasBackup && !hasBundle && f == 1 -> d_step { copyFile(1, OLDER); hasBackup = 1 }
    :: restorations < RESTORATIONS && hasBackup && f == 1 -> d_step { restore(1) }
    :: f == LAST && !hasBackup && (hasBundle || bundles < BUNDLES) -> d_step { bundle() }
    :: true
    fi
}

inline synchronize() {
    atomic {
        if
        :: l_ = 0; r_ = 1
        :: FILES > 2 -> l_ = 0; r_ = LAST
        :: FILES > 2 -> l_ = 1; r_ = LAST
        fi;
        if
        :: isCut = 0
        :: cuts < CUTS -> isCut = 1; cuts++
        :: cuts < CUTS -> isCut = 1; cuts++; t_ = l_; l_ = r_; r_ = t_; t_ = 0
        fi;
        d_step { meet() }
    }
}

proctype Course() {
    byte f;
    bit isDone;

    do
    :: quiet -> break
    :: !quiet ->
        if
        :: choose(f); change(f); f = 0
        :: synchronize()
        :: quiet = 1
        fi;
        d_step { checkFiles() }
    od;
    true;
    d_step { areEqual(isDone) };
    do
    :: isDone -> break
    :: !isDone ->
        assert(rounds < LATE);
        d_step {
            rounds++;
            for (m_ : 0 .. 2) { meetAny(m_) }
            m_ = 0;
            checkFiles();
            areEqual(isDone)
        }
    od;
    true;
    d_step { checkValues() }
}

init {
    atomic {
        d_step { beginStores() };
#ifdef TOGETHER
        d_step { beginTogether() };
#endif
#ifdef APART
        d_step { beginTogether() };
        d_step { beginApart() };
#endif
        run Course()
    }
}
