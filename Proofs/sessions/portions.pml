/* A device that pushes to a server which takes only so much at once and does not take some rows (SessionDriver.push,
 * BundlePortion, HeldBackRows), while its user goes on writing and the connection breaks.
 *
 * A row has a whole-row write and one column that was written later. Both have the number of their last log entry. */

#define ROWS 3
#ifndef WRITES
#define WRITES 4
#endif
#ifndef CUTS
#define CUTS 2
#endif
#ifndef CHANGES
#define CHANGES 1 /* PacedPeer.changeCountMax; SyncPeer that is not paced: 0 for all */
#endif
#ifndef REFUSALS
#define REFUSALS 2 /* how often the server finds a bundle too much at once */
#endif
#ifndef LATE
#define LATE 4
#endif
#ifndef EARLY
#define EARLY 2 /* synchronizations before the last write */
#endif
#define LAST 24

#include "device.pml"

/* The server */
byte known;                             /* the device's entry of its vector */
byte hasRow[ROWS], hasCell[ROWS];       /* numbers of the versions that it has */
byte forbidden;                         /* rows that it does not take from the device */

byte writes, cuts, refusals, early;
bit quiet;

/* The server applies a bundle, or says why not. 0: taken, 1: too much at once, 2: rows that are not the device's. */
inline apply(base, end, held, named, result) {
    named = 0; n_ = 0;
    for (r_ : 0 .. ROWS - 1) {
        found_ = (rowNumber[r_] > base && rowNumber[r_] <= end) || (cellNumber[r_] > base && cellNumber[r_] <= end);
#ifdef NUMBERS_STAY
        found_ = found_ && !(held & (1 << r_));
#endif
        if
        :: found_ && (forbidden & (1 << r_)) -> named = named | (1 << r_)
        :: found_ && !(forbidden & (1 << r_)) -> n_++
        :: else
        fi
    }
    if
    :: named != 0 -> result = 2
    :: named == 0 && n_ > 1 && refusals < REFUSALS -> refusals++; result = 1
    :: else ->
        result = 0;
        for (r_ : 0 .. ROWS - 1) {
            if
#ifdef NUMBERS_STAY
            :: held & (1 << r_)
#endif
            :: else ->
                if
                :: rowNumber[r_] > base && rowNumber[r_] <= end -> hasRow[r_] = rowNumber[r_]; hasCell[r_] = 0
                :: else
                fi;
                if
                :: cellNumber[r_] > base && cellNumber[r_] <= end -> hasCell[r_] = cellNumber[r_]
                :: else
                fi
            fi
        }
        known = (end > known -> end : known)
    fi;
    r_ = 0; n_ = 0; found_ = 0
}

/* What the server counts as known, it has: as the device has it by now, or not yet again as it was rewritten. */
inline checkClaims() {
    for (r_ : 0 .. ROWS - 1) {
        assert(rowNumber[r_] == 0 || rowNumber[r_] > known || hasRow[r_] == rowNumber[r_]);
        assert(cellNumber[r_] == 0 || cellNumber[r_] > known || hasCell[r_] == cellNumber[r_])
    }
    assert(known == 0 || point[known]); /* or else the device looks like a copy of its own file */
    r_ = 0
}

proctype Push() {
    byte base, end, whole, held, named, count, reductions, answer, rounds;
    bit dividesRows, isLast, isDone;

again:
    if
    :: isDone -> goto end_
    :: else
    fi;
    isLast = quiet;
    if
    :: !isLast && early == EARLY -> quiet; goto again
    :: !isLast && early < EARLY -> early++
    :: isLast -> assert(rounds < LATE); rounds++ /* some synchronizations after the last write are enough */
    fi;
    d_step { foldLog(); base = known; checkClaims(); isDone = 0; held = 0; count = CHANGES; reductions = 0; dividesRows = 0 };
portion_:
    true;
    d_step {
        foldLog();
        whole = last;
        if
        :: held != 0 -> holdBack(held, base, whole)
        :: else
        fi;
        portion(base, whole, count, dividesRows, end);
        apply(base, end, held, named, answer);
        checkClaims();
        printf("numbers %d to %d of %d: %d, rows %d\n", base, end, whole, answer, named)
    };
    if
    :: cuts < CUTS -> cuts++; goto over /* the answer is lost */
    :: true
    fi;
    if
    :: answer == 0 && end < whole -> d_step { base = known; checkClaims() }; goto portion_
    :: answer == 0 && end == whole -> isDone = isLast; goto over
    :: answer == 1 && reductions < 4 -> d_step { reductions++; dividesRows = 1; count = CHANGES }; goto portion_
    :: answer == 1 && reductions >= 4 -> goto over
    :: answer == 2 && (named & ~held) != 0 -> held = held | named; goto portion_
    :: answer == 2 && (named & ~held) == 0 -> assert(false) /* the same rows are refused again though they were left out */
    fi;
over:
    true;
    d_step { base = 0; end = 0; whole = 0; held = 0; named = 0; count = 0; reductions = 0; answer = 0; dividesRows = 0 };
    goto again;
end_:
    for (r_ : 0 .. ROWS - 1) {
        /* In the end the server has all that it takes. */
        assert((forbidden & (1 << r_)) || (hasRow[r_] == rowNumber[r_] && hasCell[r_] == cellNumber[r_]))
    }
}

proctype World() {
    byte r;

    do
    :: writes < WRITES ->
        if
        :: r = 0
        :: r = 1
        :: r = 2
        fi;
        d_step {
            writes++;
            if
            :: rowNumber[r] == 0 && !(waitingRow & (1 << r)) -> waitingRow = waitingRow | (1 << r)
            :: else -> waitingCell = waitingCell | (1 << r)
            fi;
            r = 0
        }
    :: forbidden != 0 -> d_step { forbidden = 0 } /* the server takes it from now on */
    :: true -> quiet = 1; break
    od
}

init {
    atomic {
        if
        :: forbidden = 0
        :: forbidden = 1
        :: forbidden = 3
        fi;
        run World();
        run Push()
    }
}
