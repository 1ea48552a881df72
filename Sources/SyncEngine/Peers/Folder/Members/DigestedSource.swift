import CipherStore
import Foundation
import SyncMembers

/// A file whose bytes have to be those that its replica has signed.
final class DigestedSource: ByteSource {
    /// Says that the file is another one.
    struct Mismatch: Error {}

    private let source: any ByteSource
    private let expected: String?
    private var digest = FileDigest()

    /// - parameter expected: The digest, in hexadecimal digits; nil when any bytes are right.
    init(_ source: any ByteSource, expected: String?) { (self.source, self.expected) = (source, expected) }

    var byteCount: Int { source.byteCount }

    func peek(upToCount count: Int) throws -> Data { try source.peek(upToCount: count) }

    func read(upToCount count: Int) throws -> Data {
        let bytes = try source.read(upToCount: count)
        if expected != nil { digest.update(bytes) }
        return bytes
    }

    func rewind() throws {
        try source.rewind()
        digest = FileDigest()
    }

    /// Checks the bytes, of which all were read.
    ///
    /// - throws: ``Mismatch``.
    func check() throws {
        guard expected == nil || digest.text == expected else { throw Mismatch() }
    }
}

/// Where the bytes of a file go whose digest is signed.
final class DigestingSink {
    private let sink: (Data) throws -> Void
    private var digest = FileDigest()

    init(_ sink: @escaping (Data) throws -> Void) { self.sink = sink }

    /// Takes the next bytes.
    func write(_ bytes: Data) throws {
        digest.update(bytes)
        try sink(bytes)
    }

    /// The digest of all of them, in hexadecimal digits.
    var text: String { digest.text }
}
