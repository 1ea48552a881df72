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

/* The device */
byte rowNumber[ROWS], cellNumber[ROWS]; /* _sync_row.oseq, _sync_cell.oseq; 0 for none */
byte waitingRow, waitingCell;           /* log entries that are not folded: bits of rows */
byte last;                              /* the last number of the log */
bit point[LAST];                        /* its chain: numbers that are points */

/* The server */
byte known;                             /* the device's entry of its vector */
byte hasRow[ROWS], hasCell[ROWS];       /* numbers of the versions that it has */
byte forbidden;                         /* rows that it does not take from the device */

byte writes, cuts, refusals, early;
bit quiet;
hidden byte r_, k_, n_, m_, first_, found_;

/* One point for all that waits, and some on the way (ReplicaChain.append): any number may be one. */
inline foldLog() {
    n_ = last;
    for (r_ : 0 .. ROWS - 1) {
        if
        :: waitingRow & (1 << r_) -> last++; rowNumber[r_] = last; cellNumber[r_] = 0
        :: else
        fi;
        if
        :: waitingCell & (1 << r_) -> last++; cellNumber[r_] = last
        :: else
        fi
    }
    assert(last < LAST - 1);
    if
    :: last > n_ -> point[last] = 1
    :: else
    fi;
    waitingRow = 0; waitingCell = 0; r_ = 0; n_ = 0
}

/* PortionSearch.point(from:): the first point from a number on, below the last one; 0 for none. */
inline pointFrom(number, whole, result) {
    result = 0;
    for (k_ : 1 .. LAST - 1) {
        if
        :: result == 0 && k_ >= number && k_ < whole && point[k_] -> result = k_
        :: else
        fi
    }
    k_ = 0
}

/* BundlePortion.last: where the bundle ends; `whole` when it takes everything there is. */
inline portion(base, whole, count, dividesRows, result) {
    result = whole;
    if
    :: count > 0 && whole > base + count ->
        /* The number of the change after `count` others, or 0. */
        m_ = 0; first_ = 0;
        for (n_ : 1 .. LAST - 1) {
            for (r_ : 0 .. ROWS - 1) {
                if
                :: n_ > base && (rowNumber[r_] == n_ || cellNumber[r_] == n_) ->
                    m_++;
                    if
                    :: m_ == count + 1 && first_ == 0 -> first_ = n_
                    :: else
                    fi
                :: else
                fi
            }
        }
        m_ = 0;
        if
        :: first_ != 0 -> /* the last point before it, or else the first one from it on */
            for (n_ : 1 .. LAST - 1) {
                if
                :: point[n_] && n_ > base && n_ < first_ && n_ < whole -> m_ = n_
                :: else
                fi
            }
#ifdef ANY_END
            if
            :: m_ == 0 && first_ < whole -> m_ = first_
            :: else
            fi;
#endif
            if
            :: m_ == 0 -> pointFrom(first_, whole, m_) /* which is beyond the base */
            :: else
            fi;
            /* It never takes a row apart. */
            do
            :: m_ == 0 -> break
            :: m_ != 0 ->
                first_ = 0;
                if
                :: !dividesRows ->
                    for (r_ : 0 .. ROWS - 1) {
                        if
                        :: rowNumber[r_] > base && rowNumber[r_] <= m_ && cellNumber[r_] > m_ && cellNumber[r_] > first_ ->
                            first_ = cellNumber[r_]
                        :: else
                        fi
                    }
                :: else
                fi;
                if
                :: first_ == 0 -> break
                :: else -> pointFrom(first_, whole, n_); m_ = n_
                fi
            od
        :: else
        fi;
        result = (m_ == 0 -> whole : m_)
    :: else
    fi;
    r_ = 0; n_ = 0; m_ = 0; first_ = 0
}

/* HeldBackRows.move: rows that are held back get the last numbers. The last number of the others is the result. */
inline holdBack(held, base, result) {
    first_ = 0; found_ = 0;
    for (r_ : 0 .. ROWS - 1) {
        if
        :: (held & (1 << r_)) && rowNumber[r_] > base && (first_ == 0 || rowNumber[r_] < first_) -> first_ = rowNumber[r_]
        :: else
        fi;
        if
        :: (held & (1 << r_)) && cellNumber[r_] > base && (first_ == 0 || cellNumber[r_] < first_) -> first_ = cellNumber[r_]
        :: else
        fi
    }
    for (r_ : 0 .. ROWS - 1) {
        if
        :: !(held & (1 << r_)) && (rowNumber[r_] >= first_ || cellNumber[r_] >= first_) -> found_ = 1
        :: else
        fi
    }
#ifdef NO_POINT_IS_ASKED_FOR
#define IS_POINT(number) 1
#else
#define IS_POINT(number) point[number]
#endif
    if
    :: first_ == 0 -> result = last
#ifdef NUMBERS_STAY
    :: first_ != 0 -> result = last
#else
    :: first_ != 0 && !found_ && IS_POINT(first_ - 1) -> result = first_ - 1
    :: first_ != 0 && (found_ || !IS_POINT(first_ - 1)) ->
        result = last;
        last++; /* a mark in the log, folded at once: a point */
        for (r_ : 0 .. ROWS - 1) {
            if
            :: (held & (1 << r_)) && rowNumber[r_] > base -> rowNumber[r_] = last
            :: else
            fi;
            if
            :: (held & (1 << r_)) && cellNumber[r_] > base -> cellNumber[r_] = last
            :: else
            fi
        }
        assert(last < LAST - 1);
        point[last] = 1
#endif
    fi;
    r_ = 0; first_ = 0; found_ = 0
}

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
