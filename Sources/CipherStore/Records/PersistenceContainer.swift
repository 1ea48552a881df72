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
        if let failure = storage.failure { throw failure }
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
            storage.encode(newValue, for: column)
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
    mutating func set(_ value: DatabaseValue, for column: String) {
        makeUnique()
        storage.set(value, for: column)
    }

    /// Makes the container the only one that has its storage.
    @inlinable @inline(__always)
    mutating func makeUnique() {
        if !isKnownUniquelyReferenced(&storage) { makeCopy() }
    }

    @usableFromInline mutating func makeCopy() { storage = storage.copy() }

    /// Returns the value of a column, or nil when it was not set.
    @usableFromInline
    func value(of column: String) -> DatabaseValue? {
        index(of: column).map { storage.databaseValue(at: $0) }
    }

    /// Returns the position of a column that was set.
    func index(of column: String) -> Int? { storage.index(of: column) }

    /// Returns the value of the column at a position.
    func value(at position: Int) -> DatabaseValue { storage.databaseValue(at: position) }

    /// Returns whether the value of the column at a position is NULL.
    func isNull(at position: Int) -> Bool { storage.isNull(at: position) }

    /// The values of the columns, in order.
    var values: [DatabaseValue] { storage.values }

    /// The names of the columns that were set, in order.
    var columns: [String] { storage.columns }

    /// The columns and their values.
    var dictionary: [String: DatabaseValue] {
        Dictionary(zip(storage.columns, storage.values), uniquingKeysWith: { first, _ in first })
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
