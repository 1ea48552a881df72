import CipherData
import Foundation

/// Two encrypted stores of one database, and an engine between them.
final class SyncPair: Sendable {
    let folder: TestFolder
    let here: any DatabaseWriter
    let there: any DatabaseWriter
    let transport: StoreTransport
    let engine: SyncEngine
    private let tables: [String]

    init(_ schema: String, _ tables: [String]) throws {
        folder = try TestFolder()
        self.tables = tables
        here = try DatabasePool(path: folder.file("here.db"), configuration: .encrypted)
        try here.execute(schema)
        let synchronizer = try Synchronizer(here, tables: tables)
        try synchronizer.clone(to: folder.file("there.db"), passphrase: Passphrase("secret"))
        there = try DatabasePool(path: folder.file("there.db"), configuration: .encrypted)
        transport = StoreTransport(path: folder.file("there.db"), configuration: .encrypted)
        engine = try SyncEngine(for: here, tables: tables, transport: transport, startImmediately: false)
    }

    func makeEngine(path: String? = nil, delegate: any SyncEngineDelegate) throws -> SyncEngine {
        try SyncEngine(
            for: here, tables: tables,
            transport: path.map { StoreTransport(path: $0, configuration: .encrypted) } ?? transport,
            startImmediately: false, delegate: delegate)
    }

    /// Synchronizes until both sides have the same, and returns what that is.
    func settled(_ sql: String) async throws -> [String] {
        for _ in 0..<3 { try await engine.syncChanges() }
        let rows = try here.strings(sql)
        guard try there.strings(sql) == rows else {
            throw Difference(here: rows, there: try there.strings(sql))
        }
        return rows
    }

    struct Difference: Error {
        let here: [String]
        let there: [String]
    }
}

extension DatabaseReader {
    /// The texts of a query with one column.
    func strings(_ sql: String) throws -> [String] { try read { db in try String.fetchAll(db, sql: sql) } }
}
