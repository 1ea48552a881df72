import Crypto
import Foundation

/// The SHA-256 of the bytes of a file, taken while they are read or written.
package struct FileDigest {
    private var hash = SHA256()

    /// Makes the digest of no bytes.
    package init() {}

    /// Takes the next bytes.
    package mutating func update(_ bytes: Data) { hash.update(data: bytes) }

    /// The digest so far, in hexadecimal digits.
    package var text: String { Hexadecimal.text(Array(hash.finalize())) }

    /// The 32 bytes that 64 hexadecimal digits in lower case stand for; nil for any other text.
    package static func bytes(_ text: String) -> [UInt8]? { Hexadecimal.bytes(text, count: 32) }
}
