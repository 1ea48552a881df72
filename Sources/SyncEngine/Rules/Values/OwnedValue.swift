import CipherStore
import SyncWire

/// A value with memory of its own, for when the statement that it was read
/// from moves on.
final class OwnedValue {
    /// The value; its bytes live as long as this object.
    let value: WireValue
    private let memory: UnsafeMutableRawBufferPointer?

    /// Copies a value.
    init(copying value: WireValue) {
        switch value {
        case .text(let bytes):
            let copy = Self.copy(bytes)
            memory = copy
            self.value = .text(UnsafeRawBufferPointer(rebasing: copy.prefix(bytes.count)))
        case .blob(let bytes):
            let copy = Self.copy(bytes)
            memory = copy
            self.value = .blob(UnsafeRawBufferPointer(rebasing: copy.prefix(bytes.count)))
        default:
            memory = nil
            self.value = value
        }
    }

    deinit { memory?.deallocate() }

    /// Copies a value that was fetched.
    static func make(_ value: DatabaseValue) -> OwnedValue {
        switch value.storage {
        case .null: OwnedValue(copying: .null)
        case .int64(let number): OwnedValue(copying: .integer(number))
        case .double(let number): OwnedValue(copying: .real(number))
        case .string(let text): Array(text.utf8).withUnsafeBytes { OwnedValue(copying: .text($0)) }
        case .blob(let data): data.withUnsafeBytes { OwnedValue(copying: .blob($0)) }
        }
    }

    private static func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawBufferPointer {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 1)
        copy.copyMemory(from: bytes)
        return copy
    }
}

extension WireValue {
    /// A column of a statement's current row, without a copy.
    @inline(__always)
    init(_ statement: SQLiteStatement, _ index: CInt) {
        switch RawColumn.storageClass(statement, index) {
        case RawColumn.integerClass: self = .integer(RawColumn.int64(statement, index))
        case RawColumn.realClass: self = .real(RawColumn.double(statement, index))
        case RawColumn.textClass: self = .text(RawColumn.text(statement, index))
        case RawColumn.blobClass: self = .blob(RawColumn.blob(statement, index))
        default: self = .null
        }
    }

    /// Binds the value to a parameter.
    @inline(__always)
    @discardableResult
    func bind(_ statement: SQLiteStatement, _ index: CInt) -> CInt {
        switch self {
        case .null: RawBinding.null(statement, index)
        case .integer(let number): RawBinding.int64(statement, index, number)
        case .real(let number): RawBinding.double(statement, index, number)
        case .text(let bytes): RawBinding.text(statement, index, bytes)
        case .blob(let bytes): RawBinding.blob(statement, index, bytes)
        }
    }

    /// Binds the value to a parameter of a statement that writes it. SQLite leaves a parameter NULL for which it does not take
    /// a value, such as one that is longer than any may be.
    ///
    /// - throws: `DatabaseError`, before anything is written.
    @inline(__always)
    func bind(to statement: Statement, _ index: CInt) throws {
        let code = bind(statement.sqliteStatement, index)
        // SQLITE_OK.
        guard code == 0 else { throw Self.refusal(code, statement) }
    }

    @inline(never)
    private static func refusal(_ code: CInt, _ statement: Statement) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code), sql: statement.sql)
    }
}

/// The key of a row: the bytes belong to somebody else.
struct RowKey {
    let bytes: UnsafeRawBufferPointer
    let isText: Bool

    var value: WireValue { isText ? .text(bytes) : .blob(bytes) }
}
