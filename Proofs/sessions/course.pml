/* The process that runs synchronizations of two files (SessionDriver.run), again and again until they are equal, and
 * the process that does everything else: edits, copies, restorations, retirements. */

#ifndef EARLY
#define EARLY 1 /* synchronizations of each process while the world still moves */
#endif
#ifndef LATE
#define LATE 3 /* synchronizations of each process after the last event, within which all must be equal */
#endif
#ifndef CUTS
#define CUTS 0
#endif
#ifndef COPIES
#define COPIES 1
#endif
#ifndef RETIRED_BY
#define RETIRED_BY 0 /* the file at which somebody retires another replica */
#endif
#ifndef RENEWALS_MAX
#define RENEWALS_MAX 1
#endif

Greeting g[2 * SESSIONS];
Forks found[SESSIONS];
bit quiet;     /* the last event was */
byte cuts;

#define GL g[2 * k]
#define GR g[2 * k + 1]

/* The connection breaks here, or the program ends; what is committed stays. */
inline cut() {
    if
    :: cuts < CUTS -> d_step { printf("cut\n"); cuts++ }; goto over
    :: true
    fi
}

proctype Session(byte k, l, r) {
    byte action, renewedLocal, renewedRemote, outdated, early, late, epoch;
    bit isPushDue, isComparable, isDone, areSame;

again:
    if
    :: !quiet && early < EARLY -> early++
    :: quiet ->
        d_step { compare(l, r, isDone, areSame); isDone = isDone && areSame; areSame = 0 };
        if
        :: isDone -> goto end
        :: else
        fi;
        assert(late < LATE); /* a bounded number of synchronizations makes the files equal */
        late++
    fi;
    epoch = restorations;

greeting:
    cut();
    d_step { clear(GL); clear(GR); clearForks(found[k]); greet(l, GL); printf("session %d greets\n", k) };
    cut();
    d_step { greet(r, GR) };
    cut();
    d_step { meet(l, GR, found[k]) };
    cut();
    d_step { meet(r, GL, found[k]) };
    d_step { decide(l, GL, GR, found[k], renewedLocal, renewedRemote, isPushDue, isComparable, action); printf("session %d: action %d, push %d\n", k, action, isPushDue) };
    cut();
    if
    :: action == RENEW_LOCAL || action == RENEW_REMOTE ->
        if
        :: action == RENEW_LOCAL -> d_step { renewIfShown(l, GL.self, GR, found[k], areSame) }
        :: else -> d_step { renewIfShown(r, GR.self, GL, found[k], areSame) }
        fi;
        if
        :: areSame && action == RENEW_LOCAL -> renewedLocal++
        :: areSame && action == RENEW_REMOTE -> renewedRemote++
        :: else -> outdated++
        fi;
        d_step { printf("session %d renewed: %d\n", k, areSame); areSame = 0 };
        assert(renewals <= RENEWALS_MAX); /* finitely many copies cause finitely many renewals */
        if
        :: outdated > OUTDATED_MAX -> goto over /* refused: changedMeanwhile */
        :: else -> goto greeting
        fi
    :: action == RETIRED ->
#ifdef RETIREMENTS
        /* Synchronizer.renewIdentity, which the user of the local file asks for */
        d_step {
            if
            :: GR.ret[GL.self] == REQUESTED && file[l].self == GL.self ->
                fold(l);
                clearForks(forks_);
                if
                :: file[l].noted == file[l].self ->
                    for (i_ : 0 .. IDS - 1) { forks_.at[i_] = file[l].common[i_] }
                :: else
                fi;
                for (i_ : 0 .. IDS - 1) { file[l].common[i_] = NONE }
                file[l].noted = NONE;
                n_ = file[l].self;
                j_ = n_;
                renew(l, forks_);
                retire(l, j_, RENEWED);
                for (i_ : 0 .. IDS - 1) { forks_.at[i_] = 0 }
                i_ = 0; j_ = 0
            :: else
            fi
        };
#endif
        goto over
    :: action == SAME_REPLICA || action == KNOWN_ALREADY -> goto over
    :: else
    fi;
    if
    :: action == PULL ->
        d_step { transfer(l, r, GL, areSame); printf("session %d pulled: %d\n", k, areSame) };
        assert(renewals <= RENEWALS_MAX);
        if
        :: !areSame -> goto over
        :: else -> areSame = 0
        fi;
        cut()
    :: else
    fi;
    if
    :: isPushDue ->
        d_step { transfer(r, l, GR, areSame); printf("session %d pushed: %d\n", k, areSame) };
        assert(renewals <= RENEWALS_MAX);
        if
        :: !areSame -> goto over
        :: else -> areSame = 0
        fi;
        cut()
    :: else
    fi;
    /* SessionDriver.remember: from here on each counts what the other greeted with as known there. */
    d_step {
        if
        :: restorations == epoch ->
            holdings(l, x_);
            assert((GR.held & ~x_) == 0); /* no acknowledged edit is missing here */
            holdings(r, x_);
            assert((GL.held & ~x_) == 0); /* nor there */
            compare(l, r, x_, y_);
            assert(!isComparable || !x_ || y_) /* who knows the same holds the same */
        :: else
        fi;
        x_ = 0; y_ = 0
    };

over:
    true;
    d_step {
        clear(GL); clear(GR);
        for (i_ : 0 .. IDS - 1) { found[k].at[i_] = 0 }
        i_ = 0;
        action = 0; renewedLocal = 0; renewedRemote = 0; outdated = 0; epoch = 0;
        isPushDue = 0; isComparable = 0; areSame = 0
    };
    goto again;
end:
    isDone = 0; early = 0; late = 0
}

/* Users, and those who copy files. */
proctype World() {
    byte next, copies, retirements, f;
    bit hasOlder;

    do
    :: next < EDITS ->
        if
        :: f = 0
        :: f = 1
        fi;
        d_step { printf("edit %d in file %d\n", next, f); edit(f, next); next++; f = 0 }
    :: !hasOlder && COPIES > 0 -> /* somebody keeps a copy of a file */
        if
        :: f = 0
        :: f = 1
        fi;
        d_step { printf("file %d is kept\n", f); hasOlder = 1; overwrite(OLDER, f); f = 0 }
    :: hasOlder && copies < COPIES -> /* and puts it in the place of that file, or of another one */
        if
        :: f = 0
        :: f = 1
        fi;
        d_step { printf("file %d is replaced\n", f); copies++; restorations++; overwrite(f, OLDER) };
#ifdef PLACES
        if
        :: d_step { file[f].copied = 1 }
        :: true
        fi;
#endif
        f = 0
#ifdef RETIREMENTS
    :: retirements < RETIREMENTS ->
        d_step {
            printf("a replica is retired\n");
            fold(RETIRED_BY);
            x_ = file[1 - RETIRED_BY].self;
            if
            :: x_ != file[RETIRED_BY].self -> retire(RETIRED_BY, x_, RETIREMENT_REASON)
            :: else
            fi;
            retirements++;
            x_ = 0
        }
#endif
    :: d_step { printf("quiet\n"); quiet = 1 }; break
    od;
    next = 0; copies = 0; retirements = 0; hasOlder = 0
}
