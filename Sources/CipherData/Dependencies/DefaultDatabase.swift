import CipherStore
import Foundation

extension DependencyValues {
    /// The database that the program's property wrappers use where they are given no other.
    ///
    /// A program sets it once, by ``prepareDependencies(_:)``. Until then it is an empty database in memory, and its
    /// first use is a warning.
    public var defaultDatabase: any DatabaseWriter {
        get { self[DefaultDatabaseKey.self].database }
        set { self[DefaultDatabaseKey.self] = DefaultDatabase(database: newValue) }
    }
}

private struct DefaultDatabase: Sendable {
    let database: any DatabaseWriter
}

private enum DefaultDatabaseKey: DependencyKey {
    static var liveValue: DefaultDatabase {
        Database.logError?(
            .SQLITE_WARNING,
            """
            defaultDatabase is used and was not set, so that it is an empty database in memory: set it with \
            prepareDependencies { $0.defaultDatabase = … } at the start of the program
            """)
        return DefaultDatabase(database: empty)
    }

    static var testValue: DefaultDatabase { DefaultDatabase(database: empty) }

    private static var empty: any DatabaseWriter {
        do {
            return try DatabaseQueue()
        } catch {
            // Without memory, or with a library that can't encrypt, nothing works at all.
            preconditionFailure("a database in memory can't be opened: \(error)")
        }
    }
}

/// Opens the database of a program: for its user, the file at a path; in tests and previews, a new file that
/// nobody else uses.
///
/// ```swift
/// func appDatabase() throws -> any DatabaseWriter {
///     var configuration = Configuration()
///     configuration.prepareDatabase { db in try db.usePassphrase(try loadPassphrase()) }
///     let database = try defaultDatabase(configuration: configuration)
///     try migrator.migrate(database)
///     return database
/// }
/// ```
///
/// - parameters:
///     - path: The file; by default, `CipherData.db` in the folder that the system has for the data of programs.
///     - configuration: Opens it, with its passphrase.
/// - returns: A pool.
/// - throws: A `DatabaseError` or `StoreError`.
public func defaultDatabase(
    path: String? = nil, configuration: Configuration = Configuration()
) throws -> any DatabaseWriter {
    switch DependencyValues.current.context {
    case .live:
        let path = try path ?? defaultPath()
        return try DatabasePool(path: path, configuration: configuration)
    case .preview, .test:
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("CipherData-tests")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("\(UUID().uuidString).db")
        return try DatabasePool(path: file.path, configuration: configuration)
    }
}

private func defaultPath() throws -> String {
    let folder = try FileManager.default.url(
        for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
    return folder.appendingPathComponent("CipherData.db").path
}
