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

    /// Decodes a column.
    @inlinable public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = RawValue(sqliteStatement, index)
        switch column.storageClass {
        case RawColumn.textClass: self = column.string
        case RawColumn.blobClass:
            self.init(data: Data(column.blob), encoding: .utf8)
        default: return nil
        }
    }

    /// Binds the text.
    @inlinable public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        RawBinding.string(sqliteStatement, index, self)
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

    /// Decodes a column.
    @inlinable public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = RawValue(sqliteStatement, index)
        switch column.storageClass {
        case RawColumn.blobClass: self = Data(column.blob)
        case RawColumn.textClass: self = Data(column.text)
        default: return nil
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
        self.init(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}
