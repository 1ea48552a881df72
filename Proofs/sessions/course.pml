/* The process that runs synchronizations of two files (SessionDriver.run), again and again until they are equal, and
 * the process that does everything else: edits, copies, restorations, retirements. */

#ifndef EARLY
#define EARLY 1 /* synchronizations while the world still moves */
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
#define RETIRED_BY 1 /* the file at which somebody retires another replica */
#endif
#ifndef RETIRED_FILE
#define RETIRED_FILE 0 /* the file whose replica that is */
#endif
#ifdef REMOTE_RENEWS_UNASKED
#define REMOTE_ASKS 0
#else
#define REMOTE_ASKS 1
#endif
#ifndef RENEWALS_MAX
#define RENEWALS_MAX 1
#endif

Greeting g[2 * SESSIONS];
Forks found[SESSIONS];
bit quiet;     /* the last event was */
byte cuts, early;

/* Whether all files are equal, of more than two. */
inline areAllEqual(result) {
    d_step {
        result = 1;
        for (j_ : 1 .. FILES - 1) {
            compare(0, j_, x_, y_);
            result = result && x_ && y_
        }
        j_ = 0; x_ = 0; y_ = 0
    }
}

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
    byte action, renewedLocal, renewedRemote, outdated, late, epoch;
    bit isPushDue, isComparable, isDone, areSame;

again:
    choosePair(l, r);
    if
    :: d_step { !quiet && early < EARLY -> early++ }
    :: quiet ->
        d_step { compare(l, r, isDone, areSame); isDone = isDone && areSame; areSame = 0 };
        if
        :: isDone && PAIRS == 1 -> goto end
        :: isDone && PAIRS > 1 -> areAllEqual(isDone); l = 0; r = 0;
            if
            :: isDone -> goto end
            :: else -> goto again
            fi
        :: else
        fi;
#ifndef ENDLESS
        assert(late < LATE); /* a bounded number of synchronizations makes the files equal */
        late++
#endif
    fi;
    epoch = restorations;

greeting:
    cut();
    d_step { clear(GL); clear(GR); clearForks(found[k]); greet(l, GL); printf("session %d greets: %d to %d\n", k, l, r) };
    cut();
    d_step { greet(r, GR) };
    cut();
#ifdef FINE_STEPS
    d_step { meet(l, GR, found[k]) };
    d_step { meet(r, GL, found[k]) };
    d_step {
#else
    d_step {
        meet(l, GR, found[k]);
        meet(r, GL, found[k]);
#endif
        decide(l, GL, GR, found[k], renewedLocal, renewedRemote, isPushDue, isComparable, action);
        printf("session %d: action %d, push %d\n", k, action, isPushDue)
    };
    cut();
    if
    :: action == RENEW_LOCAL || action == RENEW_REMOTE ->
        d_step {
            if
#ifndef REPLACED_WHILE_OPEN
            :: restorations != epoch -> action = FINISH /* nobody has a file open that is being replaced */
#endif
            :: else ->
                if
                :: action == RENEW_LOCAL -> renewIfShown(l, GL.self, GR, found[k], 1, areSame)
                :: else -> renewIfShown(r, GR.self, GL, found[k], REMOTE_ASKS, areSame)
                fi;
#ifdef BOTH_RENEW
                renewIfShown(r, GR.self, GL, found[k], 0, areSame);
#endif
                printf("session %d renewed: %d\n", k, areSame)
            fi
        };
        if
        :: areSame && action == RENEW_LOCAL -> renewedLocal++
        :: areSame && action == RENEW_REMOTE -> renewedRemote++
        :: !areSame && action != FINISH -> outdated++
        :: action == FINISH -> goto over
        fi;
        areSame = 0;
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
            :: else -> late = (late > 0 -> late - 1 : 0) /* the user of the remote has to do that */
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
#ifdef DAMAGES
    d_step {
        compare(l, r, x_, y_);
        if
        :: isComparable && x_ && !y_ -> repair(l, r)
        :: else
        fi;
        x_ = 0; y_ = 0
    };
    cut();
#endif
    /* SessionDriver.remember: from here on each counts what the other greeted with as known there. */
    d_step {
        if
        :: restorations == epoch ->
            holdings(l, x_);
            assert((GR.held & ~x_) == 0); /* no acknowledged edit is missing here */
            holdings(r, x_);
            assert((GL.held & ~x_) == 0); /* nor there */
#ifdef DAMAGES
            skip
#else
            compare(l, r, x_, y_);
            assert(!isComparable || !x_ || y_) /* who knows the same holds the same */
#endif
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
    isDone = 0; late = 0
}

/* Users, and those who copy files. */
proctype World() {
    byte next, copies, retirements, damages, f;
    bit hasOlder;

    do
    :: next < EDITS ->
        chooseFile(f);
        d_step { printf("edit %d in file %d\n", next, f); edit(f, next); next++; f = 0 }
    :: !hasOlder && COPIES > 0 -> /* somebody keeps a copy of a file */
        chooseSource(f);
        d_step { printf("file %d is kept\n", f); hasOlder = 1; overwrite(OLDER, f); f = 0 }
    :: hasOlder && copies < COPIES -> /* and puts it in the place of that file, or of another one */
        chooseTarget(f);
        d_step { printf("file %d is replaced\n", f); copies++; restorations++; overwrite(f, OLDER);
            if
            :: copies == COPIES -> forgetOlder()
            :: else
            fi
        };
#ifdef PLACES
        if
        :: d_step { file[f].copied = 1 }
        :: true
        fi;
#endif
        f = 0
#ifdef DAMAGES
    :: damages < DAMAGES -> /* a version is lost in one of two files that have it; the vector stays */
        chooseFile(f);
        d_step {
            if
            :: file[0].sid[0] != NONE && file[1].sid[0] != NONE -> file[f].sid[0] = NONE; restorations++
            :: else
            fi;
            damages++; f = 0
        }
#endif
#ifdef RETIREMENTS
    :: retirements < RETIREMENTS ->
        d_step {
            printf("a replica is retired\n");
            fold(RETIRED_BY);
            x_ = file[RETIRED_FILE].self;
            if
            :: x_ != file[RETIRED_BY].self ->
                retire(RETIRED_BY, x_, RETIREMENT_REASON);
#ifdef LIES
                /* What it knows of the replica, somebody had made up. */
                newFold(n_, file[RETIRED_BY].top[x_], number[file[RETIRED_BY].top[x_]] + EDITS + 1);
                unproven[n_] = 1;
                file[RETIRED_BY].top[x_] = n_
#endif
            :: else
            fi;
            retirements++;
            x_ = 0
        }
#endif
#ifdef NEVER_QUIET
    :: true -> break
#else
    :: d_step { printf("quiet\n"); quiet = 1 }; break
#endif
    od;
    next = 0; copies = 0; retirements = 0; damages = 0; hasOlder = 0
}
