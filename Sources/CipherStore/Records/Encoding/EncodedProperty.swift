/// How a property of a record is encoded.
struct EncodedProperty {
    enum Kind {
        /// By the database value that its type gives.
        case value(any DatabaseValueConvertible.Type)
        /// By what the value encodes: itself, or JSON.
        case encodable

        init(_ type: any Encodable.Type) {
            // An optional gives its value to the encoder, which knows the strategies.
            if !(type is any AnyOptional.Type), let type = type as? any DatabaseValueConvertible.Type {
                self = .value(type)
            } else {
                self = .encodable
            }
        }
    }

    let type: ObjectIdentifier
    let kind: Kind
}

/// Any `Optional`.
protocol AnyOptional {}
extension Optional: AnyOptional {}

/// The coding keys that are expected at the positions of a record.
///
/// The keys of a record are mostly an enum, of one byte. To compare the byte and
/// the type says whether two keys are the same without asking them for their strings.
final class ExpectedKeys {
    private struct Entry {
        var type: ObjectIdentifier?
        var byte: UInt8 = 0
    }

    /// Made for the first key, because many encoders are for one record only.
    @exclusivity(unchecked) private var entries: UnsafeMutablePointer<Entry>?
    @exclusivity(unchecked) private var count = 0
    private static let maximumCount = 256

    deinit { entries?.deallocate() }

    /// Whether it is known that a key is the one at a position.
    @inline(__always)
    func has<Key: CodingKey>(_ key: Key, at position: Int) -> Bool {
        guard MemoryLayout<Key>.size == 1, position < count, let entries else { return false }
        return entries[position].byte == unsafeBitCast(key, to: UInt8.self)
            && entries[position].type == ObjectIdentifier(Key.self)
    }

    /// Remembers the key at a position.
    func learn<Key: CodingKey>(_ key: Key, at position: Int) {
        guard MemoryLayout<Key>.size == 1, position < Self.maximumCount else { return }
        let entries = self.entries ?? .allocate(capacity: Self.maximumCount)
        self.entries = entries
        while count <= position {
            (entries + count).initialize(to: Entry())
            count += 1
        }
        entries[position] = Entry(type: ObjectIdentifier(Key.self), byte: unsafeBitCast(key, to: UInt8.self))
    }

    func removeAll() { count = 0 }
}
