import CipherStore
import SyncWire

/// The columns of shares: how they are called, and who owns them. `_sync_share` is written here only.
extension CounterStore {
    /// The name of a replica's column of shares: that of the counter, and the replica.
    static func shareName(_ column: String, _ replica: ReplicaID) -> String { "\(column)+\(replica)" }

    /// What such a name says, or nil for another name.
    static func parse(shareName name: String) -> (column: String, replica: ReplicaID)? {
        guard let plus = name.lastIndex(of: "+") else { return nil }
        let digits = name[name.index(after: plus)...].utf8
        guard digits.count == 32 else { return nil }
        var bytes: [UInt8] = []
        for (index, digit) in digits.enumerated() {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            default: return nil
            }
            if index.isMultiple(of: 2) { bytes.append(value << 4) } else { bytes[bytes.count - 1] |= value }
        }
        return bytes.withUnsafeBytes { Identifier128(bytes: $0) }.map { (String(name[..<plus]), $0) }
    }

    /// The column of a replica's shares, which is made when there is none.
    static func shareColumn(
        _ db: Database, of counter: SyncedTable.Column, in number: Int64, replica: ReplicaID
    ) throws -> Int {
        let known = try Int.fetchOne(
            db, sql: "SELECT col FROM _sync_share WHERE tbl = ? AND counter = ? AND rid = ?",
            arguments: [number, counter.number, replica.data])
        if let known { return known }
        let table = try SyncedTable.load(db, number: number)
        let names = Set(table.columns.map { $0.name.identifierKey })
        // Another counter may have had the name before it was renamed.
        var name = shareName(counter.name, replica)
        while names.contains(name.identifierKey) { name = "+" + name }
        let added = try table.addingColumns(db, [name], place: .elsewhere)
        let column = added.columns[added.columns.count - 1].number
        try register(db, share: column, of: counter.number, in: number, replica: replica)
        return column
    }

    /// Notes that a column holds the shares of a replica.
    static func register(
        _ db: Database, share column: Int, of counter: Int, in table: Int64, replica: ReplicaID
    ) throws {
        try db.execute(
            sql: "INSERT OR IGNORE INTO _sync_share (tbl, col, counter, rid) VALUES (?, ?, ?, ?)",
            arguments: [table, column, counter, replica.data])
    }

    /// Gives the shares of a counter to another one, with which it was united.
    static func moveShares(_ db: Database, of absent: Int, to column: Int, in table: Int64) throws {
        try db.execute(
            sql: "UPDATE _sync_share SET counter = :column WHERE tbl = :table AND counter = :absent",
            arguments: ["table": table, "absent": absent, "column": column])
    }

    /// Forgets who owns the shares of tables.
    ///
    /// - parameter tables: A query that selects their numbers.
    static func removeShares(_ db: Database, ofTables tables: String) throws {
        try db.execute(sql: "DELETE FROM main._sync_share WHERE tbl IN (\(tables))")
    }
}
