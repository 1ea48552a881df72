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
    /// Whether connections have so small a cache that pages go to the WAL before their transaction ends.
    private let spills: Bool
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
    ///
    /// - parameter spills: Whether pages go to the WAL before their transaction ends, which takes more time: pages are
    ///   read again and again.
    init(in parent: String, spills: Bool = true) throws {
        self.spills = spills
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
        if spills { configuration.cacheKibibytes = 48 }
        return configuration
    }

    func open(_ name: String) throws -> DatabaseQueue {
        try DatabaseQueue(path: path(name), configuration: configuration)
    }

    /// Where others reach a store.
    func entrance(_ name: String) -> StoreEntrance {
        StoreEntrance(path: path(name), configuration: configuration)
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
