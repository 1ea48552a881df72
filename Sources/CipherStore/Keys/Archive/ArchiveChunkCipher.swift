import Crypto
import Foundation

/// Seals and opens the chunks of an archive.
///
/// Each chunk has a number, and the last one is marked in its nonce, so that
/// chunks can't be changed, left out, swapped, repeated or cut off at the end.
/// This is the STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizár,
/// "Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance"
/// (2015), in the form that age uses (<https://age-encryption.org/v1>).
struct ArchiveChunkCipher {
    /// The content of each chunk but the last one, in bytes.
    static let chunkByteCount = 65_536
    static let sealedChunkByteCount = chunkByteCount + SlotKey.tagByteCount

    private let key: SymmetricKey
    private var number: UInt64 = 0

    init(fileKey: ArchiveFileKey, nonce: [UInt8]) {
        key = fileKey.key(for: "payload", salt: nonce)
    }

    /// Eleven bytes of the chunk's number, the most significant one first, and one that marks the last chunk.
    private mutating func nextNonce(isLast: Bool) throws -> ChaChaPoly.Nonce {
        var nonce = [UInt8](repeating: 0, count: SlotKey.nonceByteCount)
        for index in 0..<8 { nonce[10 - index] = UInt8(number >> UInt64(8 * index) & 255) }
        nonce[11] = isLast ? 1 : 0
        number += 1
        return try ChaChaPoly.Nonce(data: nonce)
    }

    /// Seals the next chunk.
    mutating func seal(_ chunk: Data, isLast: Bool) throws -> Data {
        let box = try ChaChaPoly.seal(chunk, using: key, nonce: nextNonce(isLast: isLast))
        return box.ciphertext + box.tag
    }

    /// Opens the next chunk; nil when it is not what was sealed at this place.
    mutating func open(_ sealed: Data, isLast: Bool) throws -> Data? {
        let nonce = try nextNonce(isLast: isLast)
        guard sealed.count > SlotKey.tagByteCount,
            let box = try? ChaChaPoly.SealedBox(
                nonce: nonce, ciphertext: sealed.dropLast(SlotKey.tagByteCount),
                tag: sealed.suffix(SlotKey.tagByteCount))
        else { return nil }
        return try? ChaChaPoly.open(box, using: key)
    }
}
