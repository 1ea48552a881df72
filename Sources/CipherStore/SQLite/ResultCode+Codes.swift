// The codes of the C header, as constants. Codes that newer libraries add can be
// made by number.

// swift-format-ignore: AlwaysUseLowerCamelCase
extension ResultCode {
    /// Successful result.
    public static let SQLITE_OK = ResultCode(rawValue: 0)
    /// SQL error or missing database.
    public static let SQLITE_ERROR = ResultCode(rawValue: 1)
    /// Internal logic error in SQLite.
    public static let SQLITE_INTERNAL = ResultCode(rawValue: 2)
    /// Access permission denied.
    public static let SQLITE_PERM = ResultCode(rawValue: 3)
    /// Callback routine requested an abort.
    public static let SQLITE_ABORT = ResultCode(rawValue: 4)
    /// The database file is locked.
    public static let SQLITE_BUSY = ResultCode(rawValue: 5)
    /// A table in the database is locked.
    public static let SQLITE_LOCKED = ResultCode(rawValue: 6)
    /// A malloc() failed.
    public static let SQLITE_NOMEM = ResultCode(rawValue: 7)
    /// Attempt to write a readonly database.
    public static let SQLITE_READONLY = ResultCode(rawValue: 8)
    /// interrupt.
    public static let SQLITE_INTERRUPT = ResultCode(rawValue: 9)
    /// Some kind of disk I/O error occurred.
    public static let SQLITE_IOERR = ResultCode(rawValue: 10)
    /// The database disk image is malformed.
    public static let SQLITE_CORRUPT = ResultCode(rawValue: 11)
    /// Unknown opcode in sqlite3_file_control().
    public static let SQLITE_NOTFOUND = ResultCode(rawValue: 12)
    /// Insertion failed because database is full.
    public static let SQLITE_FULL = ResultCode(rawValue: 13)
    /// Unable to open the database file.
    public static let SQLITE_CANTOPEN = ResultCode(rawValue: 14)
    /// Database lock protocol error.
    public static let SQLITE_PROTOCOL = ResultCode(rawValue: 15)
    /// Database is empty.
    public static let SQLITE_EMPTY = ResultCode(rawValue: 16)
    /// The database schema changed.
    public static let SQLITE_SCHEMA = ResultCode(rawValue: 17)
    /// String or BLOB exceeds size limit.
    public static let SQLITE_TOOBIG = ResultCode(rawValue: 18)
    /// Abort due to constraint violation.
    public static let SQLITE_CONSTRAINT = ResultCode(rawValue: 19)
    /// Data type mismatch.
    public static let SQLITE_MISMATCH = ResultCode(rawValue: 20)
    /// Library used incorrectly.
    public static let SQLITE_MISUSE = ResultCode(rawValue: 21)
    /// Uses OS features not supported on host.
    public static let SQLITE_NOLFS = ResultCode(rawValue: 22)
    /// Authorization denied.
    public static let SQLITE_AUTH = ResultCode(rawValue: 23)
    /// Auxiliary database format error.
    public static let SQLITE_FORMAT = ResultCode(rawValue: 24)
    /// 2nd parameter to sqlite3_bind out of range.
    public static let SQLITE_RANGE = ResultCode(rawValue: 25)
    /// File opened that is not a database file.
    public static let SQLITE_NOTADB = ResultCode(rawValue: 26)
    /// Notifications from sqlite3_log().
    public static let SQLITE_NOTICE = ResultCode(rawValue: 27)
    /// Warnings from sqlite3_log().
    public static let SQLITE_WARNING = ResultCode(rawValue: 28)
    /// sqlite3_step() has another row ready.
    public static let SQLITE_ROW = ResultCode(rawValue: 100)
    /// sqlite3_step() has finished executing.
    public static let SQLITE_DONE = ResultCode(rawValue: 101)
}

// swift-format-ignore: AlwaysUseLowerCamelCase
extension ResultCode {
    /// `SQLITE_IOERR`, detail 1.
    public static let SQLITE_IOERR_READ = ResultCode(rawValue: 10 | (1 << 8))
    /// `SQLITE_IOERR`, detail 2.
    public static let SQLITE_IOERR_SHORT_READ = ResultCode(rawValue: 10 | (2 << 8))
    /// `SQLITE_IOERR`, detail 3.
    public static let SQLITE_IOERR_WRITE = ResultCode(rawValue: 10 | (3 << 8))
    /// `SQLITE_IOERR`, detail 4.
    public static let SQLITE_IOERR_FSYNC = ResultCode(rawValue: 10 | (4 << 8))
    /// `SQLITE_IOERR`, detail 5.
    public static let SQLITE_IOERR_DIR_FSYNC = ResultCode(rawValue: 10 | (5 << 8))
    /// `SQLITE_IOERR`, detail 6.
    public static let SQLITE_IOERR_TRUNCATE = ResultCode(rawValue: 10 | (6 << 8))
    /// `SQLITE_IOERR`, detail 7.
    public static let SQLITE_IOERR_FSTAT = ResultCode(rawValue: 10 | (7 << 8))
    /// `SQLITE_IOERR`, detail 8.
    public static let SQLITE_IOERR_UNLOCK = ResultCode(rawValue: 10 | (8 << 8))
    /// `SQLITE_IOERR`, detail 9.
    public static let SQLITE_IOERR_RDLOCK = ResultCode(rawValue: 10 | (9 << 8))
    /// `SQLITE_IOERR`, detail 10.
    public static let SQLITE_IOERR_DELETE = ResultCode(rawValue: 10 | (10 << 8))
    /// `SQLITE_IOERR`, detail 11.
    public static let SQLITE_IOERR_BLOCKED = ResultCode(rawValue: 10 | (11 << 8))
    /// `SQLITE_IOERR`, detail 12.
    public static let SQLITE_IOERR_NOMEM = ResultCode(rawValue: 10 | (12 << 8))
    /// `SQLITE_IOERR`, detail 13.
    public static let SQLITE_IOERR_ACCESS = ResultCode(rawValue: 10 | (13 << 8))
    /// `SQLITE_IOERR`, detail 14.
    public static let SQLITE_IOERR_CHECKRESERVEDLOCK = ResultCode(rawValue: 10 | (14 << 8))
    /// `SQLITE_IOERR`, detail 15.
    public static let SQLITE_IOERR_LOCK = ResultCode(rawValue: 10 | (15 << 8))
    /// `SQLITE_IOERR`, detail 16.
    public static let SQLITE_IOERR_CLOSE = ResultCode(rawValue: 10 | (16 << 8))
    /// `SQLITE_IOERR`, detail 17.
    public static let SQLITE_IOERR_DIR_CLOSE = ResultCode(rawValue: 10 | (17 << 8))
    /// `SQLITE_IOERR`, detail 18.
    public static let SQLITE_IOERR_SHMOPEN = ResultCode(rawValue: 10 | (18 << 8))
    /// `SQLITE_IOERR`, detail 19.
    public static let SQLITE_IOERR_SHMSIZE = ResultCode(rawValue: 10 | (19 << 8))
    /// `SQLITE_IOERR`, detail 20.
    public static let SQLITE_IOERR_SHMLOCK = ResultCode(rawValue: 10 | (20 << 8))
    /// `SQLITE_IOERR`, detail 21.
    public static let SQLITE_IOERR_SHMMAP = ResultCode(rawValue: 10 | (21 << 8))
    /// `SQLITE_IOERR`, detail 22.
    public static let SQLITE_IOERR_SEEK = ResultCode(rawValue: 10 | (22 << 8))
    /// `SQLITE_IOERR`, detail 23.
    public static let SQLITE_IOERR_DELETE_NOENT = ResultCode(rawValue: 10 | (23 << 8))
    /// `SQLITE_IOERR`, detail 24.
    public static let SQLITE_IOERR_MMAP = ResultCode(rawValue: 10 | (24 << 8))
    /// `SQLITE_IOERR`, detail 25.
    public static let SQLITE_IOERR_GETTEMPPATH = ResultCode(rawValue: 10 | (25 << 8))
    /// `SQLITE_IOERR`, detail 26.
    public static let SQLITE_IOERR_CONVPATH = ResultCode(rawValue: 10 | (26 << 8))
    /// `SQLITE_IOERR`, detail 27.
    public static let SQLITE_IOERR_VNODE = ResultCode(rawValue: 10 | (27 << 8))
    /// `SQLITE_IOERR`, detail 28.
    public static let SQLITE_IOERR_AUTH = ResultCode(rawValue: 10 | (28 << 8))
    /// `SQLITE_LOCKED`, detail 1.
    public static let SQLITE_LOCKED_SHAREDCACHE = ResultCode(rawValue: 6 | (1 << 8))
    /// `SQLITE_BUSY`, detail 1.
    public static let SQLITE_BUSY_RECOVERY = ResultCode(rawValue: 5 | (1 << 8))
    /// `SQLITE_BUSY`, detail 2.
    public static let SQLITE_BUSY_SNAPSHOT = ResultCode(rawValue: 5 | (2 << 8))
    /// `SQLITE_CANTOPEN`, detail 1.
    public static let SQLITE_CANTOPEN_NOTEMPDIR = ResultCode(rawValue: 14 | (1 << 8))
    /// `SQLITE_CANTOPEN`, detail 2.
    public static let SQLITE_CANTOPEN_ISDIR = ResultCode(rawValue: 14 | (2 << 8))
    /// `SQLITE_CANTOPEN`, detail 3.
    public static let SQLITE_CANTOPEN_FULLPATH = ResultCode(rawValue: 14 | (3 << 8))
    /// `SQLITE_CANTOPEN`, detail 4.
    public static let SQLITE_CANTOPEN_CONVPATH = ResultCode(rawValue: 14 | (4 << 8))
    /// `SQLITE_CORRUPT`, detail 1.
    public static let SQLITE_CORRUPT_VTAB = ResultCode(rawValue: 11 | (1 << 8))
    /// `SQLITE_READONLY`, detail 1.
    public static let SQLITE_READONLY_RECOVERY = ResultCode(rawValue: 8 | (1 << 8))
    /// `SQLITE_READONLY`, detail 2.
    public static let SQLITE_READONLY_CANTLOCK = ResultCode(rawValue: 8 | (2 << 8))
    /// `SQLITE_READONLY`, detail 3.
    public static let SQLITE_READONLY_ROLLBACK = ResultCode(rawValue: 8 | (3 << 8))
    /// `SQLITE_READONLY`, detail 4.
    public static let SQLITE_READONLY_DBMOVED = ResultCode(rawValue: 8 | (4 << 8))
    /// `SQLITE_ABORT`, detail 2.
    public static let SQLITE_ABORT_ROLLBACK = ResultCode(rawValue: 4 | (2 << 8))
    /// `SQLITE_CONSTRAINT`, detail 1.
    public static let SQLITE_CONSTRAINT_CHECK = ResultCode(rawValue: 19 | (1 << 8))
    /// `SQLITE_CONSTRAINT`, detail 2.
    public static let SQLITE_CONSTRAINT_COMMITHOOK = ResultCode(rawValue: 19 | (2 << 8))
    /// `SQLITE_CONSTRAINT`, detail 3.
    public static let SQLITE_CONSTRAINT_FOREIGNKEY = ResultCode(rawValue: 19 | (3 << 8))
    /// `SQLITE_CONSTRAINT`, detail 4.
    public static let SQLITE_CONSTRAINT_FUNCTION = ResultCode(rawValue: 19 | (4 << 8))
    /// `SQLITE_CONSTRAINT`, detail 5.
    public static let SQLITE_CONSTRAINT_NOTNULL = ResultCode(rawValue: 19 | (5 << 8))
    /// `SQLITE_CONSTRAINT`, detail 6.
    public static let SQLITE_CONSTRAINT_PRIMARYKEY = ResultCode(rawValue: 19 | (6 << 8))
    /// `SQLITE_CONSTRAINT`, detail 7.
    public static let SQLITE_CONSTRAINT_TRIGGER = ResultCode(rawValue: 19 | (7 << 8))
    /// `SQLITE_CONSTRAINT`, detail 8.
    public static let SQLITE_CONSTRAINT_UNIQUE = ResultCode(rawValue: 19 | (8 << 8))
    /// `SQLITE_CONSTRAINT`, detail 9.
    public static let SQLITE_CONSTRAINT_VTAB = ResultCode(rawValue: 19 | (9 << 8))
    /// `SQLITE_CONSTRAINT`, detail 10.
    public static let SQLITE_CONSTRAINT_ROWID = ResultCode(rawValue: 19 | (10 << 8))
    /// `SQLITE_NOTICE`, detail 1.
    public static let SQLITE_NOTICE_RECOVER_WAL = ResultCode(rawValue: 27 | (1 << 8))
    /// `SQLITE_NOTICE`, detail 2.
    public static let SQLITE_NOTICE_RECOVER_ROLLBACK = ResultCode(rawValue: 27 | (2 << 8))
    /// `SQLITE_WARNING`, detail 1.
    public static let SQLITE_WARNING_AUTOINDEX = ResultCode(rawValue: 28 | (1 << 8))
    /// `SQLITE_AUTH`, detail 1.
    public static let SQLITE_AUTH_USER = ResultCode(rawValue: 23 | (1 << 8))
    /// `SQLITE_OK`, detail 1.
    public static let SQLITE_OK_LOAD_PERMANENTLY = ResultCode(rawValue: 0 | (1 << 8))
    /// A collation is missing.
    public static let SQLITE_ERROR_MISSING_COLLSEQ = ResultCode(rawValue: 1 | (1 << 8))
    /// The statement is prepared again; SQLite keeps it to itself.
    public static let SQLITE_ERROR_RETRY = ResultCode(rawValue: 1 | (2 << 8))
    /// A historical snapshot is no longer available.
    public static let SQLITE_ERROR_SNAPSHOT = ResultCode(rawValue: 1 | (3 << 8))
    /// The size of the reserved space is wrong.
    public static let SQLITE_ERROR_RESERVESIZE = ResultCode(rawValue: 1 | (4 << 8))
    /// A key is wrong or missing.
    public static let SQLITE_ERROR_KEY = ResultCode(rawValue: 1 | (5 << 8))
    /// The request can not be met.
    public static let SQLITE_ERROR_UNABLE = ResultCode(rawValue: 1 | (6 << 8))
    /// An atomic write could not begin.
    public static let SQLITE_IOERR_BEGIN_ATOMIC = ResultCode(rawValue: 10 | (29 << 8))
    /// An atomic write could not be committed.
    public static let SQLITE_IOERR_COMMIT_ATOMIC = ResultCode(rawValue: 10 | (30 << 8))
    /// An atomic write could not be rolled back.
    public static let SQLITE_IOERR_ROLLBACK_ATOMIC = ResultCode(rawValue: 10 | (31 << 8))
    /// The checksum of a page is wrong.
    public static let SQLITE_IOERR_DATA = ResultCode(rawValue: 10 | (32 << 8))
    /// The file system is damaged.
    public static let SQLITE_IOERR_CORRUPTFS = ResultCode(rawValue: 10 | (33 << 8))
    /// Memory that maps a file could not be read.
    public static let SQLITE_IOERR_IN_PAGE = ResultCode(rawValue: 10 | (34 << 8))
    /// A key is wrong.
    public static let SQLITE_IOERR_BADKEY = ResultCode(rawValue: 10 | (35 << 8))
    /// A page could not be encrypted or decrypted.
    public static let SQLITE_IOERR_CODEC = ResultCode(rawValue: 10 | (36 << 8))
    /// A virtual table is locked.
    public static let SQLITE_LOCKED_VTAB = ResultCode(rawValue: 6 | (2 << 8))
    /// A lock was not free in time.
    public static let SQLITE_BUSY_TIMEOUT = ResultCode(rawValue: 5 | (3 << 8))
    /// The WAL file can not be used.
    public static let SQLITE_CANTOPEN_DIRTYWAL = ResultCode(rawValue: 14 | (5 << 8))
    /// The path is a symbolic link.
    public static let SQLITE_CANTOPEN_SYMLINK = ResultCode(rawValue: 14 | (6 << 8))
    /// The sqlite_sequence table is damaged.
    public static let SQLITE_CORRUPT_SEQUENCE = ResultCode(rawValue: 11 | (2 << 8))
    /// An entry of an index is missing.
    public static let SQLITE_CORRUPT_INDEX = ResultCode(rawValue: 11 | (3 << 8))
    /// The WAL index can not be set up for lack of permission.
    public static let SQLITE_READONLY_CANTINIT = ResultCode(rawValue: 8 | (5 << 8))
    /// The folder can not be written.
    public static let SQLITE_READONLY_DIRECTORY = ResultCode(rawValue: 8 | (6 << 8))
    /// An UPDATE trigger tried to delete the row.
    public static let SQLITE_CONSTRAINT_PINNED = ResultCode(rawValue: 19 | (11 << 8))
    /// A value does not fit the type of a column of a STRICT table.
    public static let SQLITE_CONSTRAINT_DATATYPE = ResultCode(rawValue: 19 | (12 << 8))
    /// A bulk update resumes.
    public static let SQLITE_NOTICE_RBU = ResultCode(rawValue: 27 | (3 << 8))
    /// A symbolic link was followed.
    public static let SQLITE_OK_SYMLINK = ResultCode(rawValue: 0 | (2 << 8))
}
