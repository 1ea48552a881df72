import Foundation

// The initializers of these types look at the storage class of a column and
// refuse NULL, so that another look before them would be wasted.

extension StatementColumnConvertible where Self: FixedWidthInteger {
    /// Decodes a column, or returns nil for NULL and for what does not fit.
    @inlinable @inline(__always)
    public static func fromStatement(
        _ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt
    ) -> Self? {
        self.init(sqliteStatement: sqliteStatement, index: index)
    }
}

extension Bool {
    /// Decodes a column, or returns nil for NULL and for what does not fit.
    @inlinable @inline(__always)
    public static func fromStatement(
        _ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt
    ) -> Bool? {
        Bool(sqliteStatement: sqliteStatement, index: index)
    }
}

extension Double {
    /// Decodes a column, or returns nil for NULL and for what does not fit.
    @inlinable @inline(__always)
    public static func fromStatement(
        _ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt
    ) -> Double? {
        Double(sqliteStatement: sqliteStatement, index: index)
    }
}

extension Float {
    /// Decodes a column, or returns nil for NULL and for what does not fit.
    @inlinable @inline(__always)
    public static func fromStatement(
        _ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt
    ) -> Float? {
        Float(sqliteStatement: sqliteStatement, index: index)
    }
}

extension String {
    /// Decodes a column, or returns nil for NULL and for what does not fit.
    @inlinable @inline(__always)
    public static func fromStatement(
        _ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt
    ) -> String? {
        String(sqliteStatement: sqliteStatement, index: index)
    }
}

extension Data {
    /// Decodes a column, or returns nil for NULL and for what does not fit.
    @inlinable @inline(__always)
    public static func fromStatement(
        _ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt
    ) -> Data? {
        Data(sqliteStatement: sqliteStatement, index: index)
    }
}

extension UUID {
    /// Decodes a column, or returns nil for NULL and for what does not fit.
    @inlinable @inline(__always)
    public static func fromStatement(
        _ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt
    ) -> UUID? {
        UUID(sqliteStatement: sqliteStatement, index: index)
    }
}

extension Date {
    /// Decodes a column, or returns nil for NULL and for what does not fit.
    @inlinable @inline(__always)
    public static func fromStatement(
        _ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt
    ) -> Date? {
        Date(sqliteStatement: sqliteStatement, index: index)
    }
}
