import CSQLCipher
import Foundation

/// Binds the values of a statement's parameters.
///
/// Short texts and blobs are copied into memory that the statement keeps,
/// because SQLite would allocate and free a copy of each at every run.
struct ArgumentBuffer: ~Copyable {
    fileprivate let memory: UnsafeMutableRawBufferPointer

    /// Makes a buffer of so many bytes. What does not fit is left to SQLite.
    init(capacity: Int) {
        memory = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
    }

    /// The statement must be finalized by now: its parameters point here.
    deinit { memory.deallocate() }

    /// Binds values to the first parameters of a statement that is rewound.
    /// Values that were bound before are no longer valid.
    ///
    /// - returns: An SQLite result code.
    func bind(_ values: [DatabaseValue], to statement: SQLiteStatement) -> CInt {
        values.withUnsafeBufferPointer { values in
            var room = memory
            for index in values.indices {
                let parameter = CInt(truncatingIfNeeded: index &+ 1)
                // Texts and blobs go to functions of their own, so that nothing counts references
                // for the other kinds.
                let code =
                    switch values[index].content {
                    case .null: RawBinding.null(statement, parameter)
                    case .int64(let value): RawBinding.int64(statement, parameter, value)
                    case .double(let value): RawBinding.double(statement, parameter, value)
                    case .string(let value): Self.bind(value, to: statement, at: parameter, &room)
                    case .blob(let value): Self.bind(value, to: statement, at: parameter, &room)
                    case .sixteenBytes(let first, let second):
                        withUnsafeBytes(of: (first, second)) {
                            Self.bind($0, to: statement, at: parameter, &room)
                        }
                    case .unencodable: RawBinding.unencodable
                    }
                if code != SQLITE_OK { return code }
            }
            return SQLITE_OK
        }
    }

    @inline(never)
    fileprivate static func bind(
        _ value: String, to statement: SQLiteStatement, at parameter: CInt,
        _ room: inout UnsafeMutableRawBufferPointer
    ) -> CInt {
        value.utf8.withContiguousStorageIfAvailable { text in
            let text = UnsafeRawBufferPointer(text)
            guard let copy = copy(text, to: &room) else { return RawBinding.text(statement, parameter, text) }
            return csqlcipher_bind_static_text(
                statement, parameter, copy, CInt(truncatingIfNeeded: text.count))
        } ?? RawBinding.string(statement, parameter, value)
    }

    @inline(never)
    private static func bind(
        _ value: Data, to statement: SQLiteStatement, at parameter: CInt,
        _ room: inout UnsafeMutableRawBufferPointer
    ) -> CInt {
        value.withUnsafeBytes { bind($0, to: statement, at: parameter, &room) }
    }

    @inline(__always)
    private static func bind(
        _ blob: UnsafeRawBufferPointer, to statement: SQLiteStatement, at parameter: CInt,
        _ room: inout UnsafeMutableRawBufferPointer
    ) -> CInt {
        guard let copy = copy(blob, to: &room) else { return RawBinding.blob(statement, parameter, blob) }
        return csqlcipher_bind_static_blob(statement, parameter, copy, CInt(truncatingIfNeeded: blob.count))
    }

    /// Copies bytes, or returns nil when there is none or too little room.
    @inline(__always)
    fileprivate static func copy(
        _ source: UnsafeRawBufferPointer, to room: inout UnsafeMutableRawBufferPointer
    ) -> UnsafeRawPointer? {
        guard let start = source.baseAddress, !source.isEmpty, source.count <= room.count,
            let target = room.baseAddress
        else { return nil }
        target.copyMemory(from: start, byteCount: source.count)
        room = UnsafeMutableRawBufferPointer(
            start: target + source.count, count: room.count &- source.count)
        return UnsafeRawPointer(target)
    }
}

/// Binds the parameters of a rewound statement one after the other.
///
/// Short texts and blobs are copied into the memory that the statement keeps for its arguments.
package struct ParameterBinder {
    /// The result code of the first value that was not bound, or `SQLITE_OK`.
    package private(set) var code: CInt = SQLITE_OK
    private let statement: SQLiteStatement
    private var room: UnsafeMutableRawBufferPointer
    private var parameter: CInt = 0

    fileprivate init(_ statement: SQLiteStatement, _ room: UnsafeMutableRawBufferPointer) {
        self.statement = statement
        self.room = room
    }

    /// Binds NULL to the next parameter.
    package mutating func bindNull() { note(RawBinding.null(statement, next())) }

    /// Binds an integer to the next parameter.
    package mutating func bind(_ value: Int64) { note(RawBinding.int64(statement, next(), value)) }

    /// Binds a floating-point number to the next parameter.
    package mutating func bind(_ value: Double) { note(RawBinding.double(statement, next(), value)) }

    /// Binds a text to the next parameter.
    package mutating func bind(_ value: String) {
        note(ArgumentBuffer.bind(value, to: statement, at: next(), &room))
    }

    /// Binds the UTF-8 bytes of a text to the next parameter.
    package mutating func bind(text: UnsafeRawBufferPointer) {
        let parameter = next()
        guard let copy = ArgumentBuffer.copy(text, to: &room) else {
            return note(RawBinding.text(statement, parameter, text))
        }
        note(csqlcipher_bind_static_text(statement, parameter, copy, CInt(truncatingIfNeeded: text.count)))
    }

    /// Binds a blob to the next parameter.
    package mutating func bind(blob: UnsafeRawBufferPointer) {
        let parameter = next()
        guard !blob.isEmpty else { return note(sqlite3_bind_zeroblob(statement, parameter, 0)) }
        guard let copy = ArgumentBuffer.copy(blob, to: &room) else {
            return note(RawBinding.blob(statement, parameter, blob))
        }
        note(csqlcipher_bind_static_blob(statement, parameter, copy, CInt(truncatingIfNeeded: blob.count)))
    }

    @inline(__always)
    private mutating func next() -> CInt {
        parameter &+= 1
        return parameter
    }

    @inline(__always)
    private mutating func note(_ result: CInt) {
        if result != SQLITE_OK && code == SQLITE_OK { code = result }
    }
}

extension Statement {
    /// A binder of the parameters, for a statement that is rewound. What they held is no longer valid.
    package var parameterBinder: ParameterBinder { ParameterBinder(sqliteStatement, argumentBuffer.memory) }
}
