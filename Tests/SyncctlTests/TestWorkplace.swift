import Foundation
import SyncWire
import Testing

@testable import CipherStore
@testable import SyncEngine

/// A folder with stores and the files of their passphrases, in which `syncctl` is run.
final class Workplace: Sendable {
    let folder: TemporaryFolder

    /// The passphrases by name. Each is a text that nothing else would print.
    private static let secrets = Dictionary(
        uniqueKeysWithValues: ["a", "b", "c", "wrong"].map { ($0, "kestrel-4711-\($0)-\u{E9}t\u{E9}") })

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.file("secrets"), withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        for (name, secret) in Self.secrets { try folder.writePassphrase(secret, to: "secrets/\(name)") }
    }

    static func passphrase(_ name: String) -> String { secrets[name] ?? name }

    /// The file of a passphrase.
    func secret(_ name: String) -> String { folder.file("secrets/\(name)") }

    func path(_ name: String) -> String { folder.file(name) }

    /// The names beside the stores, without the passphrases.
    func contents() throws -> [String] { try folder.contents().filter { $0 != "secrets" } }

    /// Runs `syncctl` and checks that it shows no passphrase.
    func run(
        _ arguments: [String], environment: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CommandResult {
        let result =
            environment.isEmpty && CommandRunner.needsNoProcess(arguments)
            ? try CommandRunner.runHere(arguments)
            : try CommandRunner.run(arguments, environment: environment)
        for text in [result.output, result.errors] {
            #expect(!text.contains("kestrel-4711"), "a passphrase is shown", sourceLocation: sourceLocation)
        }
        return result
    }

    /// Runs `syncctl`, which must do what was asked.
    @discardableResult
    func succeed(
        _ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CommandResult {
        let result = try run(arguments, sourceLocation: sourceLocation)
        #expect(result.status == 0, "\(arguments): \(result.errors)", sourceLocation: sourceLocation)
        return result
    }

    /// Opens a store here.
    func open(_ name: String, _ passphrase: String) throws -> DatabaseQueue {
        try StoreProbe.open(path(name), Self.passphrase(passphrase))
    }

    /// Makes a store with a tracked table here, without `syncctl`.
    ///
    /// - parameter first: The number of the first row. Rows of one number are the same row.
    func makeStore(_ name: String, _ passphrase: String, rows: Range<Int> = 0..<20) throws {
        let queue = try StoreProbe.open(path(name), Self.passphrase(passphrase), isNew: true)
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE person (id BLOB NOT NULL PRIMARY KEY, name TEXT, stars INTEGER)")
        }
        try StoreProbe.insert(rows, into: queue)
        _ = try Synchronizer(queue, tables: ["person"])
        try queue.close()
    }

    /// Makes a replica of a store here, without `syncctl`.
    func makeReplica(_ name: String, _ passphrase: String, of original: String, _ originalPassphrase: String)
        throws
    {
        let queue = try open(original, originalPassphrase)
        try Synchronizer(existing: queue).clone(
            to: path(name), passphrase: Passphrase(Self.passphrase(passphrase)))
        try queue.close()
    }

    /// The salt of a store, with which its file begins.
    func salt(_ name: String) throws -> Data {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path(name)))
        defer { try? file.close() }
        return try file.read(upToCount: 16) ?? Data()
    }

    /// The rows of a store's table, as text that shows types.
    func rows(_ name: String, _ passphrase: String, _ table: String = "person") throws -> [String] {
        let queue = try open(name, passphrase)
        defer { try? queue.close() }
        return try StoreProbe.rows(queue, table)
    }
}

/// Looks into stores from the process of the tests, which is faster than `syncctl`: a key is
/// derived once for all copies of a file.
enum StoreProbe {
    private static let keys = KeyCache()

    static func open(_ path: String, _ passphrase: String, isNew: Bool = false) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(passphrase) }
        configuration.encryption = .required
        configuration.requiresExistingFile = !isNew
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(5)
        return try DatabaseQueue(path: path, configuration: configuration, keyCache: keys)
    }

    /// Inserts the rows of these numbers.
    static func insert(_ numbers: Range<Int>, into queue: DatabaseQueue) throws {
        try queue.write { db in
            for number in numbers {
                try db.execute(
                    sql: "INSERT INTO person VALUES (?, ?, ?)",
                    arguments: [key(number), "name of \(number)", number])
            }
        }
    }

    static func key(_ number: Int) -> Data {
        Data(repeating: 7, count: 12) + withUnsafeBytes(of: UInt32(number).bigEndian) { Data($0) }
    }

    static func rows(_ queue: DatabaseQueue, _ table: String = "person") throws -> [String] {
        try queue.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM \(table.quotedDatabaseIdentifier) ORDER BY 1").map {
                row in
                row.databaseValues.map { value in
                    switch value.storage {
                    case .blob(let data): "x" + hexadecimal(data)
                    case .string(let text): text.debugDescription
                    default: "\(value)"
                    }
                }.joined(separator: " | ")
            }
        }
    }

    private static func hexadecimal(_ data: Data) -> String {
        data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    static func hasTable(_ queue: DatabaseQueue, _ table: String) throws -> Bool {
        try queue.read { try $0.tableExists(table) }
    }

    static func problems(_ queue: DatabaseQueue) throws -> [String] {
        try queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }.filter { $0 != "ok" }
    }
}

/// Reaches a store whose key is known to the probe.
struct ProbeTransport: Transport {
    let path: String
    let passphrase: String
    var name: String { path }

    func connect(_ environment: SyncEnvironment) throws -> any SyncPeer {
        StorePeer(try StoreProbe.open(path, passphrase), environment, closes: true)
    }
}
