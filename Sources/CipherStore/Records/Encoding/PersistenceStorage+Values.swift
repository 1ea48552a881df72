import Foundation

// Records set columns by values of types that are mostly known where they are
// encoded. There the choice below is made by the compiler.

extension PersistenceContainer.Storage {
    /// Sets a column; nil is NULL.
    @inlinable @inline(__always)
    func encode<Value: DatabaseValueConvertible>(_ value: Value?, for column: String) {
        guard let value else {
            return Value.self == UUID.self ? setNilUUID(for: column) : setNull(for: column)
        }
        // The types are equal, so that the casts change nothing.
        if Value.self == String.self {
            set(unsafeBitCast(value, to: String.self), for: column)
        } else if Value.self == Int.self {
            set(Int64(unsafeBitCast(value, to: Int.self)), for: column)
        } else if Value.self == Int64.self {
            set(unsafeBitCast(value, to: Int64.self), for: column)
        } else if Value.self == Double.self {
            set(unsafeBitCast(value, to: Double.self), for: column)
        } else if Value.self == Bool.self {
            set(unsafeBitCast(value, to: Bool.self) ? 1 as Int64 : 0, for: column)
        } else if Value.self == Date.self {
            set(unsafeBitCast(value, to: Date.self), for: column)
        } else if Value.self == UUID.self {
            set(unsafeBitCast(value, to: UUID.self), for: column)
        } else if Value.self == Data.self {
            set(unsafeBitCast(value, to: Data.self), for: column)
        } else {
            set(value.databaseValue, for: column)
        }
    }

    @usableFromInline func setNull(for column: String) { set(EncodedValue.null, for: column) }

    @usableFromInline func setNilUUID(for column: String) {
        noteNilUUID()
        set(EncodedValue.null, for: column)
    }

    @usableFromInline func set(_ value: Int64, for column: String) { set(EncodedValue(value), for: column) }

    @usableFromInline func set(_ value: Double, for column: String) { set(EncodedValue(value), for: column) }

    @usableFromInline func set(_ value: String, for column: String) { set(text(value), for: column) }

    @usableFromInline func set(_ value: Date, for column: String) { set(date(value), for: column) }

    @usableFromInline func set(_ value: UUID, for column: String) { set(uuid(value), for: column) }

    @usableFromInline func set(_ value: Data, for column: String) { set(data(value), for: column) }

    @usableFromInline func set(_ value: DatabaseValue, for column: String) {
        set(encoded(value), for: column)
    }

    /// Copies the bytes of a UUID into the memory.
    @inline(__always)
    func uuid(_ uuid: UUID) -> EncodedValue { withUnsafeBytes(of: uuid) { blob($0) } }

    /// Copies data into the memory.
    @inline(never)
    func data(_ data: Data) -> EncodedValue { data.withUnsafeBytes { blob($0) } }
}
