/* One synchronization of two files (SyncSession, SessionDriver) and its transactions. */

#ifndef OUTDATED_MAX
#define OUTDATED_MAX 2 /* SyncSession.outdatedCountMax is 100 */
#endif

#ifdef SENDER_FIRST
#define OWN_FORKS_FIRST 0
#else
#define OWN_FORKS_FIRST 1
#endif

/* SyncSession.Action, and how a session can be refused */
#define GREET 0
#define RENEW_LOCAL 1
#define RENEW_REMOTE 2
#define PULL 3
#define PUSH 4
#define COMPARE 5
#define FINISH 6
#define SAME_REPLICA 7
#define RETIRED 8
#define CHANGED_MEANWHILE 9
#define KNOWN_ALREADY 10

Greeting header, now; /* used inside of one step only, and cleared */
Greeting blank;
Forks forks_, kept_;
byte restorations; /* how often a file got another content */

inline clear(g) {
    g.self = 0; g.own = 0; g.held = 0;
    for (i_ : 0 .. IDS - 1) { g.top[i_] = 0; g.ret[i_] = 0 }
    i_ = 0
}

inline clearForks(forks) {
    for (i_ : 0 .. IDS - 1) { forks.at[i_] = NONE }
    i_ = 0
}

/* RetirementForks.note */
inline noteForks(f, forks) {
#ifdef RETIREMENTS
    file[f].noted = NONE;
    for (i_ : 0 .. IDS - 1) { file[f].common[i_] = NONE }
#ifndef RETIREMENT_WITHOUT_FORKS
    if
    :: forks.at[file[f].self] != NONE ->
        file[f].noted = file[f].self;
        for (i_ : 0 .. IDS - 1) { file[f].common[i_] = forks.at[i_] }
    :: else
    fi;
#endif
    i_ = 0
#else
    skip
#endif
}

/* SyncSession.retirement: one side after the other. */
inline retirement(isLocal, who, other, gl, gr, forks, action) {
    if
    :: other.ret[who.self] == REQUESTED ->
        action = RETIRED;
        forksOf(isLocal, gl, gr, forks, kept_, x_)
    :: other.ret[who.self] == UNSEEN || other.ret[who.self] == RENEWED ->
        action = (isLocal -> RENEW_LOCAL : RENEW_REMOTE);
        forksOf(isLocal, gl, gr, forks, kept_, x_);
        kept_.at[who.self] = (forks.at[who.self] != NONE -> forks.at[who.self] : number[other.top[who.self]])
    :: else
    fi;
    x_ = 0
}

/* SyncSession.meet: what comes after both greeted. The forks in which the side gives way are in `forks` afterwards. */
inline decide(l, gl, gr, forks, renewedLocal, renewedRemote, isPushDue, isComparable, action) {
    action = GREET;
    isPushDue = 0;
    isComparable = 0;
    y_ = gl.self == gr.self;
    for (i_ : 0 .. IDS - 1) { y_ = y_ && gl.top[i_] == gr.top[i_] }
    if
    :: y_ -> action = SAME_REPLICA /* not isOtherFile */
    :: else ->
        completeForks(gl, gr, forks);
        retirement(1, gl, gr, gl, gr, forks, action);
        if
        :: action == RETIRED -> noteForks(l, kept_)
        :: action == GREET -> retirement(0, gr, gl, gl, gr, forks, action)
        :: else
        fi;
        if
        :: action == GREET ->
            forksOf(1, gl, gr, forks, kept_, y_);
            if
            :: y_ -> action = RENEW_LOCAL
            :: else ->
                forksOf(0, gl, gr, forks, kept_, y_);
                if
                :: y_ -> action = RENEW_REMOTE
                :: else
                fi
            fi
        :: else
        fi;
        for (i_ : 0 .. IDS - 1) { forks.at[i_] = kept_.at[i_]; kept_.at[i_] = 0 }
        if
        :: action == RENEW_LOCAL ->
            if
            :: renewedLocal == 2 -> action = KNOWN_ALREADY
            :: else
            fi
        :: action == RENEW_REMOTE ->
            if
            :: renewedRemote == 2 -> action = KNOWN_ALREADY
            :: else
            fi
        :: action == GREET ->
            covers(gr, gl, isPushDue);
            isPushDue = !isPushDue;
            covers(gl, gr, y_);
            isComparable = 1;
            action = (!y_ -> PULL : (isPushDue -> PUSH : COMPARE))
        :: else
        fi
    fi;
    i_ = 0; x_ = 0; y_ = 0
}

/* StorePeer.renewIdentity(_:shownBy:to:): unless the greeting of the other side no longer shows the forks. */
inline renewIfShown(f, id, shown, forks, isAsked, isRenewed) {
    fold(f);
    isRenewed = 0;
    if
    :: file[f].self == id ->
#ifdef RENEW_WHAT_IS_OUT_OF_DATE
        isRenewed = 1;
#else
        isRenewed = !isAsked; /* SyncPeer's own implementation, which a peer behind a pipe has */
#endif
        if
        :: shown.ret[id] != 0 -> isRenewed = 1
        :: else
        fi;
        for (i_ : 0 .. IDS - 1) {
            if
            :: forks.at[i_] != NONE && i_ != id -> isRenewed = 1
            :: else
            fi
        }
        if
        :: !isRenewed ->
            greet(f, now);
            clearForks(forks_);
            forksInGreeting(f, shown, forks_, y_);
            completeForks(now, shown, forks_);
            forksOf(1, now, shown, forks_, kept_, y_);
            isRenewed = y_;
            clear(now);
            for (i_ : 0 .. IDS - 1) { forks_.at[i_] = 0; kept_.at[i_] = 0 }
        :: else
        fi;
        if
        :: isRenewed -> renew(f, forks)
        :: else
        fi
    :: else
    fi;
    i_ = 0; y_ = 0
}

/* A version of an edit comes to a file: the greater (age, replica, number) stands (Merge.plan). */
inline merge(f, e, source) {
    if
    :: file[f].sid[e] == NONE || file[f].age[e] < file[source].age[e] ||
        (file[f].age[e] == file[source].age[e] && (file[f].sid[e] < file[source].sid[e] ||
            (file[f].sid[e] == file[source].sid[e] && file[f].seq[e] < file[source].seq[e]))) ->
        file[f].sid[e] = file[source].sid[e];
        file[f].seq[e] = file[source].seq[e];
        file[f].age[e] = file[source].age[e]
    :: else
    fi
}

/* BundleAdmission.renewIfNeeded, admit and refuseLate: what a bundle from `header` means to a file. It is applied only
 * when nothing speaks against it; a new identity stays when the bundle does not fit it (renewWithoutBundle). */
inline admit(f, base, isTaken) {
    isTaken = 1;
    forksInHeader(f, header, forks_, y_);
    id_ = file[f].self;
    if
    :: header.ret[id_] == REQUESTED -> isTaken = 0; noteForks(f, forks_)
    :: header.ret[id_] != REQUESTED && y_ && header.self != id_ && forks_.at[header.self] != NONE &&
        !(OWN_FORKS_FIRST && forks_.at[id_] != NONE) -> isTaken = 0 /* forkedReplica */
    :: else ->
        if
        :: header.ret[id_] != 0 && forks_.at[id_] == NONE -> forks_.at[id_] = number[header.top[id_]]; y_ = 1
        :: else
        fi;
#if OWN_FORKS_FIRST
        if
        :: header.self != id_ && forks_.at[header.self] != NONE -> forks_.at[header.self] = NONE; isTaken = 0
        :: else
        fi;
#endif
        /* Of what is known once the forks are set back. */
        x_ = 1;
        for (i_ : 0 .. IDS - 1) {
            m_ = number[file[f].top[i_]];
            if
            :: forks_.at[i_] != NONE && forks_.at[i_] < m_ -> m_ = forks_.at[i_]
            :: else
            fi;
            if
            :: m_ < number[base.top[i_]] ->
#ifndef NO_BASE_IS_ASKED_FOR
                isTaken = 0
#endif
            :: else
            fi;
            if
            :: m_ < number[header.top[i_]] -> x_ = 0
            :: else
            fi
        }
        if
        :: isTaken && !x_ && (file[f].ret[header.self] == UNSEEN || file[f].ret[header.self] == REQUESTED) ->
            isTaken = 0; y_ = 0
        :: else
        fi;
        if
        :: y_ -> renew(f, forks_)
        :: else
        fi
    fi;
    for (i_ : 0 .. IDS - 1) { forks_.at[i_] = 0 }
    i_ = 0; id_ = 0; m_ = 0; x_ = 0; y_ = 0
}

/* BundleExporter and BundleApplier: what a source has beyond a base, in one transaction of the receiver. */
inline transfer(f, source, base, isTaken) {
    fold(f);
    greet(source, header);
    admit(f, base, isTaken);
    if
    :: isTaken ->
        for (e_ : 0 .. EDITS - 1) {
            if
            :: file[source].sid[e_] != NONE &&
                file[source].seq[e_] > number[base.top[file[source].sid[e_]]] ->
                merge(f, e_, source)
            :: else
            fi
        }
        for (i_ : 0 .. IDS - 1) {
            if
            :: number[header.top[i_]] > number[file[f].top[i_]] -> file[f].top[i_] = header.top[i_]
            :: else
            fi
        }
        learn(f, header)
    :: else
    fi;
    clear(header);
    e_ = 0; i_ = 0
}

/* Whether two files know the same and hold the same: Comparison, of the digests that both have. */
inline compare(l, r, knowTheSame, holdTheSame) {
    knowTheSame = file[l].waiting == 0 && file[r].waiting == 0 && !file[l].copied && !file[r].copied;
    holdTheSame = 1;
    for (i_ : 0 .. IDS - 1) {
        knowTheSame = knowTheSame && number[file[l].top[i_]] == number[file[r].top[i_]]
    }
    for (e_ : 0 .. EDITS - 1) {
        holdTheSame = holdTheSame && file[l].sid[e_] == file[r].sid[e_] && file[l].age[e_] == file[r].age[e_]
    }
    e_ = 0; i_ = 0
}

/* DivergenceRepair: each sends the other all of the rows in which they differ; no vector moves. */
inline repair(l, r) {
#ifndef NOTHING_IS_REPAIRED
    for (e_ : 0 .. EDITS - 1) {
        if
        :: file[r].sid[e_] != NONE -> merge(l, e_, r)
        :: else
        fi;
        if
        :: file[l].sid[e_] != NONE -> merge(r, e_, l)
        :: else
        fi
    }
    e_ = 0
#else
    skip
#endif
}
