import Crypto

/// The hashes of a bundle: one for each chunk, and one over all of it.
///
/// They cover every byte but the frames' types and lengths, which can't change
/// without an error, so that no damage on the way turns into other content. They
/// carry no key: they protect from accidents, not from a forger.
struct BundleHash {
    static let byteCount = 32

    private var all = SHA256()

    /// Takes the header in.
    mutating func addHeader(_ payload: UnsafeRawBufferPointer) {
        all.update(data: Array(SHA256.hash(data: payload)))
    }

    /// Takes a chunk in.
    ///
    /// - parameters:
    ///     - prefix: The chunk's number, flags and codec, as they are in its payload.
    ///     - body: The chunk's body.
    /// - returns: The chunk's hash.
    mutating func addChunk(prefix: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) -> [UInt8] {
        var chunk = SHA256()
        chunk.update(bufferPointer: prefix)
        chunk.update(bufferPointer: body)
        let hash = Array(chunk.finalize())
        all.update(data: hash)
        return hash
    }

    /// The hash of everything that was taken in.
    var value: [UInt8] { Array(all.finalize()) }
}
