/// A sum of keyed hashes: a digest of a set, from which members can be taken out again.
///
/// Based on: Bellare and Micciancio, "A New Paradigm for Collision-free Hashing: Incrementality at
/// Reduced Cost", 1997. Whoever does not know the key can't find two sets of one sum.
public struct DigestSum: Hashable, Sendable {
    /// The number of members.
    public var count: Int64
    /// The sum of the first halves of their hashes, modulo 2^64.
    public var first: UInt64
    /// The sum of the second halves.
    public var second: UInt64

    /// Makes a sum.
    public init(count: Int64 = 0, first: UInt64 = 0, second: UInt64 = 0) {
        self.count = count
        self.first = first
        self.second = second
    }

    /// Whether it is the sum of nothing.
    public var isZero: Bool { count == 0 && first == 0 && second == 0 }

    /// Adds members.
    @inline(__always)
    public static func += (left: inout DigestSum, right: DigestSum) {
        left.count &+= right.count
        left.first &+= right.first
        left.second &+= right.second
    }

    /// Takes members out.
    @inline(__always)
    public static func -= (left: inout DigestSum, right: DigestSum) {
        left.count &-= right.count
        left.first &-= right.first
        left.second &-= right.second
    }
}
