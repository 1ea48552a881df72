import Foundation

/// Where the bytes of a file come from: a file of this machine, or a place elsewhere.
package protocol ByteSource: AnyObject {
    /// The size of the file.
    var byteCount: Int { get }

    /// The next bytes, which stay the next ones.
    ///
    /// - parameter count: How many; there are fewer only when the file ends before.
    func peek(upToCount count: Int) throws -> Data

    /// Reads the next bytes.
    ///
    /// - parameter count: How many; there are fewer only when the file ends before.
    func read(upToCount count: Int) throws -> Data

    /// Begins again with the first byte.
    func rewind() throws
}

/// The bytes of a file of this machine.
package final class FileSource: ByteSource {
    package let byteCount: Int
    private let handle: FileHandle

    /// - parameter handle: An open file at its start. It is closed in the end.
    package init(_ handle: FileHandle) throws {
        self.handle = handle
        byteCount = Int(try handle.seekToEnd())
        try handle.seek(toOffset: 0)
    }

    deinit { try? handle.close() }

    package func peek(upToCount count: Int) throws -> Data {
        let place = try handle.offset()
        let bytes = try read(upToCount: count)
        try handle.seek(toOffset: place)
        return bytes
    }

    package func read(upToCount count: Int) throws -> Data { try handle.read(upToCount: count) ?? Data() }

    package func rewind() throws { try handle.seek(toOffset: 0) }
}
