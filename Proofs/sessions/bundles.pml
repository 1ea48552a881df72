/* Two files that exchange bundles only, so that neither can ask the other (BundleApplier, BundleAdmission). A bundle may
 * wait while both go on. A copy of one file is put in the place of one of them, and a third file, which wrote
 * nothing, passes on what it has. */

#ifndef FILES
#define FILES 3
#endif
#ifndef COPIES
#define COPIES 1
#endif
#ifdef THIRD_IS_GONE
#define LAST 1 /* in the end, two files are left */
#else
#define LAST (FILES - 1)
#endif
#ifndef EARLY
#define EARLY 2
#endif
#ifndef LATE
#define LATE 4 /* rounds in which each gets a bundle of each, within which all must be equal */
#endif
#ifndef RENEWALS_MAX
#define RENEWALS_MAX 4
#endif
#define SLOTS (FILES + 2) /* with the copy, and the bundle that waits */
#define WAITING (FILES + 1)
#include "store.pml"
#include "forks.pml"
#include "session.pml"

Greeting base; /* what the maker of a bundle was told that the receiver knows */
Greeting waitingBase;
byte waitingFor = NONE;
bit isTaken;

/* syncctl bundle: all beyond what the receiver knows; the receiver's vector is up to date here. */
inline exchange(sender, receiver) {
    d_step {
        greet(receiver, base);
        transfer(receiver, sender, base, isTaken);
        printf("bundle from %d to %d: %d\n", sender, receiver, isTaken);
        clear(base);
        assert(renewals <= RENEWALS_MAX);
        isTaken = 0
    }
}

inline chooseFile(f) {
    if
    :: f = 0
    :: f = 1
    fi
}

inline choosePair(source, target) {
    if
    :: d_step { source = 0; target = 1 }
    :: d_step { source = 1; target = 0 }
    :: FILES == 3 -> d_step { source = 0; target = 2 }
    :: FILES == 3 -> d_step { source = 1; target = 2 }
    :: FILES == 3 -> d_step { source = 2; target = 0 }
    :: FILES == 3 -> d_step { source = 2; target = 1 }
    fi
}

/* Whether all files are equal. */
inline areEqual(result) {
    result = 1;
    for (j_ : 1 .. LAST) {
        compare(0, j_, x_, y_);
        result = result && x_ && y_
    }
    j_ = 0; x_ = 0; y_ = 0
}

active proctype Everybody() {
    byte next, copies, early, late, from, to;
    bit hasOlder, isDone;

    d_step { beginStores() };
    do
    :: next < EDITS ->
        chooseFile(from);
        d_step { printf("edit %d in file %d\n", next, from); edit(from, next); next++; from = 0 }
    :: !hasOlder && copies < COPIES ->
        chooseFile(from);
        d_step { printf("file %d is kept\n", from); hasOlder = 1; overwrite(OLDER, from); from = 0 }
    :: hasOlder ->
        chooseFile(from);
        d_step {
            printf("file %d is replaced\n", from);
            overwrite(from, OLDER);
            forgetOlder();
            hasOlder = 0; copies++; from = 0
        }
    :: early < EARLY ->
        choosePair(from, to);
        exchange(from, to);
        early++; from = 0; to = 0
#ifdef LATE_BUNDLE
    :: waitingFor == NONE ->
        choosePair(from, to);
        d_step {
            fold(from);
            greet(to, waitingBase);
            overwrite(WAITING, from);
            waitingFor = to;
            printf("bundle from %d to %d waits\n", from, to);
            from = 0; to = 0
        }
#endif
    :: true -> break
    od;
#ifdef LATE_BUNDLE
    if
    :: waitingFor < FILES ->
        d_step {
            transfer(waitingFor, WAITING, waitingBase, isTaken);
            printf("bundle for %d comes: %d\n", waitingFor, isTaken);
            waitingFor = NONE;
            clear(waitingBase);
            overwrite(WAITING, OLDER);
            assert(renewals <= RENEWALS_MAX);
            isTaken = 0
        }
    :: else
    fi;
#endif
    hasOlder = 0; copies = 0; early = 0; next = 0;
    d_step { forgetOlder(); areEqual(isDone) };
    do
    :: isDone -> break
    :: else ->
        assert(late < LATE); /* a bounded number of rounds makes the files equal */
        exchange(0, 1);
        exchange(1, 0);
        if
        :: LAST == 2 ->
            exchange(1, 2); exchange(2, 1);
            exchange(0, 2); exchange(2, 0)
        :: else
        fi;
        late++;
        d_step { areEqual(isDone) }
    od
}
