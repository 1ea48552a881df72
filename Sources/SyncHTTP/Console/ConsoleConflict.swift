import CipherStore
import Crypto
import SyncEngine
import SyncWire

/// What the server's page shows of one conflict: both values, and what happened to the row. Times are milliseconds of
/// Unix time.
struct ConsoleConflict: Encodable, Sendable {
    struct Writer: Encodable, Sendable {
        /// A device, a remote, or the start of a replica's id.
        let name: String
        let at: Int64?
    }

    struct Change: Encodable, Sendable {
        let at: Int64
        let by: String
        /// `insert`, `update` or `delete`.
        let operation: String
        /// The columns that an update wrote.
        let columns: [String]
    }

    let id: Int64
    let table: String
    let key: String
    let column: String
    let reason: String
    let found: Int64
    /// Whether nobody has dealt with it.
    let open: Bool
    /// The value that lost, shortened when it is very long.
    let lost: String
    let writer: Writer
    /// The value that stands now; nothing when the row or the column is not there.
    let current: String?
    let winner: Writer
    /// Whether the row is in its table.
    let rowExists: Bool
    /// How many other values of the row the journal keeps.
    let others: Int
    /// What stands for the value now: a choice is made about a value that was seen.
    let state: String
    /// The latest changes of the row, the last one first.
    let history: [Change]
}

extension ConsoleReader {
    /// The most characters, and bytes of a blob, that are shown of a value.
    private static var valueCharactersMax: Int { 20_000 }
    private static var valueBytesMax: Int { 512 }
    private static var changeCountMax: Int { 50 }

    /// Reads a conflict, and the history of its row. Blocks.
    ///
    /// - throws: ``RemoteError`` of code `notFound` when there is no such conflict.
    func conflict(_ id: Int64) throws -> ConsoleConflict {
        let synchronizer = store.synchronizer
        let found = try synchronizer.writer.read { try synchronizer.conflictAndCount($0, id: id) }
        guard let (detail, others) = found else {
            throw RemoteError(.notFound, "there is no conflict \(id)")
        }
        let conflict = detail.conflict
        let changes = try synchronizer.history(
            of: conflict.table, key: conflict.key, limit: Self.changeCountMax)
        let registered = try store.register.devices()
        let contacts = try synchronizer.writer.read { try ServedState.contacts($0) }
        let names = Self.names(registered, contacts)
        let writer = { (writer: Conflict.Writer) in
            ConsoleConflict.Writer(
                name: Self.word(writer.replica, isLocal: writer.isLocal, names), at: writer.milliseconds)
        }
        return ConsoleConflict(
            id: conflict.id, table: conflict.table, key: conflict.keyText, column: conflict.column,
            reason: conflict.reason.rawValue, found: conflict.foundMilliseconds, open: conflict.isOpen,
            lost: Self.text(conflict.lost), writer: writer(conflict.origin),
            current: detail.current.map(Self.text), winner: writer(conflict.winner),
            rowExists: detail.rowExists, others: others, state: Self.state(detail),
            history: changes.map {
                ConsoleConflict.Change(
                    at: $0.milliseconds, by: Self.word($0.replica, isLocal: $0.isLocal, names),
                    operation: $0.operation.rawValue, columns: $0.columns)
            })
    }

    /// Deals with a conflict, unless its value is another one by now. Blocks.
    ///
    /// - parameter state: That of the conflict as it was shown; nil for whatever it is.
    /// - throws: ``RemoteError`` of code `notFound`, `SyncError` of code `conflictResolved` and others.
    func resolve(_ id: Int64, by choice: ConflictChoice, state: String?) throws -> ConflictResolution {
        let synchronizer = store.synchronizer
        return try synchronizer.writer.write { db in
            guard let (detail, _) = try synchronizer.conflictAndCount(db, id: id) else {
                throw RemoteError(.notFound, "there is no conflict \(id)")
            }
            guard detail.conflict.isOpen else {
                throw SyncError(.conflictResolved, "conflict \(id) was resolved before")
            }
            if let state, state != Self.state(detail) {
                throw SyncError(
                    .conflictResolved, "the value has changed since it was shown; look at it again")
            }
            return try synchronizer.resolve(ConflictFilter(ids: [id]), by: choice, in: db)
        }
    }

    /// A hash of the value that stands now, or of there being none.
    private static func state(_ detail: ConflictDetail) -> String {
        let bytes: [UInt8]
        switch detail.current?.storage {
        case nil: bytes = [detail.rowExists ? 1 : 0]
        case .null: bytes = [2]
        case .int64(let value): bytes = [3] + Array("\(value)".utf8)
        case .double(let value): bytes = [4] + Array("\(value)".utf8)
        case .string(let value): bytes = [5] + Array(value.utf8)
        case .blob(let value): bytes = [6] + Array(value)
        }
        return ByteText.hex(Array(SHA256.hash(data: bytes).prefix(16)))
    }

    private static func text(_ value: DatabaseValue) -> String {
        ShortValue.text(value, characters: valueCharactersMax, bytes: valueBytesMax)
    }
}
