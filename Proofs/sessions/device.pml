/* What a device sends of its own changes (ReplicaChain, BundlePortion, HeldBackRows): a part of portions.pml. */

/* The device */
byte rowNumber[ROWS], cellNumber[ROWS]; /* _sync_row.oseq, _sync_cell.oseq; 0 for none */
byte waitingRow, waitingCell;           /* log entries that are not folded: bits of rows */
byte last;                              /* the last number of the log */
bit point[LAST];                        /* its chain: numbers that are points */

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
