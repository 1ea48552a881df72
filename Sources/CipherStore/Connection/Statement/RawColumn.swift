import CSQLCipher

/// Direct access to the columns of a statement's current row.
///
/// This is the path that decodes without a copy and without a dynamic cast.
/// The caller guarantees that the statement has a current row and that the
/// index is in range; bytes are valid until the statement moves on.
public enum RawColumn {
    /// The storage class of a column.
    public typealias StorageClass = CInt

    /// The storage class of integers.
    @inlinable public static var integerClass: StorageClass { SQLITE_INTEGER }
    /// The storage class of floating-point numbers.
    @inlinable public static var realClass: StorageClass { SQLITE_FLOAT }
    /// The storage class of text.
    @inlinable public static var textClass: StorageClass { SQLITE_TEXT }
    /// The storage class of blobs.
    @inlinable public static var blobClass: StorageClass { SQLITE_BLOB }
    /// The storage class of NULL.
    @inlinable public static var nullClass: StorageClass { SQLITE_NULL }

    /// Returns the storage class of a column.
    @inlinable @inline(__always)
    public static func storageClass(_ statement: SQLiteStatement, _ index: CInt) -> StorageClass {
        sqlite3_column_type(statement, index)
    }

    /// Returns whether a column is NULL.
    @inlinable @inline(__always)
    public static func isNull(_ statement: SQLiteStatement, _ index: CInt) -> Bool {
        sqlite3_column_type(statement, index) == SQLITE_NULL
    }

    /// Returns a column as a 64-bit integer.
    @inlinable @inline(__always)
    public static func int64(_ statement: SQLiteStatement, _ index: CInt) -> Int64 {
        sqlite3_column_int64(statement, index)
    }

    /// Returns a column as a floating-point number.
    @inlinable @inline(__always)
    public static func double(_ statement: SQLiteStatement, _ index: CInt) -> Double {
        sqlite3_column_double(statement, index)
    }

    /// Returns the UTF-8 bytes of a text column.
    @inlinable @inline(__always)
    public static func text(_ statement: SQLiteStatement, _ index: CInt) -> UnsafeRawBufferPointer {
        guard let pointer = sqlite3_column_text(statement, index) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: pointer, count: Int(sqlite3_column_bytes(statement, index)))
    }

    /// Returns the bytes of a blob column.
    @inlinable @inline(__always)
    public static func blob(_ statement: SQLiteStatement, _ index: CInt) -> UnsafeRawBufferPointer {
        guard let pointer = sqlite3_column_blob(statement, index) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: pointer, count: Int(sqlite3_column_bytes(statement, index)))
    }

    /// Returns a text column as a string; invalid UTF-8 is repaired.
    @inlinable @inline(__always)
    public static func string(_ statement: SQLiteStatement, _ index: CInt) -> String {
        String(decoding: text(statement, index), as: UTF8.self)
    }

    /// Returns the number of columns of a statement's result.
    @inlinable
    public static func count(_ statement: SQLiteStatement) -> CInt {
        sqlite3_column_count(statement)
    }
}

/// A column of a statement's current row, looked up once.
///
/// To ask the statement for the type and then for the content would look the
/// column up twice. SQLite calls such a value unprotected, which makes no
/// difference here: connections are opened with `SQLITE_OPEN_NOMUTEX`, and one
/// thread at a time uses them.
/// Related SQLite documentation: <https://www.sqlite.org/c3ref/value.html>
@usableFromInline package struct RawValue {
    @usableFromInline let value: OpaquePointer?

    @inlinable @inline(__always)
    package init(_ statement: SQLiteStatement, _ index: CInt) {
        value = sqlite3_column_value(statement, index)
    }

    @inlinable @inline(__always)
    package var storageClass: RawColumn.StorageClass { sqlite3_value_type(value) }

    @inlinable @inline(__always)
    package var int64: Int64 { sqlite3_value_int64(value) }

    @inlinable @inline(__always)
    package var double: Double { sqlite3_value_double(value) }

    /// The UTF-8 bytes of a text.
    @inlinable @inline(__always)
    package var text: UnsafeRawBufferPointer {
        guard let pointer = sqlite3_value_text(value) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: pointer, count: Int(sqlite3_value_bytes(value)))
    }

    /// The bytes of a blob.
    @inlinable @inline(__always)
    package var blob: UnsafeRawBufferPointer {
        guard let pointer = sqlite3_value_blob(value) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: pointer, count: Int(sqlite3_value_bytes(value)))
    }

    /// A text; invalid UTF-8 is repaired.
    @inlinable @inline(__always)
    package var string: String {
        let bytes = text
        // Unlike String(decoding:as:), this puts up to 15 ASCII bytes in place without a call.
        return String(unsafeUninitializedCapacity: bytes.count) { buffer in
            UnsafeMutableRawBufferPointer(buffer).copyMemory(from: bytes)
            return bytes.count
        }
    }
}

/// Direct binding of statement parameters, counted from 1.
///
/// Each function returns an SQLite result code.
public enum RawBinding {
    /// The code for a value that SQLite can't store. SQLite itself does not
    /// return it for a binding.
    @inlinable public static var unencodable: CInt { SQLITE_MISMATCH }

    /// Binds an integer.
    @inlinable @inline(__always)
    public static func int64(_ statement: SQLiteStatement, _ index: CInt, _ value: Int64) -> CInt {
        sqlite3_bind_int64(statement, index, value)
    }

    /// Binds a floating-point number.
    @inlinable @inline(__always)
    public static func double(_ statement: SQLiteStatement, _ index: CInt, _ value: Double) -> CInt {
        sqlite3_bind_double(statement, index, value)
    }

    /// Binds NULL.
    @inlinable @inline(__always)
    public static func null(_ statement: SQLiteStatement, _ index: CInt) -> CInt {
        sqlite3_bind_null(statement, index)
    }

    /// Binds UTF-8 bytes as text. The bytes are copied.
    @inlinable
    public static func text(
        _ statement: SQLiteStatement, _ index: CInt, _ bytes: UnsafeRawBufferPointer
    ) -> CInt {
        guard bytes.count <= Int(CInt.max) else { return SQLITE_TOOBIG }
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            return csqlcipher_bind_text(statement, index, "", 0)
        }
        return csqlcipher_bind_text(
            statement, index, start.assumingMemoryBound(to: CChar.self), CInt(bytes.count))
    }

    /// Binds bytes as a blob. The bytes are copied.
    @inlinable
    public static func blob(
        _ statement: SQLiteStatement, _ index: CInt, _ bytes: UnsafeRawBufferPointer
    ) -> CInt {
        guard bytes.count <= Int(CInt.max) else { return SQLITE_TOOBIG }
        return csqlcipher_bind_blob(statement, index, bytes.baseAddress, CInt(bytes.count))
    }

    /// Binds a string as text.
    @inlinable
    public static func string(_ statement: SQLiteStatement, _ index: CInt, _ value: String) -> CInt {
        var value = value
        return value.withUTF8 { text(statement, index, UnsafeRawBufferPointer($0)) }
    }
}

/// Direct stepping of a statement.
public enum RawStep {
    /// Moves to the next row: true when there is one, false at the end, nil
    /// when the step failed and the error is on the connection.
    @inlinable @inline(__always)
    public static func next(_ statement: SQLiteStatement) -> Bool? {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: return nil
        }
    }

    /// Makes the statement ready to run again; its bindings stay.
    @inlinable @inline(__always)
    @discardableResult
    public static func reset(_ statement: SQLiteStatement) -> CInt {
        sqlite3_reset(statement)
    }
}
