import CipherStore
import SyncWire

/// How `_sync_partial`, `_sync_partial_value` and `_sync_partial_known` are written. Nothing else writes them.
extension PartialTable {
    // MARK: The choice

    /// Chooses rows of a table, all of which are here as far as they are known.
    ///
    /// - parameters:
    ///     - column: The number of the scope column.
    ///     - remote: The remote that the choice is made for.
    static func begin(
        _ db: Database, _ table: Int64, column: Int, values: Set<ScopeValue>, remote: String
    ) throws {
        assert(!values.isEmpty, "a choice of no rows is none")
        try db.execute(
            sql: """
                INSERT INTO _sync_partial (tbl, col, remote, whole, everything, swept, revision)
                VALUES (?, ?, ?, 1, 0, 0, 1)
                """, arguments: [table, column, remote])
        try save(db, values, held: values, table)
    }

    /// Notes that no rows of a table are here, and that all are wanted.
    ///
    /// - parameters:
    ///     - column: The number of one of its columns, by which nothing is chosen.
    ///     - own: The changes of this replica, which nobody has to tell it.
    static func beginAnew(_ db: Database, _ table: Int64, column: Int, own: VersionVector) throws {
        try db.execute(
            sql: """
                INSERT INTO _sync_partial (tbl, col, remote, whole, everything, swept, revision)
                VALUES (?, ?, '', 0, 1, 0, 1)
                """, arguments: [table, column])
        let begun = try loadAll(db, StoreMetadata.require(db))[table]
        try begun?.raise(db, own: own)
    }

    /// Changes the choice.
    ///
    /// - parameters:
    ///     - column: The number of the scope column.
    ///     - held: The values of which the rows are here.
    ///     - remote: The remote that the choice is made for.
    func choose(
        _ db: Database, column: Int, values: Set<ScopeValue>, held: Set<ScopeValue>, remote: String
    ) throws {
        try db.execute(
            sql: """
                UPDATE _sync_partial
                SET col = ?, remote = ?, everything = 0, swept = 0, revision = revision + 1 WHERE tbl = ?
                """, arguments: [column, remote, number])
        try Self.save(db, values, held: held, number)
    }

    /// Notes that all rows are wanted again, and are not here.
    func setWantsEverything(_ db: Database) throws {
        try db.execute(
            sql: "UPDATE _sync_partial SET everything = 1, revision = revision + 1 WHERE tbl = ?",
            arguments: [number])
    }

    private static func save(
        _ db: Database, _ wanted: Set<ScopeValue>, held: Set<ScopeValue>, _ table: Int64
    ) throws {
        assert(held.isSubset(of: wanted), "rows are held that are not wanted")
        try db.execute(sql: "DELETE FROM _sync_partial_value WHERE tbl = ?", arguments: [table])
        let insertion = try db.makeStatement(
            sql: "INSERT INTO _sync_partial_value (tbl, val, wanted, held) VALUES (?, ?, 1, ?)")
        for value in wanted.sorted() {
            insertion.reset()
            _ = RawBinding.int64(insertion.sqliteStatement, 1, table)
            _ = RawBinding.int64(insertion.sqliteStatement, 3, held.contains(value) ? 1 : 0)
            try value.withWireValue {
                // Its bytes are valid only here.
                $0.bind(insertion.sqliteStatement, 2)
                while try insertion.step() {}
            }
        }
        insertion.reset()
    }

    /// Lets the rows be chosen by another column, with which the scope column was united.
    static func move(_ db: Database, ofColumn absent: Int, to column: Int, in table: Int64) throws {
        try db.execute(
            sql: "UPDATE _sync_partial SET col = :column WHERE tbl = :table AND col = :absent",
            arguments: ["table": table, "absent": absent, "column": column])
    }

    /// Forgets that the table is held in part.
    static func remove(_ db: Database, _ table: Int64) throws {
        for name in ["_sync_partial", "_sync_partial_value", "_sync_partial_known", "_sync_left"] {
            try db.execute(sql: "DELETE FROM main.\(name) WHERE tbl = ?", arguments: [table])
        }
    }

    // MARK: The rows

    /// Notes that the rows of all values that are wanted are here.
    func setHeld(_ db: Database) throws {
        try db.execute(
            sql: "UPDATE _sync_partial_value SET held = wanted WHERE tbl = ?", arguments: [number])
        try db.execute(
            sql: "UPDATE _sync_partial SET revision = revision + 1 WHERE tbl = ?", arguments: [number])
    }

    /// Notes that nothing is left to take out up to an entry of the log; of 0, that there may be something.
    func setSwept(_ db: Database, _ sequence: Int64) throws {
        try db.execute(
            sql: "UPDATE _sync_partial SET swept = ? WHERE tbl = ?", arguments: [sequence, number])
    }

    /// Notes that some rows are not here any more, or never were.
    func setIncomplete(_ db: Database) throws {
        guard isWhole else { return }
        try db.execute(sql: "UPDATE _sync_partial SET whole = 0 WHERE tbl = ?", arguments: [number])
    }

    /// Notes that none of the rows of a table are here any more, whichever are wanted. Of what was known of them, own
    /// changes stay, which nobody has to tell.
    static func setNothingHeld(_ db: Database, _ table: Int64) throws {
        try db.execute(
            sql: """
                UPDATE _sync_partial SET whole = 0, swept = 0, revision = revision + 1 WHERE tbl = :table;
                UPDATE _sync_partial_value SET held = 0 WHERE tbl = :table;
                UPDATE _sync_partial_known SET oseq = 0, seen = 0 WHERE tbl = :table;
                DELETE FROM _sync_partial_known WHERE tbl = :table AND own = 0 AND dropped = 0;
                DELETE FROM _sync_left WHERE tbl = :table;
                """, arguments: ["table": table])
    }

    /// Notes that the rows of all values are to come again, because values of them are gone.
    func setValuesWanted(_ db: Database) throws {
        try db.execute(
            sql: """
                UPDATE _sync_partial SET whole = 0, revision = revision + 1 WHERE tbl = :table;
                UPDATE _sync_partial_value SET held = 0 WHERE tbl = :table;
                """, arguments: ["table": number])
    }

    // MARK: What is known

    /// Raises what is known. The replicas have numbers.
    func raise(
        _ db: Database, since: VersionVector = VersionVector(), seen: VersionVector = VersionVector(),
        own: VersionVector = VersionVector(), dropped: VersionVector = VersionVector()
    ) throws {
        for replica in try StoreMetadata.require(db).replicas {
            let values = [since, seen, own, dropped].map { $0[replica.id] }
            guard values.contains(where: { $0 > 0 }) else { continue }
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO _sync_partial_known (tbl, sid, oseq, seen, own, dropped)
                    VALUES (?, ?, 0, 0, 0, 0)
                    """, arguments: [number, replica.sid])
            try db.execute(
                sql: """
                    UPDATE _sync_partial_known SET oseq = max(oseq, ?), seen = max(seen, ?), own = max(own, ?),
                        dropped = max(dropped, ?) WHERE tbl = ? AND sid = ?
                    """,
                arguments: [values[0], values[1], values[2], values[3], number, replica.sid])
        }
    }

    /// Notes what an answer took into account. Own changes that it does not know, though one before did, are not
    /// confirmed any more: rows that they moved here have to come whole once the sender has them again.
    func take(_ db: Database, answer target: VersionVector) throws {
        for replica in try StoreMetadata.require(db).replicas {
            let sequence = target[replica.id]
            guard sequence < since[replica.id], since[replica.id] <= own[replica.id] else { continue }
            try db.execute(
                sql: """
                    UPDATE _sync_partial_known SET oseq = ?1, seen = min(seen, ?1) WHERE tbl = ?2 AND sid = ?3
                    """, arguments: [sequence, number, replica.sid])
        }
        try raise(db, since: target)
    }

    /// Notes that the rows here show all that they take into account, if none waits that left.
    func catchUp(_ db: Database) throws {
        try db.execute(
            sql: """
                UPDATE _sync_partial_known SET seen = oseq
                WHERE tbl = ?1 AND NOT EXISTS (SELECT 1 FROM _sync_left WHERE tbl = ?1)
                """, arguments: [number])
    }

    /// Notes that changes of a replica after one of them are in rows that are here, as they go on without values that they
    /// had.
    static func lowerDropped(_ db: Database, _ table: Int64, of sid: Int64, to sequence: Int64) throws {
        try db.execute(
            sql: "UPDATE _sync_partial_known SET dropped = min(dropped, ?) WHERE tbl = ? AND sid = ?",
            arguments: [sequence, table, sid])
    }

    // MARK: Identity

    /// Keeps what this replica wrote as its own, when its file gets another identity.
    static func beginIdentity(_ db: Database, after metadata: StoreMetadata) throws {
        let replica = try metadata.replicaID()
        for table in try loadAll(db, metadata).values {
            try table.raise(db, own: VersionVector([replica: metadata.vector[replica]]))
        }
    }

    /// Forgets changes of a replica beyond those that are its own, and brings all rows anew:
    /// some may have left by such a change.
    static func forget(_ db: Database, changesOf sid: Int64, after common: Int64) throws {
        try db.execute(
            sql: """
                UPDATE _sync_partial_known SET oseq = min(oseq, ?1), seen = min(seen, ?1), own = min(own, ?1),
                    dropped = min(dropped, ?1) WHERE sid = ?2
                """, arguments: [common, sid])
        try db.execute(
            sql: "UPDATE _sync_partial_value SET held = 0; UPDATE _sync_partial SET revision = revision + 1")
    }
}
