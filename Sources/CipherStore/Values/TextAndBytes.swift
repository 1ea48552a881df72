import Foundation

extension String: DatabaseValueConvertible, StatementColumnConvertible {
    /// The text.
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .string(self)) }

    /// Decodes text, and blobs that hold UTF-8.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> String? {
        switch dbValue.storage {
        case .string(let value): value
        case .blob(let value): String(data: value, encoding: .utf8)
        default: nil
        }
    }

    /// Decodes a column. Numbers are written as SQLite writes them, and invalid
    /// UTF-8 is repaired.
    @inlinable public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = RawValue(sqliteStatement, index)
        switch column.storageClass {
        case RawColumn.nullClass: return nil
        case RawColumn.blobClass: self.init(decoding: column.blob, as: UTF8.self)
        default: self = column.string
        }
    }

    /// Binds the text.
    @inlinable public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        RawBinding.string(sqliteStatement, index, self)
    }
}

extension Substring: DatabaseValueConvertible, StatementColumnConvertible {
    /// The text.
    public var databaseValue: DatabaseValue { String(self).databaseValue }

    /// Decodes text, and blobs that hold UTF-8.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Substring? {
        String.fromDatabaseValue(dbValue).map { $0[...] }
    }

    /// Decodes a column as a string does.
    @inlinable public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let text = String(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self = text[...]
    }

    /// Binds the text.
    @inlinable public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        var text = self
        return text.withUTF8 { RawBinding.text(sqliteStatement, index, UnsafeRawBufferPointer($0)) }
    }
}

extension URL: DatabaseValueConvertible, StatementColumnConvertible {
    /// The absolute URL as text.
    public var databaseValue: DatabaseValue { absoluteString.databaseValue }

    /// Decodes text, and blobs that hold UTF-8.
    ///
    /// - returns: nil for text that is no URL, such as an empty one.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> URL? {
        String.fromDatabaseValue(dbValue).flatMap { URL(string: $0) }
    }

    /// Decodes a column.
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let text = String(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self.init(string: text)
    }

    /// Binds the absolute URL as text.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        absoluteString.bind(to: sqliteStatement, at: index)
    }
}

extension Data: DatabaseValueConvertible, StatementColumnConvertible {
    /// The bytes.
    public var databaseValue: DatabaseValue { DatabaseValue(storage: .blob(self)) }

    /// Decodes blobs, and the UTF-8 bytes of text.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Data? {
        switch dbValue.storage {
        case .blob(let value): value
        case .string(let value): Data(value.utf8)
        default: nil
        }
    }

    /// Decodes a column. Numbers are the bytes of their text.
    @inlinable public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = RawValue(sqliteStatement, index)
        switch column.storageClass {
        case RawColumn.nullClass: return nil
        case RawColumn.blobClass: self = Data(column.blob)
        default: self = Data(column.text)
        }
    }

    /// Binds the bytes.
    @inlinable public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        withUnsafeBytes { RawBinding.blob(sqliteStatement, index, $0) }
    }
}

extension UUID: DatabaseValueConvertible, StatementColumnConvertible {
    /// The 16 bytes of the UUID.
    public var databaseValue: DatabaseValue {
        withUnsafeBytes(of: uuid) { DatabaseValue(bytes: $0) }
    }

    /// Decodes 16-byte blobs, and text.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> UUID? {
        switch dbValue.content {
        case .sixteenBytes(let first, let second): withUnsafeBytes(of: (first, second)) { UUID(bytes: $0) }
        case .string(let value): UUID(uuidString: value)
        default: nil
        }
    }

    /// Decodes a column.
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = RawValue(sqliteStatement, index)
        switch column.storageClass {
        case RawColumn.blobClass: self.init(bytes: column.blob)
        case RawColumn.textClass: self.init(uuidString: column.string)
        default: return nil
        }
    }

    /// Binds the 16 bytes.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        withUnsafeBytes(of: uuid) { RawBinding.blob(sqliteStatement, index, $0) }
    }

    /// Makes a UUID of exactly 16 bytes.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        self = bytes.loadUnaligned(as: UUID.self)
    }
}
