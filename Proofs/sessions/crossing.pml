/* Two files that synchronize crosswise, each as the local side of its own session, while both are edited, and a copy of
 * one is put in the place of one of them. Nothing but the chains shows the copy. */

#define FILES 2
#ifndef SESSIONS
#define SESSIONS 2
#endif
#include "store.pml"
#include "forks.pml"
#include "session.pml"

#define PAIRS 1
inline choosePair(l, r) { true }
inline chooseFile(f) {
    if
    :: f = 0
    :: f = 1
    fi
}
inline chooseSource(f) {
    if
    :: f = 0
    :: SESSIONS == 1 -> f = 1 /* of two equal files, it is file 0 */
    fi
}
#define chooseTarget chooseFile
#include "course.pml"

init {
    atomic {
        d_step { beginStores() };
        run World();
        run Session(0, 0, 1);
        if
        :: SESSIONS == 2 -> run Session(1, 1, 0)
        :: else
        fi
    }
}
