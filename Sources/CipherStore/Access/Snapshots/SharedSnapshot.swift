/// Read transactions of several connections that all see one commit.
///
/// SQLite can open a snapshot that another connection has open only if it was built for that, which no
/// SQLCipher is. So the transactions begin one after the other, and begin again if somebody
/// committed meanwhile.
struct SharedSnapshot {
    private let readers: [SerializedDatabase]

    /// How often to try. A try takes some microseconds for each connection.
    private static let attemptCount = 1000

    /// - parameter readers: Connections in no transaction that nobody else has yet.
    init(_ readers: [SerializedDatabase]) { self.readers = readers }

    /// Begins the transactions.
    ///
    /// - parameter witness: Another connection to the database, in no transaction, that commits nothing
    ///   meanwhile: its `data_version` changes when anybody else does, in this process or another.
    /// - throws: A ``DatabaseError``: of code `SQLITE_ERROR` when the database is not in WAL mode,
    ///   `SQLITE_BUSY` when others never cease to commit.
    func begin(_ witness: Database) throws {
        try witness.withoutTracing { try requireWAL(witness) }
        for _ in 0..<Self.attemptCount {
            let version = try dataVersion(witness)
            for reader in readers { try reader.beforeSharing { try $0.beginSnapshot() } }
            if try dataVersion(witness) == version { return keep() }
            for reader in readers { try reader.beforeSharing { try $0.rollback() } }
        }
        throw DatabaseError(
            resultCode: .SQLITE_BUSY,
            message: "others commit too often for all readers of a snapshot to see one state; try again")
    }

    private func dataVersion(_ db: Database) throws -> Int64? {
        try db.withoutTracing { try Int64.fetchOne(db, sql: "PRAGMA data_version") }
    }

    private func requireWAL(_ db: Database) throws {
        guard db.mode == .ordinary,
            let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode"), mode != "wal"
        else { return }
        throw DatabaseError(
            resultCode: .SQLITE_ERROR,
            message: "a pool of snapshots needs a database in WAL mode, and its journal mode is '\(mode)'")
    }

    /// Keeps the transactions open between accesses.
    private func keep() {
        for reader in readers {
            reader.keepsTransaction = true
            // SQLite rolls back when a page can't be read, and later reads would see another state.
            reader.beforeSharing { $0.needsTransaction = true }
        }
    }
}
