import Foundation

/// The columns that a record writes, and their values.
///
/// A record fills one in its ``EncodableRecord/encode(to:)``:
///
/// ```swift
/// func encode(to container: inout PersistenceContainer) {
///     container["id"] = id
///     container["name"] = name
/// }
/// ```
///
/// Columns keep the order in which they were set. Names have no case, as in
/// SQLite: to set `"NAME"` after `"name"` replaces the value of the one column.
/// A column that was read back is encoded in the database as the one that was
/// set, but it is not always of the same Swift type.
public struct PersistenceContainer: Sendable {
    @usableFromInline var storage: Storage

    /// Makes an empty container.
    public init() {
        storage = Storage()
    }

    init(_ storage: Storage) {
        self.storage = storage
    }

    /// Makes a container of what a record encodes.
    init(_ record: some EncodableRecord) throws {
        self.init()
        try record.encode(to: &self)
    }

    /// The value of a column; nil is NULL.
    @_disfavoredOverload
    public subscript(_ column: String) -> (any DatabaseValueConvertible)? {
        get { value(of: column)?.storage.value }
        set { set(newValue?.databaseValue ?? .null, for: column) }
    }

    /// The value of a column; nil is NULL.
    ///
    /// It is the same as the subscript above for a value whose type is known
    /// at compile time, without the box.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ column: String) -> Value? {
        get { value(of: column).flatMap(Value.fromDatabaseValue) }
        set {
            makeUnique()
            guard let newValue else {
                if Value.self == UUID.self { storage.noteNilUUID() }
                return storage.set(.null, for: column)
            }
            storage.set(newValue.databaseValue, for: column)
        }
    }

    /// The value of a column; nil is NULL.
    @_disfavoredOverload
    public subscript(_ column: some ColumnExpression) -> (any DatabaseValueConvertible)? {
        get { self[column.name] }
        set { self[column.name] = newValue }
    }

    /// The value of a column; nil is NULL.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ column: some ColumnExpression) -> Value? {
        get { self[column.name] }
        set { self[column.name] = newValue }
    }

    /// Sets the value of a column.
    @inlinable
    mutating func set(_ value: DatabaseValue, for column: String) {
        makeUnique()
        storage.set(value, for: column)
    }

    /// Makes the container the only one that has its storage.
    @inlinable @inline(__always)
    mutating func makeUnique() {
        if !isKnownUniquelyReferenced(&storage) { storage = storage.copy() }
    }

    /// Returns the value of a column, or nil when it was not set.
    @usableFromInline
    func value(of column: String) -> DatabaseValue? {
        index(of: column).map { storage.values[$0] }
    }

    /// Returns the position of a column that was set.
    func index(of column: String) -> Int? { storage.index(of: column) }

    /// The values of the columns, in order.
    var values: [DatabaseValue] { storage.values }

    /// The names of the columns that were set, in order.
    var columns: [String] { storage.columns }

    /// The columns and their values.
    var dictionary: [String: DatabaseValue] {
        Dictionary(zip(storage.names, storage.values), uniquingKeysWith: { first, _ in first })
    }
}

extension PersistenceContainer {
    /// What a container has: an object, so that a container costs one reference
    /// when it is passed on, and so that the next record can use its memory.
    ///
    /// It is `@unchecked Sendable` because a container changes only an object
    /// that it alone has.
    @usableFromInline final class Storage: @unchecked Sendable {
        /// The names of the columns that were set.
        ///
        /// While a record is encoded along the columns of one before it, there
        /// may be names that wait for their values.
        @exclusivity(unchecked) @usableFromInline var names: [String]

        /// The values of the first names.
        @exclusivity(unchecked) @usableFromInline var values: [DatabaseValue]

        /// Whether each column was set in the order of the names that were expected.
        @exclusivity(unchecked) @usableFromInline var followsExpectation = true

        /// The positions, below 64, at which a UUID was nil: what a new key is made for.
        @exclusivity(unchecked) @usableFromInline var nilUUIDs: UInt64 = 0

        /// The encoder of `Encodable` records, so that the next one can use it.
        @exclusivity(unchecked) var encoder: RecordEncoder?

        /// Makes an empty storage for a record that is expected to set these
        /// columns, in this order. It may set others.
        @usableFromInline init(expecting names: [String] = []) {
            self.names = names
            values = []
            values.reserveCapacity(names.count)
        }

        /// Empties the storage for the next record.
        func reset(expecting names: [String]) {
            if !followsExpectation || self.names.count != names.count { self.names = names }
            values.removeAll(keepingCapacity: true)
            followsExpectation = true
            nilUUIDs = 0
        }

        @usableFromInline func copy() -> Storage {
            let copy = Storage()
            copy.names = names
            copy.values = values
            copy.followsExpectation = followsExpectation
            copy.nilUUIDs = nilUUIDs
            return copy
        }

        /// Sets the value of a column.
        @inlinable
        func set(_ value: DatabaseValue, for column: String) {
            let index = values.count
            if index < names.count, names[index] == column {
                values.append(value)
            } else {
                setUnexpected(value, for: column)
            }
        }

        /// Sets a column that is not the next of those expected.
        @usableFromInline
        func setUnexpected(_ value: DatabaseValue, for column: String) {
            if let index = index(of: column) {
                values[index] = value
            } else {
                followsExpectation = false
                names.removeSubrange(values.count...)
                names.append(column)
                values.append(value)
            }
        }

        /// Notes that the UUID that is set next is nil.
        @inlinable
        func noteNilUUID() {
            if values.count < 64 { nilUUIDs |= 1 << UInt64(values.count) }
        }

        /// Returns the position of a column that was set.
        func index(of column: String) -> Int? {
            if let index = names.firstIndex(of: column) { return index < values.count ? index : nil }
            return names[..<values.count].firstIndex { $0.isSameName(as: column) }
        }

        /// The names of the columns that were set, in order.
        var columns: [String] {
            names.count == values.count ? names : Array(names[..<values.count])
        }
    }
}

extension String {
    /// Returns whether two names are the same to SQLite, which ignores the case
    /// of ASCII letters.
    func isSameName(as other: String) -> Bool {
        utf8.elementsEqual(other.utf8) { $0 == $1 || Self.lowercase($0) == Self.lowercase($1) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        byte &- 65 < 26 ? byte | 32 : byte
    }
}
