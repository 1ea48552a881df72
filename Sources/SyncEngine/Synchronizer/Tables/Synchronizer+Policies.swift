import CipherStore
import SyncWire

extension Synchronizer {
    /// Declares policies of columns, in place of those that they have.
    ///
    /// A new counter starts from the values that the rows have. If two replicas declare different policies
    /// for a column, a counter wins over all others, and otherwise the latest declaration wins.
    ///
    /// - throws: ``SyncError`` when the table is not tracked, has no such column, or when
    ///   the column is a counter already and would become something else; no policy is
    ///   changed then. `DatabaseError`.
    public func setPolicies(_ policies: [ColumnPolicy]) throws {
        try database.write { try setPolicies(policies, in: $0) }
    }

    /// Declares policies in the transaction that is open, see ``setPolicies(_:)``.
    public func setPolicies(_ policies: [ColumnPolicy], in db: Database) throws {
        guard !policies.isEmpty else { return }
        try db.inSavepoint {
            try db.withoutReportingSchemaChanges { try MetadataSchema.upgrade(db) }
            try FoldedStore.fold(db, environment)
            let store = PolicyStore(db: db, environment: environment)
            for policy in policies { try store.declare(policy) }
            return .commit
        }
    }

    /// The policies that were declared, here or on another replica.
    ///
    /// - throws: ``SyncError``, `DatabaseError`.
    public func policies() throws -> [ColumnPolicy] {
        try upgradeIfNeeded()
        return try database.read { try PolicyStore.loadAll($0).map(\.policy) }
    }
}
