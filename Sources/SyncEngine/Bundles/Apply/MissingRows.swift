import CipherStore
import SyncWire

/// Rows of which a bundle brings a change, and not the write that began them, because its sender took that for known.
///
/// It can count as known without being here: a replica that sends its changes in portions, or holds rows back, claims
/// all changes up to a number, and one that was replaced later comes with what replaced it. Another replica may have got
/// it before, and build on it. The sender is asked for all of such rows then.
struct MissingRows {
    /// So many are named at once.
    private static let namedCountMax = 1000

    /// By the key of the table's name: to Swift, two names of other bytes can be equal.
    private var rows: [String: StateRows] = [:]
    private var count = 0

    /// Notes a row.
    ///
    /// - parameter table: What the sender calls its table: it is the one that is asked.
    mutating func add(_ table: String, _ key: RowKey) {
        count += 1
        guard count <= Self.namedCountMax else { return }
        rows[table.identifierKey, default: StateRows(table: [table], keys: [])].keys.append(
            StateRowKey(bytes: Array(key.bytes), isText: key.isText))
    }

    /// - throws: ``SyncError`` of code `rowsMissing`, which names them.
    func requireNone() throws {
        let rows = self.rows.sorted { $0.key < $1.key }.map(\.value)
        guard let table = rows.first?.table.first else { return }
        assert(count > 0 && !rows.contains { $0.keys.isEmpty })
        var error = SyncError(
            .rowsMissing,
            """
            the bundle changes \(count) rows that are not here, such as one of table \(table), and does not say how they \
            began; have one of everything made, or synchronize with the sender directly
            """)
        error.rows = rows
        throw error
    }
}
