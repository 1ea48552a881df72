extension PostgresConnection {
    /// How the server plans: once for each statement, and by indexes.
    ///
    /// Left to itself, it plans the longest statements anew each time, since it can't know how many rows `unnest` gives: a
    /// third of its time. A plan that stays must not depend on what the server knew of the tables when it made it, which
    /// may have been a minute before a device brings its history: a table that was small then would be read as a
    /// whole. Each statement that can find its rows by an index does. One that can't costs so much by the server's reckoning that
    /// it would be compiled for each run. Servers that are not PostgreSQL may not know these.
    static let planSettings = [
        "plan_cache_mode = force_generic_plan", "enable_seqscan = off", "enable_bitmapscan = off",
        "enable_hashjoin = off", "enable_mergejoin = off", "enable_sort = off", "jit = off",
    ]
}
