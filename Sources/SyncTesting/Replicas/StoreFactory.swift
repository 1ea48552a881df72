import CipherStore
import Foundation

/// Makes the encrypted files of a run, and opens them.
///
/// They are stores like any other, but that their keys are derived in few rounds.
struct StoreFactory: Sendable {
    private static let passphrase = "a passphrase of simulations"
    private static let settings = CipherSettings(format: CipherSettings.default.format, kdfIterations: 2)

    /// Where the files are.
    let folder: String
    /// The bytes of an encrypted database without tables. Making one derives a key in full.
    private static let template = Result { try makeTemplate() }

    private static func makeTemplate() throws -> Data {
        let path = NSTemporaryDirectory() + "simulation-template-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.usePassphrase(Self.passphrase)
            try db.execute(sql: "PRAGMA kdf_iter = 2")
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE made (a); DROP TABLE made") }
        try queue.close()
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    /// Makes a folder in another one.
    init(in parent: String) throws {
        folder = parent + "/simulation-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// Removes all files.
    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    func path(_ name: String) -> String { "\(folder)/\(name).db" }

    /// Makes a file.
    func create(_ name: String) throws { try Self.template.get().write(to: URL(fileURLWithPath: path(name))) }

    /// Opens connections.
    var configuration: Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase(Self.passphrase, settings: Self.settings) }
        configuration.journalMode = .wal
        configuration.encryption = .required
        // A small cache spills pages into the WAL before the transaction ends.
        configuration.cacheKibibytes = 48
        return configuration
    }

    func open(_ name: String) throws -> DatabaseQueue {
        try DatabaseQueue(path: path(name), configuration: configuration)
    }

    func secret() throws -> Passphrase { try Passphrase(Self.passphrase) }

    /// Checks pages, structure and constraints of a file.
    func check(_ name: String, further: @escaping (Database) throws -> [StoreProblem]) throws
        -> [StoreProblem]
    {
        try StoreCheck.run(
            path: path(name), opening: Secret(secret()), settings: Self.settings, isDeep: true,
            further: further
        ).problems
    }
}

/// What the disk holds of a store at one moment.
struct StoreFiles: Equatable {
    /// Where the WAL ends, and which WAL it is.
    struct Mark: Equatable {
        var header = Data()
        var byteCount = 0
    }

    private static let headerByteCount = 32
    private var database: Data
    private var log: Data?

    /// Reads the files.
    init(path: String) throws {
        database = try Data(contentsOf: URL(fileURLWithPath: path))
        log = try? Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
    }

    /// Where the WAL of a file ends now.
    static func mark(path: String) throws -> Mark {
        guard let file = FileHandle(forReadingAtPath: path + "-wal") else { return Mark() }
        defer { try? file.close() }
        let header = try file.read(upToCount: headerByteCount) ?? Data()
        return Mark(header: header, byteCount: Int(try file.seekToEnd()))
    }

    /// Cuts off a part of what was written since a mark, as if the process had died while it wrote.
    ///
    /// - parameter fraction: How much of it stays, from 0 to 1.
    mutating func cut(since mark: Mark, keeping fraction: Double) {
        guard let log, log.prefix(Self.headerByteCount) == mark.header || mark.byteCount == 0,
            log.count > mark.byteCount
        else { return }
        let kept = mark.byteCount + Int(Double(log.count - mark.byteCount) * fraction)
        self.log = log.prefix(kept)
    }

    /// Puts the files where they were, or elsewhere.
    func write(path: String) throws {
        try? FileManager.default.removeItem(atPath: path + "-shm")
        try? FileManager.default.removeItem(atPath: path + "-wal")
        try database.write(to: URL(fileURLWithPath: path))
        try log?.write(to: URL(fileURLWithPath: path + "-wal"))
    }
}
