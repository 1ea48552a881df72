import CipherStore
import SyncWire

/// How far the store is settled: nothing needs to be looked at again until the log,
/// or the schema, has gone on.
package struct SettlementMark {
    /// The last log entry.
    let sequence: Int64
    /// SQLite's number of the schema.
    let schemaVersion: Int64
    /// The foreign keys that were looked at.
    let references: [String]

    private static let name = "settled"
    private static let referencesName = "settled references"

    static func load(_ db: Database) throws -> SettlementMark? {
        guard let text = try SyncSetting.text(db, name) else { return nil }
        let numbers = text.split(separator: " ").compactMap { Int64($0) }
        guard numbers.count == 2 else { return nil }
        return SettlementMark(
            sequence: numbers[0], schemaVersion: numbers[1],
            references: try (SyncSetting.text(db, referencesName) ?? "").split(separator: ";").map(
                String.init))
    }

    private static func set(_ db: Database, _ name: String, _ value: String) throws {
        guard try SyncSetting.text(db, name) != value else { return }
        try SyncSetting.set(db, name, value)
    }

    static func schemaVersion(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db, sql: "PRAGMA main.schema_version") ?? 0
    }

    static func lastSequence(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db, sql: "SELECT max(seq) FROM _sync_log") ?? 0
    }

    /// Notes that the store is settled up to an entry of the log. The log counts only while rows wait.
    static func save(_ db: Database, _ sequence: Int64, references: [String], isInUse: Bool) throws {
        let version = try schemaVersion(db)
        let mark = try load(db)
        try set(db, referencesName, references.sorted().joined(separator: ";"))
        guard isInUse || mark?.schemaVersion != version else { return }
        try set(db, name, "\(sequence) \(version)")
    }

    /// Notes that the store is to be settled as soon as it can be.
    static func remove(_ db: Database) throws {
        try SyncSetting.replace(db, name, "0 -1")
    }

    /// Notes that entries of the log before one are about to go. Rows may wait for what those of them wrote that are not
    /// settled, and afterwards nobody could tell which rows these are: so all are looked at.
    static func willDrop(_ db: Database, entriesBefore sequence: Int64) throws {
        guard let mark = try load(db), mark.sequence.addingSaturated(1) < sequence,
            try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_shadow)") == true
        else { return }
        try remove(db)
    }

    /// Whether something happened since then that concerns rows that wait.
    package static func isDue(_ db: Database) throws -> Bool {
        guard let mark = try load(db) else { return true }
        if try mark.schemaVersion != schemaVersion(db) { return true }
        guard try mark.sequence != lastSequence(db) else { return false }
        return try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM _sync_shadow)") ?? false
    }

    /// The tables that were written to since then.
    func changedTables(_ db: Database) throws -> Set<Int64> {
        Set(
            try Int64.fetchAll(
                db, sql: "SELECT DISTINCT tbl FROM _sync_log WHERE seq > ?", arguments: [sequence]))
    }
}
