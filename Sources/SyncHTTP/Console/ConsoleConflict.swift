import CipherStore
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
        guard let detail = try synchronizer.conflict(id: id) else {
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
            rowExists: detail.rowExists, others: detail.others.count,
            history: changes.map {
                ConsoleConflict.Change(
                    at: $0.milliseconds, by: Self.word($0.replica, isLocal: $0.isLocal, names),
                    operation: $0.operation.rawValue, columns: $0.columns)
            })
    }

    private static func text(_ value: DatabaseValue) -> String {
        ShortValue.text(value, characters: valueCharactersMax, bytes: valueBytesMax)
    }
}
