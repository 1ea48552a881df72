/// A hybrid logical clock's reading: milliseconds of Unix time and a counter.
///
/// The upper 48 bits are milliseconds, the lower 16 count events that fall in
/// one millisecond, or that follow a clock which was ahead. Source: Kulkarni and
/// others, "Logical Physical Clocks and Consistent Snapshots", 2014.
public struct HybridTimestamp: Hashable, Comparable, Sendable {
    /// The milliseconds and the counter in one positive integer.
    public let rawValue: Int64

    /// Makes a timestamp of its integer.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Makes the first timestamp of a millisecond.
    public init(milliseconds: Int64) { rawValue = milliseconds << 16 }

    /// The Unix time in milliseconds.
    public var milliseconds: Int64 { rawValue >> 16 }

    /// The next timestamp. The last one is followed by itself, because a peer
    /// can send it and must not bring anybody down with it.
    public var next: HybridTimestamp {
        HybridTimestamp(rawValue: rawValue == .max ? rawValue : rawValue + 1)
    }

    /// Compares the integers.
    public static func < (left: HybridTimestamp, right: HybridTimestamp) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// Who wrote something, when, and as which of its changes.
public struct Stamp: Hashable, Sendable {
    /// When it was written.
    public let timestamp: HybridTimestamp
    /// The replica that wrote it.
    public let replica: ReplicaID
    /// The number of the change among that replica's changes, from 1.
    public let sequence: Int64

    /// Makes a stamp.
    public init(timestamp: HybridTimestamp, replica: ReplicaID, sequence: Int64) {
        self.timestamp = timestamp
        self.replica = replica
        self.sequence = sequence
    }

    /// Whether both are of one write, which may have got another number since.
    public func isSameWrite(as other: Stamp) -> Bool {
        timestamp == other.timestamp && replica == other.replica
    }

    /// Whether this stamp wins over another: by time, then by replica.
    public func isNewer(than other: Stamp) -> Bool {
        (timestamp, replica) > (other.timestamp, other.replica)
    }
}
