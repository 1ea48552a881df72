// The codes again, where `catch DatabaseError.SQLITE_CONSTRAINT` looks for them.

// swift-format-ignore: AlwaysUseLowerCamelCase
extension DatabaseError {
    /// Successful result.
    public static let SQLITE_OK = ResultCode.SQLITE_OK
    /// SQL error or missing database.
    public static let SQLITE_ERROR = ResultCode.SQLITE_ERROR
    /// Internal logic error in SQLite.
    public static let SQLITE_INTERNAL = ResultCode.SQLITE_INTERNAL
    /// Access permission denied.
    public static let SQLITE_PERM = ResultCode.SQLITE_PERM
    /// Callback routine requested an abort.
    public static let SQLITE_ABORT = ResultCode.SQLITE_ABORT
    /// The database file is locked.
    public static let SQLITE_BUSY = ResultCode.SQLITE_BUSY
    /// A table in the database is locked.
    public static let SQLITE_LOCKED = ResultCode.SQLITE_LOCKED
    /// A malloc() failed.
    public static let SQLITE_NOMEM = ResultCode.SQLITE_NOMEM
    /// Attempt to write a readonly database.
    public static let SQLITE_READONLY = ResultCode.SQLITE_READONLY
    /// interrupt.
    public static let SQLITE_INTERRUPT = ResultCode.SQLITE_INTERRUPT
    /// Some kind of disk I/O error occurred.
    public static let SQLITE_IOERR = ResultCode.SQLITE_IOERR
    /// The database disk image is malformed.
    public static let SQLITE_CORRUPT = ResultCode.SQLITE_CORRUPT
    /// Unknown opcode in sqlite3_file_control().
    public static let SQLITE_NOTFOUND = ResultCode.SQLITE_NOTFOUND
    /// Insertion failed because database is full.
    public static let SQLITE_FULL = ResultCode.SQLITE_FULL
    /// Unable to open the database file.
    public static let SQLITE_CANTOPEN = ResultCode.SQLITE_CANTOPEN
    /// Database lock protocol error.
    public static let SQLITE_PROTOCOL = ResultCode.SQLITE_PROTOCOL
    /// Database is empty.
    public static let SQLITE_EMPTY = ResultCode.SQLITE_EMPTY
    /// The database schema changed.
    public static let SQLITE_SCHEMA = ResultCode.SQLITE_SCHEMA
    /// String or BLOB exceeds size limit.
    public static let SQLITE_TOOBIG = ResultCode.SQLITE_TOOBIG
    /// Abort due to constraint violation.
    public static let SQLITE_CONSTRAINT = ResultCode.SQLITE_CONSTRAINT
    /// Data type mismatch.
    public static let SQLITE_MISMATCH = ResultCode.SQLITE_MISMATCH
    /// Library used incorrectly.
    public static let SQLITE_MISUSE = ResultCode.SQLITE_MISUSE
    /// Uses OS features not supported on host.
    public static let SQLITE_NOLFS = ResultCode.SQLITE_NOLFS
    /// Authorization denied.
    public static let SQLITE_AUTH = ResultCode.SQLITE_AUTH
    /// Auxiliary database format error.
    public static let SQLITE_FORMAT = ResultCode.SQLITE_FORMAT
    /// 2nd parameter to sqlite3_bind out of range.
    public static let SQLITE_RANGE = ResultCode.SQLITE_RANGE
    /// File opened that is not a database file.
    public static let SQLITE_NOTADB = ResultCode.SQLITE_NOTADB
    /// Notifications from sqlite3_log().
    public static let SQLITE_NOTICE = ResultCode.SQLITE_NOTICE
    /// Warnings from sqlite3_log().
    public static let SQLITE_WARNING = ResultCode.SQLITE_WARNING
    /// sqlite3_step() has another row ready.
    public static let SQLITE_ROW = ResultCode.SQLITE_ROW
    /// sqlite3_step() has finished executing.
    public static let SQLITE_DONE = ResultCode.SQLITE_DONE
    /// `SQLITE_IOERR`, detail 1.
    public static let SQLITE_IOERR_READ = ResultCode.SQLITE_IOERR_READ
    /// `SQLITE_IOERR`, detail 2.
    public static let SQLITE_IOERR_SHORT_READ = ResultCode.SQLITE_IOERR_SHORT_READ
    /// `SQLITE_IOERR`, detail 3.
    public static let SQLITE_IOERR_WRITE = ResultCode.SQLITE_IOERR_WRITE
    /// `SQLITE_IOERR`, detail 4.
    public static let SQLITE_IOERR_FSYNC = ResultCode.SQLITE_IOERR_FSYNC
    /// `SQLITE_IOERR`, detail 5.
    public static let SQLITE_IOERR_DIR_FSYNC = ResultCode.SQLITE_IOERR_DIR_FSYNC
    /// `SQLITE_IOERR`, detail 6.
    public static let SQLITE_IOERR_TRUNCATE = ResultCode.SQLITE_IOERR_TRUNCATE
    /// `SQLITE_IOERR`, detail 7.
    public static let SQLITE_IOERR_FSTAT = ResultCode.SQLITE_IOERR_FSTAT
    /// `SQLITE_IOERR`, detail 8.
    public static let SQLITE_IOERR_UNLOCK = ResultCode.SQLITE_IOERR_UNLOCK
    /// `SQLITE_IOERR`, detail 9.
    public static let SQLITE_IOERR_RDLOCK = ResultCode.SQLITE_IOERR_RDLOCK
    /// `SQLITE_IOERR`, detail 10.
    public static let SQLITE_IOERR_DELETE = ResultCode.SQLITE_IOERR_DELETE
    /// `SQLITE_IOERR`, detail 11.
    public static let SQLITE_IOERR_BLOCKED = ResultCode.SQLITE_IOERR_BLOCKED
    /// `SQLITE_IOERR`, detail 12.
    public static let SQLITE_IOERR_NOMEM = ResultCode.SQLITE_IOERR_NOMEM
    /// `SQLITE_IOERR`, detail 13.
    public static let SQLITE_IOERR_ACCESS = ResultCode.SQLITE_IOERR_ACCESS
    /// `SQLITE_IOERR`, detail 14.
    public static let SQLITE_IOERR_CHECKRESERVEDLOCK = ResultCode.SQLITE_IOERR_CHECKRESERVEDLOCK
    /// `SQLITE_IOERR`, detail 15.
    public static let SQLITE_IOERR_LOCK = ResultCode.SQLITE_IOERR_LOCK
    /// `SQLITE_IOERR`, detail 16.
    public static let SQLITE_IOERR_CLOSE = ResultCode.SQLITE_IOERR_CLOSE
    /// `SQLITE_IOERR`, detail 17.
    public static let SQLITE_IOERR_DIR_CLOSE = ResultCode.SQLITE_IOERR_DIR_CLOSE
    /// `SQLITE_IOERR`, detail 18.
    public static let SQLITE_IOERR_SHMOPEN = ResultCode.SQLITE_IOERR_SHMOPEN
    /// `SQLITE_IOERR`, detail 19.
    public static let SQLITE_IOERR_SHMSIZE = ResultCode.SQLITE_IOERR_SHMSIZE
    /// `SQLITE_IOERR`, detail 20.
    public static let SQLITE_IOERR_SHMLOCK = ResultCode.SQLITE_IOERR_SHMLOCK
    /// `SQLITE_IOERR`, detail 21.
    public static let SQLITE_IOERR_SHMMAP = ResultCode.SQLITE_IOERR_SHMMAP
    /// `SQLITE_IOERR`, detail 22.
    public static let SQLITE_IOERR_SEEK = ResultCode.SQLITE_IOERR_SEEK
    /// `SQLITE_IOERR`, detail 23.
    public static let SQLITE_IOERR_DELETE_NOENT = ResultCode.SQLITE_IOERR_DELETE_NOENT
    /// `SQLITE_IOERR`, detail 24.
    public static let SQLITE_IOERR_MMAP = ResultCode.SQLITE_IOERR_MMAP
    /// `SQLITE_IOERR`, detail 25.
    public static let SQLITE_IOERR_GETTEMPPATH = ResultCode.SQLITE_IOERR_GETTEMPPATH
    /// `SQLITE_IOERR`, detail 26.
    public static let SQLITE_IOERR_CONVPATH = ResultCode.SQLITE_IOERR_CONVPATH
    /// `SQLITE_IOERR`, detail 27.
    public static let SQLITE_IOERR_VNODE = ResultCode.SQLITE_IOERR_VNODE
    /// `SQLITE_IOERR`, detail 28.
    public static let SQLITE_IOERR_AUTH = ResultCode.SQLITE_IOERR_AUTH
    /// `SQLITE_LOCKED`, detail 1.
    public static let SQLITE_LOCKED_SHAREDCACHE = ResultCode.SQLITE_LOCKED_SHAREDCACHE
    /// `SQLITE_BUSY`, detail 1.
    public static let SQLITE_BUSY_RECOVERY = ResultCode.SQLITE_BUSY_RECOVERY
    /// `SQLITE_BUSY`, detail 2.
    public static let SQLITE_BUSY_SNAPSHOT = ResultCode.SQLITE_BUSY_SNAPSHOT
    /// `SQLITE_CANTOPEN`, detail 1.
    public static let SQLITE_CANTOPEN_NOTEMPDIR = ResultCode.SQLITE_CANTOPEN_NOTEMPDIR
    /// `SQLITE_CANTOPEN`, detail 2.
    public static let SQLITE_CANTOPEN_ISDIR = ResultCode.SQLITE_CANTOPEN_ISDIR
    /// `SQLITE_CANTOPEN`, detail 3.
    public static let SQLITE_CANTOPEN_FULLPATH = ResultCode.SQLITE_CANTOPEN_FULLPATH
    /// `SQLITE_CANTOPEN`, detail 4.
    public static let SQLITE_CANTOPEN_CONVPATH = ResultCode.SQLITE_CANTOPEN_CONVPATH
    /// `SQLITE_CORRUPT`, detail 1.
    public static let SQLITE_CORRUPT_VTAB = ResultCode.SQLITE_CORRUPT_VTAB
    /// `SQLITE_READONLY`, detail 1.
    public static let SQLITE_READONLY_RECOVERY = ResultCode.SQLITE_READONLY_RECOVERY
    /// `SQLITE_READONLY`, detail 2.
    public static let SQLITE_READONLY_CANTLOCK = ResultCode.SQLITE_READONLY_CANTLOCK
    /// `SQLITE_READONLY`, detail 3.
    public static let SQLITE_READONLY_ROLLBACK = ResultCode.SQLITE_READONLY_ROLLBACK
    /// `SQLITE_READONLY`, detail 4.
    public static let SQLITE_READONLY_DBMOVED = ResultCode.SQLITE_READONLY_DBMOVED
    /// `SQLITE_ABORT`, detail 2.
    public static let SQLITE_ABORT_ROLLBACK = ResultCode.SQLITE_ABORT_ROLLBACK
    /// `SQLITE_CONSTRAINT`, detail 1.
    public static let SQLITE_CONSTRAINT_CHECK = ResultCode.SQLITE_CONSTRAINT_CHECK
    /// `SQLITE_CONSTRAINT`, detail 2.
    public static let SQLITE_CONSTRAINT_COMMITHOOK = ResultCode.SQLITE_CONSTRAINT_COMMITHOOK
    /// `SQLITE_CONSTRAINT`, detail 3.
    public static let SQLITE_CONSTRAINT_FOREIGNKEY = ResultCode.SQLITE_CONSTRAINT_FOREIGNKEY
    /// `SQLITE_CONSTRAINT`, detail 4.
    public static let SQLITE_CONSTRAINT_FUNCTION = ResultCode.SQLITE_CONSTRAINT_FUNCTION
    /// `SQLITE_CONSTRAINT`, detail 5.
    public static let SQLITE_CONSTRAINT_NOTNULL = ResultCode.SQLITE_CONSTRAINT_NOTNULL
    /// `SQLITE_CONSTRAINT`, detail 6.
    public static let SQLITE_CONSTRAINT_PRIMARYKEY = ResultCode.SQLITE_CONSTRAINT_PRIMARYKEY
    /// `SQLITE_CONSTRAINT`, detail 7.
    public static let SQLITE_CONSTRAINT_TRIGGER = ResultCode.SQLITE_CONSTRAINT_TRIGGER
    /// `SQLITE_CONSTRAINT`, detail 8.
    public static let SQLITE_CONSTRAINT_UNIQUE = ResultCode.SQLITE_CONSTRAINT_UNIQUE
    /// `SQLITE_CONSTRAINT`, detail 9.
    public static let SQLITE_CONSTRAINT_VTAB = ResultCode.SQLITE_CONSTRAINT_VTAB
    /// `SQLITE_CONSTRAINT`, detail 10.
    public static let SQLITE_CONSTRAINT_ROWID = ResultCode.SQLITE_CONSTRAINT_ROWID
    /// `SQLITE_NOTICE`, detail 1.
    public static let SQLITE_NOTICE_RECOVER_WAL = ResultCode.SQLITE_NOTICE_RECOVER_WAL
    /// `SQLITE_NOTICE`, detail 2.
    public static let SQLITE_NOTICE_RECOVER_ROLLBACK = ResultCode.SQLITE_NOTICE_RECOVER_ROLLBACK
    /// `SQLITE_WARNING`, detail 1.
    public static let SQLITE_WARNING_AUTOINDEX = ResultCode.SQLITE_WARNING_AUTOINDEX
    /// `SQLITE_AUTH`, detail 1.
    public static let SQLITE_AUTH_USER = ResultCode.SQLITE_AUTH_USER
    /// `SQLITE_OK`, detail 1.
    public static let SQLITE_OK_LOAD_PERMANENTLY = ResultCode.SQLITE_OK_LOAD_PERMANENTLY
    /// A collation is missing.
    public static let SQLITE_ERROR_MISSING_COLLSEQ = ResultCode.SQLITE_ERROR_MISSING_COLLSEQ
    /// The statement is prepared again; SQLite keeps it to itself.
    public static let SQLITE_ERROR_RETRY = ResultCode.SQLITE_ERROR_RETRY
    /// A historical snapshot is no longer available.
    public static let SQLITE_ERROR_SNAPSHOT = ResultCode.SQLITE_ERROR_SNAPSHOT
    /// The size of the reserved space is wrong.
    public static let SQLITE_ERROR_RESERVESIZE = ResultCode.SQLITE_ERROR_RESERVESIZE
    /// A key is wrong or missing.
    public static let SQLITE_ERROR_KEY = ResultCode.SQLITE_ERROR_KEY
    /// The request can not be met.
    public static let SQLITE_ERROR_UNABLE = ResultCode.SQLITE_ERROR_UNABLE
    /// An atomic write could not begin.
    public static let SQLITE_IOERR_BEGIN_ATOMIC = ResultCode.SQLITE_IOERR_BEGIN_ATOMIC
    /// An atomic write could not be committed.
    public static let SQLITE_IOERR_COMMIT_ATOMIC = ResultCode.SQLITE_IOERR_COMMIT_ATOMIC
    /// An atomic write could not be rolled back.
    public static let SQLITE_IOERR_ROLLBACK_ATOMIC = ResultCode.SQLITE_IOERR_ROLLBACK_ATOMIC
    /// The checksum of a page is wrong.
    public static let SQLITE_IOERR_DATA = ResultCode.SQLITE_IOERR_DATA
    /// The file system is damaged.
    public static let SQLITE_IOERR_CORRUPTFS = ResultCode.SQLITE_IOERR_CORRUPTFS
    /// Memory that maps a file could not be read.
    public static let SQLITE_IOERR_IN_PAGE = ResultCode.SQLITE_IOERR_IN_PAGE
    /// A key is wrong.
    public static let SQLITE_IOERR_BADKEY = ResultCode.SQLITE_IOERR_BADKEY
    /// A page could not be encrypted or decrypted.
    public static let SQLITE_IOERR_CODEC = ResultCode.SQLITE_IOERR_CODEC
    /// A virtual table is locked.
    public static let SQLITE_LOCKED_VTAB = ResultCode.SQLITE_LOCKED_VTAB
    /// A lock was not free in time.
    public static let SQLITE_BUSY_TIMEOUT = ResultCode.SQLITE_BUSY_TIMEOUT
    /// The WAL file can not be used.
    public static let SQLITE_CANTOPEN_DIRTYWAL = ResultCode.SQLITE_CANTOPEN_DIRTYWAL
    /// The path is a symbolic link.
    public static let SQLITE_CANTOPEN_SYMLINK = ResultCode.SQLITE_CANTOPEN_SYMLINK
    /// The sqlite_sequence table is damaged.
    public static let SQLITE_CORRUPT_SEQUENCE = ResultCode.SQLITE_CORRUPT_SEQUENCE
    /// An entry of an index is missing.
    public static let SQLITE_CORRUPT_INDEX = ResultCode.SQLITE_CORRUPT_INDEX
    /// The WAL index can not be set up for lack of permission.
    public static let SQLITE_READONLY_CANTINIT = ResultCode.SQLITE_READONLY_CANTINIT
    /// The folder can not be written.
    public static let SQLITE_READONLY_DIRECTORY = ResultCode.SQLITE_READONLY_DIRECTORY
    /// An UPDATE trigger tried to delete the row.
    public static let SQLITE_CONSTRAINT_PINNED = ResultCode.SQLITE_CONSTRAINT_PINNED
    /// A value does not fit the type of a column of a STRICT table.
    public static let SQLITE_CONSTRAINT_DATATYPE = ResultCode.SQLITE_CONSTRAINT_DATATYPE
    /// A bulk update resumes.
    public static let SQLITE_NOTICE_RBU = ResultCode.SQLITE_NOTICE_RBU
    /// A symbolic link was followed.
    public static let SQLITE_OK_SYMLINK = ResultCode.SQLITE_OK_SYMLINK
}
