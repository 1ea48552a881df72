import CSQLCipher

/// The database file of a connection, read through SQLite's own file object.
///
/// Closing a descriptor of our own would drop the POSIX locks that other
/// connections of this process hold on the file.
struct DatabaseFile {
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let methods: sqlite3_io_methods

    /// - throws: A ``DatabaseError`` when the connection has no file.
    init(_ handle: SQLiteConnection) throws {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file, let methods = file.pointee.pMethods
        else { throw DatabaseError(resultCode: .SQLITE_IOERR, message: "the file can't be read") }
        self.file = file
        self.methods = methods.pointee
    }

    /// The size in bytes, now.
    ///
    /// - throws: A ``DatabaseError``.
    func byteCount() throws -> Int {
        var size: sqlite3_int64 = 0
        guard let fileSize = methods.xFileSize, fileSize(file, &size) == SQLITE_OK else {
            throw DatabaseError(resultCode: .SQLITE_IOERR, message: "the file can't be read")
        }
        return Int(size)
    }

    /// Fills a buffer.
    ///
    /// - returns: False when the file ends before; the rest of the buffer is zeros then.
    /// - throws: A ``DatabaseError``.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Bool {
        guard let read = methods.xRead else {
            throw DatabaseError(resultCode: .SQLITE_IOERR, message: "the file can't be read")
        }
        let code = read(file, buffer.baseAddress, CInt(buffer.count), sqlite3_int64(offset))
        if code == SQLITE_OK { return true }
        // SQLITE_IOERR_SHORT_READ, a macro that Swift does not import.
        if code == SQLITE_IOERR | 2 << 8 { return false }
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "the file can't be read")
    }

    /// Hands out the pages of the file, in the order of their numbers, which begin with 1.
    ///
    /// A checkpoint may change the file meanwhile. That of a VACUUM cuts it off, and behind its new end are no pages.
    ///
    /// - parameters:
    ///     - size: The size of a page.
    ///     - numbers: The pages, or nil for all.
    ///     - body: Gets nil for a page that was not there as a whole when it was read, and is by now.
    /// - throws: A ``DatabaseError``, or what `body` throws.
    func forEachPage(
        size: Int, among numbers: Set<Int>? = nil, _ body: (UnsafeRawBufferPointer?, Int) throws -> Void
    ) throws {
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { page.deallocate() }
        var count = try byteCount() / size
        func visit(_ number: Int) throws {
            guard number <= count else { return }
            if try read(at: (number - 1) * size, into: page) {
                return try body(UnsafeRawBufferPointer(page), number)
            }
            count = min(count, try byteCount() / size)
            if number <= count { try body(nil, number) }
        }
        if let numbers { return try numbers.sorted().forEach(visit) }
        var number = 1
        while number <= count {
            try visit(number)
            number += 1
        }
    }

    /// Runs a block while no connection, of any process, has a lock on the file. The connection of this one has none,
    /// and no transaction.
    ///
    /// - throws: A ``DatabaseError`` of code `SQLITE_BUSY` when another one has a lock, or of what else kept it from being
    ///   taken; the block has not run then.
    func withExclusiveLock(_ body: () -> Void) throws {
        guard let lock = methods.xLock, let unlock = methods.xUnlock else {
            throw DatabaseError(resultCode: .SQLITE_IOERR, message: "the file can't be locked")
        }
        defer { _ = unlock(file, SQLITE_LOCK_NONE) }
        for level in [SQLITE_LOCK_SHARED, SQLITE_LOCK_EXCLUSIVE] {
            let code = lock(file, level)
            guard code == SQLITE_OK else {
                throw DatabaseError(
                    resultCode: ResultCode(rawValue: code), message: "the file can't be locked")
            }
        }
        body()
    }

    /// Writes over what is in the file.
    ///
    /// The caller has SQLite's exclusive lock, and no transaction.
    ///
    /// - throws: A ``DatabaseError``.
    func write(_ bytes: [UInt8], at offset: Int) throws {
        guard let write = methods.xWrite,
            bytes.withUnsafeBytes({ write(file, $0.baseAddress, CInt($0.count), sqlite3_int64(offset)) })
                == SQLITE_OK
        else { throw DatabaseError(resultCode: .SQLITE_IOERR, message: "the file can't be written") }
    }
}
