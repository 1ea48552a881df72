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
}
