/// A stamp whose replica is an index into the bundle's dictionary.
public struct WireStamp: Equatable, Sendable {
    /// The hybrid timestamp.
    public let timestamp: Int64
    /// The index of the replica.
    public let replica: Int
    /// The change's number among the replica's changes.
    public let sequence: Int64

    /// Makes a stamp.
    public init(timestamp: Int64, replica: Int, sequence: Int64) {
        self.timestamp = timestamp
        self.replica = replica
        self.sequence = sequence
    }

    static let zero = WireStamp(timestamp: 0, replica: 0, sequence: 0)
}

/// One row of a bundle, decoded.
///
/// A record is filled again for each row. Its bytes belong to the bundle's
/// buffer and are valid only while the row is visited.
public struct RowRecord {
    /// A column's value, and who wrote it when that is not the row's base.
    public struct Cell {
        /// The index of the column in the bundle's table.
        public let column: Int
        /// Who wrote the value.
        public let stamp: WireStamp
        /// The value.
        public let value: WireValue
    }

    /// A column's value as of the row's base.
    public struct BaseValue {
        /// The index of the column in the bundle's table.
        public let column: Int
        /// The value.
        public let value: WireValue
    }

    /// The index of the table.
    public internal(set) var table = 0
    /// The key: 16 bytes, or 36 characters.
    public internal(set) var key = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Whether the key is text.
    public internal(set) var isTextKey = false
    /// The row's life: odd while it exists, even once it is deleted.
    public internal(set) var life: Int64 = 0
    /// The last write of the whole row, when it is part of the bundle.
    public internal(set) var base: WireStamp?
    /// The values that the base wrote.
    public internal(set) var baseValues: [BaseValue] = []
    /// The values that were written after the base.
    public internal(set) var cells: [Cell] = []
    /// Whether the row is no longer among those that the receiver wants: it has a base and no values.
    public internal(set) var isLeave = false

    /// Whether the row exists.
    public var isAlive: Bool { life & 1 == 1 }

    /// Makes an empty record.
    public init() {}
}

/// The bits of a row's first byte.
enum RowFlag {
    static let base: UInt8 = 1
    static let allColumns: UInt8 = 2
    static let cells: UInt8 = 4
    static let keyKindShift: UInt8 = 3
    static let keyKindMask: UInt8 = 3
    static let leave: UInt8 = 32
    static let known: UInt8 = 0b11_1111
}

/// What the stamps of a chunk are differences to. It starts at zero in each
/// chunk that starts a row, so that chunks can be read on their own.
struct StampContext {
    private var previous = WireStamp.zero

    mutating func encode(_ stamp: WireStamp, to writer: inout WireWriter) {
        writer.unsigned(UInt64(stamp.replica))
        writer.signed(stamp.timestamp &- previous.timestamp)
        writer.signed(stamp.sequence &- previous.sequence)
        previous = stamp
    }

    mutating func decode(_ reader: inout WireReader, replicaCount: Int) throws(WireError) -> WireStamp {
        let replica = try reader.index(below: replicaCount, "replica")
        let timestamp = previous.timestamp &+ (try reader.signed())
        let sequence = previous.sequence &+ (try reader.signed())
        guard timestamp >= 0, sequence > 0 else { throw WireError(.malformed, "a stamp is not positive") }
        previous = WireStamp(timestamp: timestamp, replica: replica, sequence: sequence)
        return previous
    }
}
