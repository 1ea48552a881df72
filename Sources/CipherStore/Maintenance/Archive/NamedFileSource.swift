import Foundation

/// The bytes of a file that somebody named, which may be a database that this process has open.
///
/// They are read through SQLite's own file object: closing a descriptor of our own would drop the POSIX
/// locks that the connections of this process hold on the file. Another process would then take itself for the last
/// one that has the store open, and remove the WAL that this one goes on writing to.
package final class NamedFileSource: ByteSource {
    package let byteCount: Int
    private let connection: SQLiteConnection
    private let file: DatabaseFile
    private var offset = 0

    private init(_ connection: SQLiteConnection) throws {
        self.connection = connection
        file = try DatabaseFile(connection)
        byteCount = try file.byteCount()
    }

    deinit { SQLiteHandle.close(connection) }

    /// Opens a regular file at its start.
    ///
    /// - throws: A ``StoreError`` of code `missing`, `empty` or `cannotRead`.
    package static func open(_ path: String) throws -> any ByteSource {
        try StoreFile.requireContent(path, of: "sealed file")
        do {
            let connection = try SQLiteHandle.open(path: path, readonly: true, creates: false, isURI: false)
            do {
                return try NamedFileSource(connection)
            } catch {
                SQLiteHandle.close(connection)
                throw error
            }
        } catch {
            // What SQLite can't open, such as a path that is too long for it, is no database that is open.
            guard let handle = FileHandle(forReadingAtPath: path), let source = try? FileSource(handle) else {
                throw StoreError(.cannotRead, "cannot open: \(StoreError.systemText)", path: path)
            }
            return source
        }
    }

    package func peek(upToCount count: Int) throws -> Data {
        let count = max(0, min(count, byteCount - offset))
        guard count > 0 else { return Data() }
        var bytes = Data(count: count)
        let isComplete = try bytes.withUnsafeMutableBytes { try file.read(at: offset, into: $0) }
        if isComplete { return bytes }
        // The file was cut off since its size was asked for.
        return bytes.prefix(max(0, min(count, try file.byteCount() - offset)))
    }

    package func read(upToCount count: Int) throws -> Data {
        let bytes = try peek(upToCount: count)
        offset += bytes.count
        return bytes
    }

    package func rewind() throws { offset = 0 }
}
