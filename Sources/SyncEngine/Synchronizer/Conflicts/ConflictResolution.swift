import CipherStore

/// What to do about a conflict.
public enum ConflictChoice: Sendable {
    /// Keep what is there: the conflict is closed, nothing else changes.
    case keepCurrent
    /// Write the lost value again, as an ordinary edit of now. A row that was
    /// deleted is inserted again as a whole: where some of its values are not known
    /// here, that is refused.
    case restoreLost
    /// The same, and of a row of which some values are not known here, what is known:
    /// the other columns get their defaults, which all replicas get.
    case restoreKnown
}

/// What ``Synchronizer/resolve(_:by:)-(ConflictFilter,_)`` did.
public struct ConflictResolution: Equatable, Sendable {
    /// The conflicts that are closed now: those that were meant, and the others of a
    /// row that was inserted again.
    public internal(set) var resolvedCount = 0
    /// The values that were written.
    public internal(set) var restoredValueCount = 0
    /// The rows that were inserted again.
    public internal(set) var restoredRowCount = 0
    /// The conflicts that were meant and are open still: a newer lost value of the
    /// same column was restored in their place, or their column is not here.
    public internal(set) var remainingCount = 0
}

extension Synchronizer {
    /// Deals with conflicts: with all of them, or with none.
    ///
    /// - parameter ids: The numbers of open conflicts.
    /// - parameter choice: What to do.
    /// - throws: ``SyncError``: of code `noSuchConflict`, `conflictResolved`,
    ///   `incompleteRow` when some values of a deleted row are not known here,
    ///   `parkedRow` when the row waits until it can be written, or
    ///   `unrestorable` when a constraint stands against a value or it has no place;
    ///   `DatabaseError`. Nothing was changed then.
    @discardableResult
    public func resolve(_ ids: [Int64], by choice: ConflictChoice) throws -> ConflictResolution {
        try upgradeIfNeeded()
        return try database.write { db in
            let found = try Conflict.request(ConflictFilter(state: nil, ids: ids)).fetchAll(db)
            for id in ids {
                guard let conflict = found.first(where: { $0.id == id }) else {
                    throw SyncError(.noSuchConflict, "there is no conflict \(id)")
                }
                guard conflict.isOpen else {
                    throw SyncError(.conflictResolved, "conflict \(id) was resolved before")
                }
            }
            return try ConflictResolver(db: db, now: environment.milliseconds()).run(found, choice)
        }
    }

    /// Deals with all open conflicts of a table, a row, or whatever a filter says:
    /// with all of them, or with none.
    ///
    /// ```swift
    /// try synchronizer.resolve(ConflictFilter(table: "note"), by: .keepCurrent)
    /// ```
    ///
    /// - throws: As ``resolve(_:by:)-([Int64],_)``.
    @discardableResult
    public func resolve(_ filter: ConflictFilter, by choice: ConflictChoice) throws -> ConflictResolution {
        try upgradeIfNeeded()
        return try database.write { try resolve(filter, by: choice, in: $0) }
    }

    /// Deals with conflicts in the transaction that is open, as one step with other
    /// writes, such as that of a value that was made of both.
    ///
    /// - throws: As ``resolve(_:by:)-([Int64],_)``.
    @discardableResult
    public func resolve(
        _ filter: ConflictFilter, by choice: ConflictChoice, in db: Database
    ) throws -> ConflictResolution {
        var filter = filter
        filter.state = .open
        var result = ConflictResolution()
        try db.inSavepoint {
            let found = try Conflict.request(filter).fetchAll(db)
            result = try ConflictResolver(db: db, now: environment.milliseconds()).run(found, choice)
            return .commit
        }
        return result
    }
}
