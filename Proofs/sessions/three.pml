/* Three files, of which two synchronize at a time. A copy of one is put in the place of one of them, so that replicas can
 * meet that know different forks of a third one. */

#define FILES 3
#define SESSIONS 1
#ifndef LATE
#define LATE 8
#endif
#include "store.pml"
#include "forks.pml"
#include "session.pml"

#define PAIRS 3
inline choosePair(l, r) {
    if
    :: d_step { l = 0; r = 2 }
    :: d_step { l = 1; r = 2 }
    :: d_step { l = 1; r = 0 }
#ifdef RETIREMENTS
    /* The user of each file can be told that its replica was retired. */
    :: d_step { l = 2; r = 0 }
    :: d_step { l = 2; r = 1 }
    :: d_step { l = 0; r = 1 }
#endif
    fi
}
inline chooseFile(f) {
    if
    :: f = 0
    :: f = 1
    :: f = 2
    fi
}
inline chooseSource(f) {
    if
    :: f = 0
    :: f = 2
    fi
}
inline chooseTarget(f) {
    if
    :: f = 0
    :: f = 1
    :: f = 2
    fi
}
#include "course.pml"

init {
    atomic {
        d_step { beginStores() };
        run World();
        run Session(0, 0, 1)
    }
}
