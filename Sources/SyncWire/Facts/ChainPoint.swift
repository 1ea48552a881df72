import Crypto

/// A point of a replica's chain: where the replica once gave numbers to changes,
/// and a hash of everything up to there.
///
/// A version vector names such points and nothing between them. Two replicas that
/// have different hashes for one point, or of which one knows a point that lies
/// between two neighbours of the other's, have changes of two copies of one file.
public struct ChainPoint: Hashable, Sendable {
    /// The last change up to the point.
    public let sequence: Int64
    /// The last change up to the point before: there is no point between the two.
    public let previous: Int64
    /// The hash of the changes up to the point.
    public let hash: Identifier128

    /// Makes a point.
    public init(sequence: Int64, previous: Int64, hash: Identifier128) {
        self.sequence = sequence
        self.previous = previous
        self.hash = hash
    }
}

/// Computes the hash of a ``ChainPoint``: SHA-256 over the hash before it and what
/// came since, cut to 16 bytes.
///
/// Only the replica itself computes it; the others compare. So what exactly goes in
/// is no part of the format.
public struct ChainHash {
    private var hash = SHA256()

    /// Begins with the point before, or with the replica's identifier for the first point.
    public init(after previous: Identifier128) { hash.update(data: previous.bytes) }

    /// Takes bytes in.
    public mutating func add(_ bytes: [UInt8]) {
        add(Int64(bytes.count))
        hash.update(data: bytes)
    }

    /// Takes a number in.
    public mutating func add(_ number: Int64) {
        withUnsafeBytes(of: number.littleEndian) { hash.update(bufferPointer: $0) }
    }

    /// The hash.
    public var value: Identifier128 {
        let digest = Array(hash.finalize())
        let parts = [digest[0..<8], digest[8..<16]].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        return Identifier128(high: parts[0], low: parts[1])
    }
}
