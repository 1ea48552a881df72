extension Database {
    /// Fetches what an observation is for.
    ///
    /// - parameters:
    ///     - observation: The observation.
    ///     - needsRegion: Whether to find out which region counts.
    /// - returns: What was fetched, and the region if it was asked for.
    func fetch<Reducer: ValueReducer>(
        _ observation: ValueObservation<Reducer>, needsRegion: Bool
    ) throws -> (fetched: Reducer.Fetched, region: DatabaseRegion?) {
        observation.events.willFetch.callAll()
        return try isolated(writes: observation.requiresWriteAccess && !isReadOnly) {
            guard needsRegion else { return (try observation.reducer.fetch(self), nil) }
            if case .regions(let regions) = observation.tracking {
                let region = try regions.reduce(DatabaseRegion()) { try $0.union($1.databaseRegion(self)) }
                return (try observation.reducer.fetch(self), try observable(region))
            }
            let recorded = try recordingRegion { try observation.reducer.fetch(self) }
            return (recorded.value, try observable(recorded.region))
        }
    }

    /// Fetches what an observation is for, and once more when an interruption stops that: it was meant for an
    /// access that the fetch is a part of, or for all that ran then, and the observation goes on.
    ///
    /// - parameters:
    ///     - observation: The observation.
    ///     - needsRegion: Whether to find out which region counts.
    ///     - isRunning: Whether somebody still wants to know.
    func fetchThroughInterruptions<Reducer: ValueReducer>(
        _ observation: ValueObservation<Reducer>, needsRegion: Bool, while isRunning: () -> Bool
    ) throws -> (fetched: Reducer.Fetched, region: DatabaseRegion?) {
        for _ in 0..<3 {
            do {
                return try fetch(observation, needsRegion: needsRegion)
            } catch let error as DatabaseError where error.isInterruptionError && isRunning() {
                // It is in effect as long as a statement is active, one of the access included.
                resetStatements()
            }
        }
        return try fetch(observation, needsRegion: needsRegion)
    }

    /// Runs a block that sees one state of the database.
    private func isolated<Value>(writes: Bool, _ body: () throws -> Value) throws -> Value {
        if writes {
            var value: Value?
            try inSavepoint {
                value = try body()
                return .commit
            }
            guard let value else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
            return value
        }
        guard isInsideTransaction else { return try readSnapshot { _ in try body() } }
        // The transaction of a snapshot, or one that was left open.
        return try readOnly {
            let value = try body()
            try protected { try verifyReads() }
            return value
        }
    }

    /// Runs a block after a transaction that was part of somebody else's
    /// access: the cancellation of that access does not stop it, nor does it
    /// end the access. Interruptions and suspensions concern it as all others.
    func apartFromAccess(_ body: () -> Void) {
        let outer = (access: currentAccess, protection: protection)
        currentAccess = nil
        protection = .cancellation
        defer {
            currentAccess = outer.access
            protection = outer.protection
        }
        interruption.withoutCancellation(body)
    }
}
