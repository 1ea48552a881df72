import CipherStore
import Foundation
import SyncEngine
import SyncMembers

/// A file with the program that has it open, looked at as its user looks at it.
final class WitnessedStore {
    /// Rows by table and key, each with its columns.
    typealias Rows = [String: [String: [String: String]]]

    /// An older state of the file.
    struct Backup {
        let files: StoreFiles
        let place: StorePlace?
        let values: Set<String>
        let version: Int
        let member: MemberID?
    }

    static let tables = ["note", "tag"]
    /// The table of which some replicas choose rows.
    static let tableOfRows = "note"
    /// The column that says which rows some replicas choose.
    static let placeColumn = "place"

    let number: Int
    let name: String
    private(set) var queue: DatabaseQueue
    private(set) var synchronizer: Synchronizer
    /// The version of the app.
    private(set) var version: Int
    /// The member whose device it is, as far as it was told.
    var member: MemberID?
    /// The process that has it open, as a mailbox sees it.
    let life: ProcessLife
    /// How often its program was started again.
    private(set) var startCount = 0
    /// Where other replicas reach it.
    let entrance: StoreEntrance
    private let factory: StoreFactory
    private let clock: SimulatedClock

    /// Opens a file, and prepares it if it is the first one.
    init(_ factory: StoreFactory, _ clock: SimulatedClock, number: Int, version: Int = 0) throws {
        (self.factory, self.clock, self.number, self.version) = (factory, clock, number, version)
        name = "\(number)"
        queue = try factory.open(name)
        entrance = factory.entrance(name)
        life = ProcessLife(path: factory.path(name))
        if number == 0 {
            try queue.write {
                try $0.execute(
                    sql: """
                        CREATE TABLE note (id BLOB PRIMARY KEY NOT NULL, title TEXT, body TEXT, place TEXT);
                        CREATE TABLE tag (id BLOB PRIMARY KEY NOT NULL, name TEXT, place TEXT)
                        """)
            }
        }
        synchronizer = try Synchronizer(
            queue, tables: number == 0 ? Self.tables : [], environment: clock.environment(of: number))
    }

    var path: String { factory.path(name) }

    // MARK: Looking

    /// What its user sees.
    func rows() throws -> Rows { try queue.read { try Self.rows($0) } }

    /// What its user sees, in a transaction.
    static func rows(_ db: Database) throws -> Rows {
        var rows: Rows = [:]
        for table in tables {
            rows[table] = [:]
            let cursor = try Row.fetchCursor(db, sql: "SELECT hex(id) AS id, * FROM \(table)")
            while let row = try cursor.next() {
                let key: String = row[0]
                var values: [String: String] = [:]
                for (column, value) in row.dropFirst(2) {
                    if let text = String.fromDatabaseValue(value) { values[column] = text }
                }
                rows[table]?[key] = values
            }
        }
        return rows
    }

    /// The values that its user sees.
    static func values(of rows: Rows) -> Set<String> {
        Set(
            rows.values.flatMap { $0.values.flatMap { $0.filter { $0.key != placeColumn }.values } })
    }

    /// The values in its journal.
    func journal() throws -> Set<String> {
        try queue.read { db in
            Set(
                try Row.fetchAll(db, sql: "SELECT val FROM _sync_conflict").compactMap {
                    String.fromDatabaseValue($0.databaseValues[0])
                })
        }
    }

    /// Whether only some rows of a table are held here.
    func holdsSomeRows() throws -> Bool { try queue.read { try !StoreObservation($0).partials.isEmpty } }

    /// What is wrong with the file.
    func problems() throws -> [StoreProblem] {
        try factory.check(name) { try MetadataCheck.problems(of: $0, isDeep: true) }
    }

    // MARK: Files

    /// Makes a replica of it.
    func clone(number: Int) throws -> WitnessedStore {
        try synchronizer.clone(to: factory.path("\(number)"), passphrase: factory.secret())
        return try WitnessedStore(factory, clock, number: number, version: version)
    }

    /// Copies its file as any other file.
    ///
    /// - parameter isSeen: Whether the copy can see that it is one.
    func copy(number: Int, isSeen: Bool) throws -> WitnessedStore {
        let target = factory.path("\(number)")
        try StoreFiles(path: path).write(path: target)
        clock.places.put(isSeen ? nil : clock.places.place(of: path), at: target)
        let copy = try WitnessedStore(factory, clock, number: number, version: version)
        copy.member = member
        return copy
    }

    func backUp() throws -> Backup {
        Backup(
            files: try StoreFiles(path: path), place: clock.places.place(of: path),
            values: try Self.values(of: rows()).union(journal()), version: version, member: member)
    }

    /// Puts its file back to what it was.
    ///
    /// - parameter isSeen: Whether it can see that.
    func restore(_ backup: Backup, isSeen: Bool) throws {
        clock.places.put(isSeen ? nil : backup.place, at: path)
        (version, member) = (backup.version, backup.member)
        try restart(backup.files)
    }

    /// Starts the program again, with other files in the place of its own if some are given.
    func restart(_ files: StoreFiles? = nil) throws {
        startCount += 1
        try close()
        try files?.write(path: path)
        queue = try factory.open(name)
        synchronizer = try Synchronizer(queue, environment: clock.environment(of: number))
    }

    /// Brings it to the next version of the app, if there is one.
    ///
    /// - returns: Whether there is.
    func migrate() throws -> Bool {
        guard version == 0 else { return false }
        version = 1
        try queue.write { try $0.execute(sql: "ALTER TABLE note ADD COLUMN stars TEXT") }
        return true
    }

    func close() throws {
        try entrance.close()
        try queue.close()
    }

    /// Breaks the engine's work, for tests of the simulator.
    func sabotage(_ sabotage: Sabotage) throws {
        let statement =
            switch sabotage {
            case .losesRow: "DELETE FROM note WHERE id = (SELECT max(id) FROM note)"
            case .forgetsConflicts: "DELETE FROM _sync_conflict"
            default: "SELECT 1"
            }
        try queue.write {
            // It mutes the triggers.
            try $0.execute(
                sql: "UPDATE _sync_state SET applying = 1; \(statement); UPDATE _sync_state SET applying = 0")
        }
    }
}
