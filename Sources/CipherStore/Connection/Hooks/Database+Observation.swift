extension Database {
    /// Installs or removes the hooks as the observers need them.
    func observationsDidChange() {
        // Nothing happens any more, and the handle is not there.
        guard !isClosed else { return }
        broker.update()
        let wasActive = broker.isActive
        broker.isActive = !broker.observations.isEmpty
        watch.followers = broker.isActive ? (broker, authorizer) : nil
        if broker.isActive != wasActive { observeUpdates(broker.isActive) }
        // Prepared statements may delete all rows of a table at once, without
        // events, until they are prepared again.
        if broker.isActive || wasActive { authorizer.install(on: self) }
        updateWatch()
    }

    private func updateWatch() {
        watch.isObserved = broker.isActive
        watch.isRecording = recordedRegion != nil
    }

    // MARK: Statements

    /// A statement starts to run, and somebody watches.
    func willRunWatched(_ statement: Statement) {
        // Statements that change the schema count no rows.
        if watch.keepsCounts, statement.changesRows, statement.schemaEffect == .none {
            forgetChangeCounts()
            watch.keepsCounts = false
        }
        // The one that was run without the tracer may have ended before its last row.
        resumeTracing()
        if recordedRegion != nil {
            // First of all, because it may run statements itself.
            let region = statement.databaseRegion.withoutSchema
            recordedRegion?.formUnion(region)
        }
        if watch.losesTracer { tracer.willRun(statement) }
        guard broker.isActive, statement.isFollowed else { return }
        authorizer.forgetEffects()
        let routes = statement.routes ?? StatementRoutes(StatementEffects())
        statement.routes = routes
        broker.begin(routes)
    }

    /// A statement has come to its end, and somebody watches.
    func didRunWatched(_ statement: Statement) {
        tracer.didRun()
        resumeTracing()
        guard broker.isActive, statement.isFollowed else { return }
        keepEffects(of: statement)
        broker.end(statement.routes)
    }

    /// A statement has failed.
    func didFailWatched(_ statement: Statement) {
        if broker.isActive, statement.isFollowed { keepEffects(of: statement) }
        broker.fail()
    }

    /// Remembers what a statement does, if SQLite has prepared it again when it started.
    ///
    /// A run that changes no row has no event that would take it, and the next run is not prepared again.
    private func keepEffects(of statement: Statement) {
        guard let effects = authorizer.takeEffects() else { return }
        let routes = statement.routes ?? StatementRoutes(StatementEffects())
        routes.effects.formUnion(effects)
        routes.routes = []
        statement.routes = routes
    }

    // MARK: Changes without events

    /// Tells observers that something in a region has changed that they can't
    /// see, such as a change by another connection.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try db.notifyChanges(in: Table("player"))
    /// }
    /// ```
    ///
    /// The observers of these tables and columns are called at
    /// ``TransactionObserver/databaseDidChange()``, and then told about the
    /// transaction as usual. Outside of a transaction they are told about one that is
    /// made for this. The full database is all tables but those of the
    /// schema. Nothing happens where writing is not allowed.
    ///
    /// - throws: A ``DatabaseError``, when a table of the region does not exist for one;
    ///   outside of a transaction, also what an observer throws that refuses it.
    public func notifyChanges(in region: some DatabaseRegionConvertible) throws {
        guard !isReadOnly else { return }
        countCommit()
        guard broker.isActive else { return }
        let kinds = try eventKinds(in: region.databaseRegion(self))
        // A statement that writes is a transaction of its own, and another one can't be committed meanwhile.
        if isInsideTransaction || !isClosed && SQLiteHandle.isWriting(handle) {
            return broker.deliverUnspecifiedChange(ofKinds: kinds)
        }
        // Without a transaction nobody would be told of its end.
        try inTransaction(.deferred) {
            broker.deliverUnspecifiedChange(ofKinds: kinds)
            return .commit
        }
    }

    /// All changes that there can be in a region.
    private func eventKinds(in region: DatabaseRegion) throws -> [DatabaseEventKind] {
        var kinds: [DatabaseEventKind] = []
        for schemaID in try schemaIDs() {
            var tables = try objects(of: schemaID).tables
            // There is no temporary schema before it has a table.
            if !region.isFullDatabase && (schemaID != .temp || !tables.isEmpty) {
                tables.append(schemaID == .temp ? "sqlite_temp_master" : "sqlite_master")
            }
            for table in tables where region.contains(table: table) {
                kinds.append(.insert(tableName: table))
                kinds.append(.delete(tableName: table))
                let columns = try columns(in: table, schemaID)?.map(\.name) ?? []
                kinds.append(
                    .update(
                        tableName: table, columnNames: Set(columns.filter { region.contains($0, of: table) }))
                )
            }
        }
        return kinds
    }

    // MARK: Reads

    /// Adds a region to what the tracked block reads, as if the block had
    /// fetched it.
    ///
    /// Outside of a block whose reads are tracked, nothing happens and the region
    /// is not even made.
    ///
    /// - throws: A ``DatabaseError``, when a table of the region does not exist for one.
    public func registerAccess(to region: @autoclosure () throws -> some DatabaseRegionConvertible) throws {
        guard recordedRegion != nil else { return }
        let accessed = try region().databaseRegion(self)
        recordedRegion?.formUnion(accessed)
    }

    /// Runs a block and tells which region its statements read.
    ///
    /// - throws: What the block throws.
    package func recordingRegion<Value>(
        _ body: () throws -> Value
    ) rethrows -> (value: Value, region: DatabaseRegion) {
        let outer = recordedRegion
        recordedRegion = DatabaseRegion()
        updateWatch()
        var region = DatabaseRegion()
        defer {
            recordedRegion = outer?.union(region)
            updateWatch()
        }
        let value = try body()
        region = recordedRegion ?? DatabaseRegion()
        return (value, region)
    }
}

extension DatabaseRegion {
    /// The region without the tables that the library itself reads to know the schema.
    fileprivate var withoutSchema: DatabaseRegion {
        if isFullDatabase { return self }
        return removing(table: "sqlite_master").removing(table: "sqlite_temp_master")
    }
}
