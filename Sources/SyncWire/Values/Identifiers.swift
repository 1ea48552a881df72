/// Sixteen random bytes that name something for ever.
public struct Identifier128: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The first eight bytes, in big-endian order.
    public let high: UInt64
    /// The last eight bytes, in big-endian order.
    public let low: UInt64

    /// Makes an identifier of its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Makes an identifier of exactly 16 bytes.
    public init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        high = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// The 16 bytes.
    public var bytes: [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }

    /// Compares the bytes in order.
    public static func < (left: Identifier128, right: Identifier128) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    /// The bytes in hexadecimal.
    public var description: String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    /// The first four hexadecimal digits, for people.
    public var shortDescription: String { String(description.prefix(4)) }
}

/// The identity of one copy of a database: a file on one device.
public typealias ReplicaID = Identifier128

/// The identity that all replicas of a database share.
public typealias StoreID = Identifier128
