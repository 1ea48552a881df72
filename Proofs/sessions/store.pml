/* What a file holds, and the transactions that change it without another replica.
 *
 * Each row is one edit, so that no edit replaces another one. A version is (replica, number, age): the age
 * counts how often the version was moved to a new identity, as `hlc + 1` does in VersionTable.move.
 *
 * A chain (ReplicaChain) is a path in the tree of all folds that ever were. A file that knows a replica's changes up to
 * a point knows the whole path to it, so one node stands for both the vector's number and the chain. */

#ifndef IDS
#define IDS 5 /* identities that can be taken in all */
#endif
#ifndef EDITS
#define EDITS 2
#endif
#ifndef FOLDS
#define FOLDS 10 /* folds and renewals in all; the root is one */
#endif
#define NONE 255

/* ReplicaFacts.Retirement.Reason; 0 for a replica that is not retired. */
#define UNSEEN 1
#define REQUESTED 2
#define RENEWED 3

typedef File {
    byte self;       /* _sync_state.self */
    byte top[IDS];   /* the last known fold of each replica: _sync_replica.oseq and _sync_chain */
    byte ret[IDS];   /* _sync_retired */
    byte last;       /* the last number of _sync_log */
    byte waiting;    /* edits in the log that are not folded yet */
    bit copied;      /* StoreFence will notice that the file is not where it was */
    byte sid[EDITS]; /* _sync_row: replica, number and age of the version of each edit */
    byte seq[EDITS];
    byte age[EDITS];
#ifdef RETIREMENTS
    byte noted;       /* RetirementForks: the identity, or NONE */
    byte common[IDS]; /* its forks */
#endif
}

/* The last common number of each forked replica, or NONE: [Fork] */
typedef Forks { byte at[IDS] }

/* The last slot keeps an older state of a file. */
#define OLDER FILES
#ifndef SLOTS
#define SLOTS (FILES + 1)
#endif
File file[SLOTS];

/* The tree of folds: number and predecessor of each. */
byte number[FOLDS];
byte before[FOLDS];
#ifdef LIES
bit unproven[FOLDS]; /* a number that somebody named without a point of the chain */
#define PROVEN(node) (unproven[node] -> before[node] : node)
#else
#define PROVEN(node) (node)
#endif
byte foldCount = 1;
byte idCount;
byte renewals; /* how many new identities were given because of forks and retirements */

hidden byte i_, j_, n_, m_, x_, y_, id_, seq_, e_;

/* What a file has of the edits, in versions or in the log. */
inline holdings(f, result) {
    result = file[f].waiting;
    for (e_ : 0 .. EDITS - 1) {
        if
        :: file[f].sid[e_] != NONE -> result = result | (1 << e_)
        :: else
        fi
    }
    e_ = 0
}

inline newFold(node, predecessor, n) {
    assert(foldCount < FOLDS); /* the model is too small */
    node = foldCount;
    number[node] = n;
    before[node] = predecessor;
    foldCount++
}

inline newID(f) {
    assert(idCount < IDS); /* more identities were taken than copies can call for */
    file[f].self = idCount;
    idCount++
}

/* The highest point of a path that is at most at a number: ReplicaChain.position. */
inline pointUpTo(node, limit, result) {
    result = node;
    do
    :: number[result] > limit -> result = before[result]
    :: else -> break
    od
}

/* The last point that two paths have in common: ForkSearch.common. */
inline lastCommon(one, other, result) {
    n_ = one;
    m_ = other;
    do
    :: n_ == m_ -> break
    :: n_ != m_ && number[n_] >= number[m_] -> n_ = before[n_]
    :: n_ != m_ && number[n_] < number[m_] -> m_ = before[m_]
    od;
    result = n_
}

/* FoldedStore.fold, with StoreFence.check: one fold of all that waits, one point of the chain. */
inline fold(f) {
    if
    :: file[f].copied -> file[f].copied = 0; newID(f) /* ReplicaIdentity.mintForCopy */
    :: else
    fi;
    if
    :: file[f].waiting ->
        for (e_ : 0 .. EDITS - 1) {
            if
            :: file[f].waiting & (1 << e_) ->
                file[f].last++;
                file[f].sid[e_] = file[f].self;
                file[f].seq[e_] = file[f].last;
                file[f].age[e_] = 0
            :: else
            fi
        }
        file[f].waiting = 0;
        id_ = file[f].self;
        newFold(n_, file[f].top[id_], file[f].last);
        file[f].top[id_] = n_
    :: else
    fi;
    e_ = 0
}

/* ReplicaRegister.retire: the first retirement counts, unless somebody asks for one later. */
inline retire(f, id, reason) {
    if
    :: file[f].ret[id] == 0 || (reason == REQUESTED && file[f].ret[id] != REQUESTED) -> file[f].ret[id] = reason
    :: else
    fi
}

/* ReplicaIdentity.renew, after a fold: `forks` has the last common number of each forked replica, or NONE. */
inline renew(f, forks) {
    renewals++;
    y_ = file[f].self;
    newID(f);
    x_ = 0;
    for (i_ : 0 .. IDS - 1) {
        if
        :: forks.at[i_] != NONE -> x_ = 1
        :: else
        fi
    }
    if
    :: !x_ -> retire(f, y_, RENEWED) /* mintForCopy: nothing moves */
    :: else ->
        file[f].last++;
        newFold(n_, 0, file[f].last);
        id_ = file[f].self;
        file[f].top[id_] = n_;
        for (i_ : 0 .. IDS - 1) {
            if
            :: forks.at[i_] != NONE ->
#ifndef TAIL_STAYS
                for (e_ : 0 .. EDITS - 1) {
                    if
                    :: file[f].sid[e_] == i_ && file[f].seq[e_] > forks.at[i_] ->
                        file[f].sid[e_] = file[f].self;
                        file[f].seq[e_] = file[f].last;
                        file[f].age[e_]++
                    :: else
                    fi
                }
#endif
#ifndef VECTOR_STAYS
                if
                :: number[file[f].top[i_]] > forks.at[i_] ->
                    pointUpTo(file[f].top[i_], forks.at[i_], n_);
                    assert(number[n_] == forks.at[i_]); /* invariant 36: a vector names points of the chain */
                    file[f].top[i_] = n_
                :: else
                fi
#endif
            :: else
            fi
        }
        if
        :: forks.at[y_] == NONE -> retire(f, y_, RENEWED)
        :: else
        fi
    fi;
    e_ = 0; i_ = 0; x_ = 0; y_ = 0
}

/* Edit of a user: an entry of the log. */
inline edit(f, e) {
    file[f].waiting = file[f].waiting | (1 << e)
}

/* A file gets the content of another one, byte by byte. */
inline overwrite(target, source) {
    file[target].self = file[source].self;
    file[target].last = file[source].last;
    file[target].waiting = file[source].waiting;
    file[target].copied = file[source].copied;
    for (i_ : 0 .. IDS - 1) {
        file[target].top[i_] = file[source].top[i_];
        file[target].ret[i_] = file[source].ret[i_]
#ifdef RETIREMENTS
        ; file[target].common[i_] = file[source].common[i_]
#endif
    }
    for (e_ : 0 .. EDITS - 1) {
        file[target].sid[e_] = file[source].sid[e_];
        file[target].seq[e_] = file[source].seq[e_];
        file[target].age[e_] = file[source].age[e_]
    }
#ifdef RETIREMENTS
    file[target].noted = file[source].noted;
#endif
    e_ = 0; i_ = 0
}

/* The copy is not needed any more. */
inline forgetOlder() {
    file[OLDER].self = 0; file[OLDER].last = 0; file[OLDER].waiting = 0; file[OLDER].copied = 0;
    for (i_ : 0 .. IDS - 1) { file[OLDER].top[i_] = 0; file[OLDER].ret[i_] = 0 }
    for (e_ : 0 .. EDITS - 1) {
        file[OLDER].sid[e_] = NONE; file[OLDER].seq[e_] = 0; file[OLDER].age[e_] = 0
    }
    e_ = 0; i_ = 0
}

/* Each file is a replica of its own that wrote nothing. */
inline beginStores() {
    for (j_ : 0 .. SLOTS - 1) {
        for (e_ : 0 .. EDITS - 1) { file[j_].sid[e_] = NONE }
#ifdef RETIREMENTS
        file[j_].noted = NONE;
        for (i_ : 0 .. IDS - 1) { file[j_].common[i_] = NONE }
#endif
        if
        :: j_ < FILES -> file[j_].self = j_
        :: else
        fi
    }
    idCount = FILES;
    e_ = 0; i_ = 0; j_ = 0
}
