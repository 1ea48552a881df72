import SyncWire

/// The wrapped keys of an epoch for the devices that take part, in the bytes in which they travel.
///
/// A database of a thousand members has statements with half a million of them. So they are one piece of memory, and a
/// key is made of it when somebody asks for it.
public struct WrappedKeys: RandomAccessCollection, Hashable, Sendable {
    static let strideByteCount = recipientByteCount + Epoch.WrappedKey.byteCount
    private static let recipientByteCount = 16

    /// Recipient and wrapped key, one after another.
    let bytes: ArraySlice<UInt8>
    /// Whether each wrapped key that they were made of has as many bytes as it must.
    let areWhole: Bool

    /// Puts keys one after another.
    init(_ keys: some Sequence<Epoch.WrappedKey>) {
        var (bytes, areWhole): ([UInt8], Bool) = ([], true)
        for key in keys {
            bytes += key.recipient.bytes
            bytes += key.bytes
            areWhole = areWhole && key.bytes.count == Epoch.WrappedKey.byteCount
        }
        self.bytes = bytes[...]
        self.areWhole = areWhole
    }

    /// Takes bytes as they were read, a multiple of ``strideByteCount``, in the memory where they are.
    init(bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        areWhole = bytes.count % Self.strideByteCount == 0
    }

    /// 0.
    public var startIndex: Int { 0 }
    /// How many there are.
    public var endIndex: Int { bytes.count / Self.strideByteCount }

    /// A wrapped key, with whom it is for.
    public subscript(position: Int) -> Epoch.WrappedKey {
        let start = bytes.startIndex + position * Self.strideByteCount
        return Epoch.WrappedKey(
            recipient: recipient(at: position),
            bytes: Array(bytes[(start + Self.recipientByteCount)..<(start + Self.strideByteCount)]))
    }

    /// For whom a key is wrapped.
    func recipient(at position: Int) -> DeviceID {
        let start = position * Self.strideByteCount
        precondition(start >= 0 && start <= bytes.count - Self.strideByteCount)
        return bytes.withUnsafeBytes { bytes in
            DeviceID(
                high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self)))
        }
    }

    /// Those for whom the keys are.
    package var recipients: some RandomAccessCollection<DeviceID> { indices.lazy.map { recipient(at: $0) } }

    /// Whether the recipients are in ascending order, none twice.
    var areAscending: Bool {
        indices.dropFirst().allSatisfy { recipient(at: $0 - 1) < recipient(at: $0) }
    }

    /// The key for a device, where the recipients are in ascending order.
    func key(for device: DeviceID) -> Epoch.WrappedKey? {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if recipient(at: middle) < device { low = middle + 1 } else { high = middle }
        }
        return low < endIndex && recipient(at: low) == device ? self[low] : nil
    }
}
