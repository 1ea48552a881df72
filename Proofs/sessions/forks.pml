/* What replicas say of themselves, the forks that it shows, and who gives way. */

typedef Greeting {
    byte self;
    byte own;      /* Greeting.ownSequence: the last own number before what was folded for this greeting */
    byte top[IDS]; /* vector and chains */
    byte ret[IDS];
    byte held;     /* a note of the model: the edits that the replica had */
}

/* StorePeer.greet: one transaction. */
inline greet(f, g) {
    if
    :: file[f].copied -> file[f].copied = 0; newID(f)
    :: else
    fi;
    g.own = number[file[f].top[file[f].self]];
    fold(f);
    g.self = file[f].self;
    for (i_ : 0 .. IDS - 1) {
        g.top[i_] = file[f].top[i_];
        g.ret[i_] = file[f].ret[i_]
    }
    holdings(f, g.held);
    i_ = 0
}

/* ForkSearch.forks(in: Greeting): raises `forks` to the last common numbers of what file f sees in a greeting. */
inline forksInGreeting(f, g, forks, hasFound) {
    hasFound = 0;
#ifndef NO_FORK_IS_SEEN
    for (i_ : 0 .. IDS - 1) {
        x_ = (i_ == g.self && number[file[f].top[i_]] > g.own); /* isRestored */
        if
        :: g.top[i_] != 0 && (number[g.top[i_]] <= number[file[f].top[i_]] || x_) ->
            if
            :: number[g.top[i_]] <= number[file[f].top[i_]] ->
                m_ = PROVEN(file[f].top[i_]);
                if
                :: number[m_] >= number[g.top[i_]] -> /* ReplicaChain.find and passes; or else unknown */
                    pointUpTo(m_, number[g.top[i_]], n_);
                    x_ = x_ || number[n_] != number[g.top[i_]] || (g.top[i_] == PROVEN(g.top[i_]) && n_ != g.top[i_])
                :: else
                fi
            :: else
            fi;
            if
            :: x_ ->
                hasFound = 1;
                lastCommon(file[f].top[i_], g.top[i_], n_);
                if
                :: forks.at[i_] == NONE || forks.at[i_] < number[n_] -> forks.at[i_] = number[n_]
                :: else
                fi
            :: else
            fi
        :: else
        fi
    }
#endif
    i_ = 0; x_ = 0
}

/* ForkSearch.forks(in: BundleHeader): each side that differs counts, whichever knows more. */
inline forksInHeader(f, h, forks, hasFound) {
    hasFound = 0;
    for (i_ : 0 .. IDS - 1) {
        forks.at[i_] = NONE;
#ifndef NO_FORK_IS_SEEN
        if
        :: h.top[i_] != 0 && (file[f].top[i_] != 0 || i_ == file[f].self) ->
            x_ = i_ == file[f].self && number[h.top[i_]] > number[file[f].top[i_]];
            if
            :: number[h.top[i_]] <= number[file[f].top[i_]] ->
                m_ = PROVEN(file[f].top[i_]);
                if
                :: h.top[i_] == PROVEN(h.top[i_]) && number[m_] >= number[h.top[i_]] ->
                    pointUpTo(m_, number[h.top[i_]], n_);
                    x_ = n_ != h.top[i_]
                :: else
                fi
            :: else ->
                m_ = PROVEN(h.top[i_]);
                if
                :: number[m_] >= number[file[f].top[i_]] -> /* the neighbours of what is known */
                    pointUpTo(m_, number[file[f].top[i_]], n_);
                    x_ = x_ || number[n_] != number[file[f].top[i_]] ||
                        (file[f].top[i_] == PROVEN(file[f].top[i_]) && n_ != file[f].top[i_])
                :: else
                fi
            fi;
            if
            :: x_ ->
                lastCommon(file[f].top[i_], h.top[i_], n_);
                hasFound = 1;
                forks.at[i_] = number[n_]
            :: else
            fi
        :: else
        fi
#endif
    }
    i_ = 0; m_ = 0; x_ = 0
}

/* ReplicaRegister.learn, of retirements. */
inline learn(f, g) {
    for (i_ : 0 .. IDS - 1) {
        if
        :: i_ != file[f].self && g.ret[i_] != 0 -> retire(f, i_, g.ret[i_])
        :: else
        fi
    }
    i_ = 0
}

/* StorePeer.meet: one transaction. */
inline meet(f, g, forks) {
    forksInGreeting(f, g, forks, y_);
    if
    :: !y_ -> learn(f, g)
    :: else
    fi;
    y_ = 0
}

/* ForkOrder.init: what the search can't see. */
inline completeForks(gl, gr, forks) {
#ifndef NO_FORK_IS_SEEN
    if
    :: number[gr.top[gl.self]] > gl.own && forks.at[gl.self] == NONE -> forks.at[gl.self] = 0
    :: else
    fi;
    if
    :: number[gl.top[gr.self]] > gr.own && forks.at[gr.self] == NONE -> forks.at[gr.self] = 0
    :: else
    fi;
    if
    :: gl.self == gr.self && forks.at[gl.self] == NONE ->
        forks.at[gl.self] = (gl.top[gl.self] == 0 -> 0 : (gl.own < gr.own -> gl.own : gr.own))
    :: else
    fi
#else
    skip
#endif
}

/* Which of two files of one identity knows less of the first replica of which they do not know the same. */
inline firstDifference(gl, gr, result) {
    result = 0;
    for (j_ : 0 .. IDS - 1) {
        if
        :: gl.top[j_] != gr.top[j_] ->
            result = (number[gl.top[j_]] == number[gr.top[j_]]
                -> gl.top[j_] < gr.top[j_] : number[gl.top[j_]] < number[gr.top[j_]]);
            break
        :: else
        fi
    }
    j_ = 0
}

/* ForkOrder.yielding: whether the local side gives way in the fork of a replica. */
inline localYields(gl, gr, id, result) {
    if
    :: gl.self != gr.self && id == gl.self -> result = 1
    :: gl.self != gr.self && id == gr.self -> result = 0
    :: else ->
        if
        :: number[gl.top[id]] != number[gr.top[id]] -> result = number[gl.top[id]] < number[gr.top[id]]
#ifndef TIES_BY_ROLE
        :: gl.top[id] == gr.top[id] -> firstDifference(gl, gr, result) /* the same from both sides */
#endif
        :: else -> result = gl.top[id] < gr.top[id] /* the hash; a tie, or no hash, names the remote */
        fi
    fi
}

/* ForkOrder.forks(of:): keeps the forks in which one side gives way. */
inline forksOf(isLocal, gl, gr, forks, kept, hasAny) {
    hasAny = 0;
    for (i_ : 0 .. IDS - 1) {
        kept.at[i_] = NONE;
        if
        :: forks.at[i_] != NONE ->
            localYields(gl, gr, i_, x_);
            if
            :: x_ == isLocal -> kept.at[i_] = forks.at[i_]; hasAny = 1
            :: else
            fi
        :: else
        fi
    }
    i_ = 0; x_ = 0
}

/* Whether the vector of one covers that of another. */
inline covers(one, other, result) {
    result = 1;
    for (i_ : 0 .. IDS - 1) {
        if
        :: number[one.top[i_]] < number[other.top[i_]] -> result = 0
        :: else
        fi
    }
    i_ = 0
}
