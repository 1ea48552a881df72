import CSQLCipher
import Foundation

/// Binds the values of a statement's parameters.
///
/// Short texts and blobs are copied into memory that the statement keeps,
/// because SQLite would allocate and free a copy of each at every run.
struct ArgumentBuffer: ~Copyable {
    private let memory: UnsafeMutableRawBufferPointer

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
    private static func bind(
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
    private static func copy(
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
