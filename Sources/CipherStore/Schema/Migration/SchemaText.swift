import Foundation

/// The statements that made a schema, for comparing it with another one.
struct SchemaText: Equatable {
    private struct Object: Hashable {
        let type: String
        let name: String
        let table: String
        let sql: String?
    }

    private let objects: Set<Object>

    /// Reads the main schema, without what belongs to SQLite or to the library.
    init(_ db: Database) throws {
        var objects: Set<Object> = []
        let rows = try Row.fetchCursor(db, sql: "SELECT type, name, tbl_name, sql FROM main.sqlite_master")
        while let row = try rows.next() {
            let object = Object(
                type: try row.decode(atIndex: 0), name: try row.decode(atIndex: 1),
                table: try row.decode(atIndex: 2), sql: try row.decodeIfPresent(atIndex: 3))
            let isInternal = [object.name, object.table].contains {
                Database.isSQLiteInternalTable($0) || Database.isGRDBInternalTable($0)
            }
            if !isInternal { objects.insert(object) }
        }
        self.objects = objects
    }
}

extension Database {
    /// Opens a new database that is set up as this one, and removes it afterwards.
    ///
    /// It is a file, encrypted if this one is, because functions of
    /// ``Configuration/prepareDatabase(_:)`` may ask for what only files have. Its key is a random one: a
    /// new file has no keyring, and is of the newest format.
    func withEmptyCopy<T>(_ body: (Database) throws -> T) throws -> T {
        var configuration = configuration
        configuration.readonly = false
        configuration.requiresExistingFile = false
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("cipherstore-" + UUID().uuidString, isDirectory: true)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("schema.db").path
        configuration.pathForAnyKey = path
        let copy = try Database(path: path, configuration: configuration, keyCache: KeyCache())
        defer { copy.dispose() }
        return try body(copy)
    }
}
