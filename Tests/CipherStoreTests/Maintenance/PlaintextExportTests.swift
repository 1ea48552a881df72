import Testing

@testable import CipherStore

@Suite struct PlaintextExportTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    enum Stop: CaseIterable {
        case cancellation, suspension

        func begin(_ db: Database) {
            switch self {
            case .cancellation: db.interruption.insert(.cancelled)
            case .suspension: db.suspend()
            }
        }

        func end(_ db: Database) {
            switch self {
            case .cancellation: db.interruption.remove(.cancelled)
            case .suspension: db.resume()
            }
        }
    }

    @Test(arguments: Stop.allCases) func anExportThatWasStoppedCanBeRepeated(stop: Stop) throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (5)") }
        let path = folder.file("plain.db")
        try queue.inDatabase { db throws in
            // The file is attached then.
            db.trace { if "\($0)".hasPrefix("PRAGMA application_id") { stop.begin(db) } }
            #expect(throws: (any Error).self) { try PlaintextExport.writePlaintext(of: db, at: path) }
            db.trace(options: [])
            stop.end(db)
            let attached = try Row.fetchAll(db, sql: "PRAGMA database_list").map { $0["name"] as String }
            #expect(!attached.contains("exported"))
            try PlaintextExport.writePlaintext(of: db, at: path)
        }
        #expect(try folder.contents() == ["a.db", "plain.db"])
        let plain = try DatabaseQueue(path: path)
        #expect(try plain.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 5)
    }

    /// A migration of another process that comes while the export begins is in the file as a whole, or not at all.
    @Test(arguments: JournalModeKind.allCases)
    func theNumbersOfTheHeaderFitTheSchemaThatIsExported(mode: JournalModeKind) throws {
        let path = folder.file("a.db")
        let queue = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        try queue.writeWithoutTransaction { db in
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = \(mode.rawValue)")
            try db.execute(sql: "CREATE TABLE t (a); PRAGMA user_version = 1; PRAGMA application_id = 3")
        }
        let other = try DatabaseQueue(path: path, configuration: .keyed("secret"))
        let plain = folder.file("plain.db")
        var isMigrated = false
        try queue.inDatabase { db throws in
            db.trace { event in
                guard !isMigrated, "\(event)".hasPrefix("BEGIN") else { return }
                isMigrated = true
                do {
                    try other.write {
                        try $0.execute(sql: "ALTER TABLE t ADD COLUMN b; PRAGMA user_version = 2")
                    }
                } catch {
                    Issue.record(error)
                }
            }
            try PlaintextExport.writePlaintext(of: db, at: plain)
            db.trace(options: [])
        }
        #expect(isMigrated)
        try DatabaseQueue(path: plain).read { db in
            let columns = try db.columns(in: "t").map(\.name)
            let version = try Int.fetchOne(db, sql: "PRAGMA user_version")
            let application = try Int.fetchOne(db, sql: "PRAGMA application_id")
            #expect(columns == ["a", "b"])
            #expect(version == 2)
            #expect(application == 3)
        }
    }

    enum JournalModeKind: String, CaseIterable { case wal, delete }

    @Test(arguments: [0, 1, 2]) func anExportKeepsTheWayOfVacuuming(mode: Int) throws {
        let queue = try DatabaseQueue(path: folder.file("a.db"), configuration: .keyed("secret"))
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE t (a); PRAGMA auto_vacuum = \(mode); VACUUM")
        }
        let plain = folder.file("plain.db")
        try queue.writeWithoutTransaction { try PlaintextExport.writePlaintext(of: $0, at: plain) }
        let exported = try DatabaseQueue(path: plain).read { try Int.fetchOne($0, sql: "PRAGMA auto_vacuum") }
        let source = try queue.read { try Int.fetchOne($0, sql: "PRAGMA auto_vacuum") }
        #expect(source == mode)
        #expect(exported == source)
    }
}
