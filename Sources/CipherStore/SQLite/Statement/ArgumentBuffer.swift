import CSQLCipher

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
            var room = memory[...]
            for index in values.indices {
                let code = Self.bind(values[index], to: statement, at: CInt(index + 1), &room)
                if code != SQLITE_OK { return code }
            }
            return SQLITE_OK
        }
    }

    @inline(__always)
    private static func bind(
        _ value: borrowing DatabaseValue, to statement: SQLiteStatement, at index: CInt,
        _ room: inout Slice<UnsafeMutableRawBufferPointer>
    ) -> CInt {
        switch value.content {
        case .null: RawBinding.null(statement, index)
        case .int64(let value): RawBinding.int64(statement, index, value)
        case .double(let value): RawBinding.double(statement, index, value)
        case .string(let value):
            value.utf8.withContiguousStorageIfAvailable { text in
                let text = UnsafeRawBufferPointer(text)
                guard let copy = copy(text, to: &room) else { return RawBinding.text(statement, index, text) }
                return csqlcipher_bind_static_text(statement, index, copy, CInt(text.count))
            } ?? RawBinding.string(statement, index, value)
        case .blob(let value): value.withUnsafeBytes { bind($0, to: statement, at: index, &room) }
        case .sixteenBytes(let first, let second):
            withUnsafeBytes(of: (first, second)) { bind($0, to: statement, at: index, &room) }
        }
    }

    @inline(__always)
    private static func bind(
        _ blob: UnsafeRawBufferPointer, to statement: SQLiteStatement, at index: CInt,
        _ room: inout Slice<UnsafeMutableRawBufferPointer>
    ) -> CInt {
        guard let copy = copy(blob, to: &room) else { return RawBinding.blob(statement, index, blob) }
        return csqlcipher_bind_static_blob(statement, index, copy, CInt(blob.count))
    }

    /// Copies bytes, or returns nil when there is none or too little room.
    @inline(__always)
    private static func copy(
        _ source: UnsafeRawBufferPointer, to room: inout Slice<UnsafeMutableRawBufferPointer>
    ) -> UnsafeRawPointer? {
        guard !source.isEmpty, source.count <= room.count else { return nil }
        let target = UnsafeMutableRawBufferPointer(rebasing: room.prefix(source.count))
        target.copyMemory(from: source)
        room = room.dropFirst(source.count)
        return UnsafeRawPointer(target.baseAddress)
    }
}
