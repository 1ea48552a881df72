import SyncWire

extension Synchronizer {
    /// Compares this store with a remote, row by row and value by value.
    ///
    /// ```swift
    /// if let divergence = try synchronizer.compare(with: remote, repairing: true) {
    ///     print(divergence.rowCount, "rows differed:", divergence.tables.map(\.name))
    /// }
    /// ```
    ///
    /// Each synchronization compares versions. This compares values too, so it finds changes that a program
    /// made in the file while nothing tracked them. It reads all rows of both sides. Rows that came to this
    /// store without being tracked count as differing; when they are repaired, they count as inserted now,
    /// and the two stores are synchronized first.
    ///
    /// It compares the values of columns that both sides have, in the tables that are exchanged with the
    /// remote (see ``setScope(_:ofRemote:)``), except tables that one side holds only in part. It blocks its
    /// thread.
    ///
    /// - parameters:
    ///     - transport: The way to the remote.
    ///     - repairing: Whether rows that differ are merged, so that both sides become equal. A value that
    ///       loses goes to the conflict journal of the side that had it.
    /// - returns: What differs; nil when nothing does.
    /// - throws: ``SyncError`` of code `notComparable` when the two don't know the same changes (synchronize
    ///   them first), or when the remote's program can't compare; `changedMeanwhile` when somebody writes to
    ///   one of them; else as ``sync(with:)``.
    public func compare(with transport: any Transport, repairing: Bool = false) throws -> Divergence? {
        let untracked = try database.write { db in
            let rows = try UntrackedRows(store: FoldedStore.refresh(db, environment))
            let found = try rows.find()
            if repairing, !found.isEmpty { try rows.adopt() }
            return found
        }
        // The remote has to know what is compared.
        if repairing, !untracked.isEmpty { _ = try run(.both, transport) }
        let remote = try transport.connect(environment)
        defer { remote.close() }
        let local = peer
        let (own, other) = (try local.greet(), try remote.greet())
        guard own.store == other.store else { throw SyncError.otherStoreRemote }
        guard own.replica != other.replica else { throw SyncError.sameReplicaRemote }
        let tables = try database.read { try ScopeStore(db: $0).tableNames(of: transport.name) }
        guard own.covers(other, within: tables), other.covers(own, within: tables) else {
            throw SyncError(
                .notComparable,
                "the two stores don't know the same changes; synchronize them, then compare them")
        }
        let repair = DivergenceRepair(
            local: local, remote: remote, tables: tables, excluded: RowExchange.uncomparable(own, other),
            isDeep: true)
        var divergence: Divergence
        if repairing {
            divergence = try repair.run(.both)
        } else {
            divergence = Divergence(tables: try repair.find().tables)
        }
        divergence.add(untracked)
        guard !divergence.tables.isEmpty || divergence.failure != nil else { return nil }
        environment.log(
            .diverged(
                tableCount: divergence.tables.count, rowCount: divergence.rowCount,
                isRepaired: divergence.isRepaired), ["remote": "\(transport.name)"])
        return divergence
    }
}
