import Foundation

// A database value converts to a number only when it is a number, and only when
// it is in range; a fraction is cut off. A column is also read from text, as
// SQLite's own accessors do it: the digits at the start count, and a text that
// does not begin with a number is zero.

extension Int64: DatabaseValueConvertible, StatementColumnConvertible {
    /// The integer.
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(self)) }

    /// Decodes integers, and floating-point numbers that are in range.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Int64? {
        switch dbValue.content {
        case .int64(let value): value
        case .double(let value): Int64(inRange: value)
        default: nil
        }
    }

    private init?(inRange value: Double) {
        guard value >= -0x1p63, value < 0x1p63 else { return nil }
        self = Int64(value)
    }

    /// Decodes a column.
    @inlinable public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = RawValue(sqliteStatement, index)
        if column.storageClass == RawColumn.integerClass {
            self = column.int64
        } else {
            self.init(converting: column)
        }
    }

    /// Decodes a column that is no integer.
    @usableFromInline init?(converting column: RawValue) {
        switch column.storageClass {
        case RawColumn.nullClass: return nil
        case RawColumn.realClass: self.init(inRange: column.double)
        default: self = column.int64
        }
    }

    /// Binds the integer.
    @inlinable public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        RawBinding.int64(sqliteStatement, index, self)
    }
}

extension Int: DatabaseValueConvertible, StatementColumnConvertible {
    /// The integer.
    public var databaseValue: DatabaseValue { Int64(self).databaseValue }

    /// Decodes integers that are in range.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Int? {
        Int64.fromDatabaseValue(dbValue).flatMap(Int.init(exactly:))
    }

    /// Decodes a column.
    @inlinable public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = Int64(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self.init(exactly: value)
    }

    /// Binds the integer.
    @inlinable public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        RawBinding.int64(sqliteStatement, index, Int64(self))
    }
}

// `Codable` is named because the types have its conversions too.
extension DatabaseValueConvertible where Self: FixedWidthInteger & Codable {
    /// The integer.
    ///
    /// SQLite has no integers that are greater than `Int64.max`. A statement or a
    /// record that is to store one throws a ``DatabaseError`` of code `SQLITE_MISMATCH`.
    public var databaseValue: DatabaseValue {
        Int64(exactly: self)?.databaseValue ?? DatabaseValue(unencodable: self)
    }

    /// Decodes integers that are in range.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        Int64.fromDatabaseValue(dbValue).flatMap { Self(exactly: $0) }
    }

    /// Binds the integer.
    ///
    /// - returns: An SQLite result code: `SQLITE_MISMATCH` for an integer that is
    ///   greater than `Int64.max`, because SQLite has no such integers.
    @inlinable public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        guard let value = Int64(exactly: self) else { return RawBinding.unencodable }
        return RawBinding.int64(sqliteStatement, index, value)
    }
}

extension StatementColumnConvertible where Self: FixedWidthInteger {
    /// Decodes a column.
    @inlinable public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = Int64(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self.init(exactly: value)
    }
}

extension Int8: DatabaseValueConvertible, StatementColumnConvertible {}
extension Int16: DatabaseValueConvertible, StatementColumnConvertible {}
extension Int32: DatabaseValueConvertible, StatementColumnConvertible {}
extension UInt: DatabaseValueConvertible, StatementColumnConvertible {}
extension UInt8: DatabaseValueConvertible, StatementColumnConvertible {}
extension UInt16: DatabaseValueConvertible, StatementColumnConvertible {}
extension UInt32: DatabaseValueConvertible, StatementColumnConvertible {}
extension UInt64: DatabaseValueConvertible, StatementColumnConvertible {}

extension Bool: DatabaseValueConvertible, StatementColumnConvertible {
    /// 1 or 0.
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .int64(self ? 1 : 0)) }

    /// Decodes numbers: zero is false, every other number is true.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Bool? {
        switch dbValue.content {
        case .int64(let value): value != 0
        case .double(let value): value != 0
        default: nil
        }
    }

    /// Decodes a column.
    @inlinable public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = RawValue(sqliteStatement, index)
        switch column.storageClass {
        case RawColumn.integerClass: self = column.int64 != 0
        case RawColumn.nullClass: return nil
        default: self = column.double != 0
        }
    }

    /// Binds 1 or 0.
    @inlinable public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        RawBinding.int64(sqliteStatement, index, self ? 1 : 0)
    }
}

extension Double: DatabaseValueConvertible, StatementColumnConvertible {
    /// The number. SQLite stores NaN as NULL.
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .double(self)) }

    /// Decodes numbers.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Double? {
        switch dbValue.content {
        case .int64(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// Decodes a column.
    @inlinable public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = RawValue(sqliteStatement, index)
        if column.storageClass == RawColumn.nullClass { return nil }
        self = column.double
    }

    /// Binds the number.
    @inlinable public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        RawBinding.double(sqliteStatement, index, self)
    }
}

extension Float: DatabaseValueConvertible, StatementColumnConvertible {
    /// The number.
    public var databaseValue: DatabaseValue { Double(self).databaseValue }

    /// Decodes numbers.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Float? {
        Double.fromDatabaseValue(dbValue).map { Float($0) }
    }

    /// Decodes a column.
    @inlinable public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = Double(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self.init(value)
    }

    /// Binds the number.
    @inlinable public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        RawBinding.double(sqliteStatement, index, Double(self))
    }
}

extension CGFloat: DatabaseValueConvertible, StatementColumnConvertible {
    /// The number.
    public var databaseValue: DatabaseValue { Double(self).databaseValue }

    /// Decodes numbers.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> CGFloat? {
        Double.fromDatabaseValue(dbValue).map { CGFloat($0) }
    }

    /// Decodes a column.
    @inlinable public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = Double(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self.init(value)
    }

    /// Binds the number.
    @inlinable public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        RawBinding.double(sqliteStatement, index, Double(self))
    }
}
