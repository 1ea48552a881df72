import Crypto

/// Hashes what a database says of its rows, the same in all its replicas.
///
/// The key comes from the identifier of the database. Local numbers and names don't go in:
/// sums are kept by table and column, and these are matched by their names.
public struct StateHasher: Sendable {
    private let key: (UInt64, UInt64)

    private enum Kind {
        static let row: UInt64 = 1
        static let cell: UInt64 = 2
        static let value: UInt64 = 3
        static let bucket: UInt64 = 4
    }

    /// How many buckets the rows of a table are in, when a difference is looked for.
    public static let bucketCount = 256

    /// Makes the hasher of a database.
    public init(store: StoreID) {
        var hash = SHA256()
        hash.update(data: Array("CipherStore state digest 1".utf8))
        hash.update(data: store.bytes)
        let bytes = Array(hash.finalize())
        key = bytes.withUnsafeBytes {
            (
                UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    @inline(__always)
    private func begin(_ kind: UInt64, _ rowKey: UnsafeRawBufferPointer, _ isText: Bool) -> KeyedHash {
        var hash = KeyedHash(key: key)
        hash.add(kind)
        hash.add(rowKey, tag: isText ? WireTag.text : WireTag.blob)
        return hash
    }

    @inline(__always)
    private func sum(_ hash: consuming KeyedHash) -> DigestSum {
        let (first, second) = hash.finish()
        return DigestSum(count: 1, first: first, second: second)
    }

    /// The hash of a row that exists: its key, its life, and its last write as a whole.
    @inline(__always)
    public func row(
        _ rowKey: UnsafeRawBufferPointer, isText: Bool, life: Int64, timestamp: Int64, replica: ReplicaID
    ) -> DigestSum {
        var hash = begin(Kind.row, rowKey, isText)
        hash.add(UInt64(bitPattern: life))
        hash.add(UInt64(bitPattern: timestamp))
        hash.add(replica.high)
        hash.add(replica.low)
        return sum(hash)
    }

    /// The hash of a write of one column.
    ///
    /// - parameter rowKey: The key of the row.
    /// - parameter timestamp: When it was written.
    /// - parameter isText: Whether the key is text.
    /// - parameter replica: Who wrote it.
    /// - parameter column: A number that both sides agreed on; 0 where each column has a sum of its own.
    @inline(__always)
    public func cell(
        _ rowKey: UnsafeRawBufferPointer, isText: Bool, column: Int = 0, timestamp: Int64, replica: ReplicaID
    ) -> DigestSum {
        var hash = begin(Kind.cell, rowKey, isText)
        hash.add(UInt64(column))
        hash.add(UInt64(bitPattern: timestamp))
        hash.add(replica.high)
        hash.add(replica.low)
        return sum(hash)
    }

    /// The hash of a value, by its type and its bytes.
    public func value(
        _ rowKey: UnsafeRawBufferPointer, isText: Bool, column: Int, _ value: WireValue
    ) -> DigestSum {
        var hash = begin(Kind.value, rowKey, isText)
        hash.add(UInt64(column))
        switch value {
        case .null: hash.add(UInt64(WireTag.null))
        case .integer(let number):
            hash.add(UInt64(WireTag.integer))
            hash.add(UInt64(bitPattern: number))
        case .real(let number):
            hash.add(UInt64(WireTag.real))
            hash.add(number.bitPattern)
        case .text(let bytes): hash.add(bytes, tag: WireTag.text)
        case .blob(let bytes): hash.add(bytes, tag: WireTag.blob)
        }
        return sum(hash)
    }

    /// The bucket of a row.
    public func bucket(_ rowKey: UnsafeRawBufferPointer, isText: Bool) -> UInt8 {
        UInt8(truncatingIfNeeded: begin(Kind.bucket, rowKey, isText).finish().0)
    }
}
