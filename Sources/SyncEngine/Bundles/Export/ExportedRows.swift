import CipherStore
import SyncWire

/// Decides what a receiver gets that holds some rows of a table: by the value that a row has in the
/// scope column now, and by whether the receiver may know that already.
struct ExportedRows {
    /// What is sent of a row that changed.
    enum Decision {
        /// Nothing.
        case nothing
        /// What the receiver does not know.
        case changes
        /// All of it: the receiver may not have it.
        case whole
        /// That it is no longer among the receiver's.
        case leave
    }

    /// Who wrote something.
    typealias Stamp = (sid: Int64, sequence: Int64)

    let restriction: ReplicaFacts.Restriction
    /// The place of the scope column among the table's; nil when it has none here, so no row has a value.
    let ordinal: Int?
    private let column: Int?
    /// nil when all rows are wanted.
    private let wanted: Set<ScopeValue>?
    private let held: Set<ScopeValue>
    /// Whether the receiver gets all rows that it wants, whatever it knows.
    private let isFull: Bool
    private let since: [Int64: Int64]
    private let own: [Int64: Int64]

    /// - parameter base: What the receiver has taken into account; nothing when it gets all rows.
    /// - throws: ``SyncError`` of code `scopeUnsupported` when nobody can tell which rows are wanted.
    init(
        _ table: SyncedTable, _ aliases: NameAliases, _ request: RowRequest, _ metadata: StoreMetadata,
        base: VersionVector
    ) throws {
        let found = Self.column(request.columns, of: table, aliases)
        guard let name = found?.name ?? request.columns.first else {
            throw SyncError(.scopeUnsupported, "rows of table \(table.name) are asked for by no column")
        }
        column = found?.number
        ordinal = table.columns.firstIndex { $0.number == found?.number }
        restriction = ReplicaFacts.Restriction(
            table: table.name, column: name, values: request.values, receiver: request.receiver,
            revision: request.revision)
        wanted = request.values.map(Set.init)
        held = Set(request.heldValues)
        isFull = base.sequences.isEmpty
        var since: [Int64: Int64] = [:]
        var own: [Int64: Int64] = [:]
        for replica in metadata.replicas {
            since[replica.sid] = base[replica.id]
            own[replica.sid] = request.partial.own[replica.id]
        }
        self.since = since
        self.own = own
    }

    /// The scope column that a request means: by a name that a column has here, else by one that it had.
    static func column(
        _ names: [String], of table: SyncedTable, _ aliases: NameAliases
    ) -> SyncedTable.Column? {
        if let column = table.columns.named(names, by: \.name) { return column }
        let numbers = names.compactMap { aliases.column(named: $0, in: table.number) }
        return table.columns.first { $0.number == numbers.first }
    }

    /// Whether rows are sent that did not change, because their value was not wanted before.
    var hasAddedValues: Bool { !isFull && wanted?.isSubset(of: held) == false }

    /// Whether the receiver did not know a change when it got the rows that it has.
    func isChange(_ stamp: Stamp) -> Bool { stamp.sequence > since[stamp.sid] ?? 0 }

    /// Whether it is one that the receiver did not make itself.
    func isNew(_ stamp: Stamp) -> Bool { isChange(stamp) && stamp.sequence > own[stamp.sid] ?? 0 }

    /// Whether a row that did not change is sent, because its value was not wanted before.
    func isAdded(_ value: WireValue) -> Bool {
        assert(hasAddedValues, "no value is wanted that was not held")
        guard let value = ScopeValue(value) else { return false }
        return wanted?.contains(value) == true && !held.contains(value)
    }

    /// Decides about a row that exists.
    ///
    /// - parameters:
    ///     - cells: The columns that were written after the whole row.
    ///     - value: The value of the scope column.
    ///     - mayComeTwice: Whether two replicas can have inserted a row under this key.
    func decide(
        life: Int64, base: Stamp, cells: [(column: Int, stamp: Stamp)], value: WireValue, mayComeTwice: Bool
    ) -> Decision {
        let cell = cells.first { $0.column == column }?.stamp
        let scope = cell ?? base
        guard let wanted else { return .whole }
        let value = ScopeValue(value)
        if let value, wanted.contains(value) {
            guard !isFull, held.contains(value), !isNew(scope),
                !mayHaveMoved(scope, life, cell != nil, mayComeTwice)
            else {
                return .whole
            }
            return isNew(base) || cells.contains { isNew($0.stamp) } ? .changes : .nothing
        }
        // Without a new value the row was out of scope before and still is. If the receiver deleted its own copy before
        // evicting it, send a *leave* so it learns that it missed a change.
        guard !isFull, isChange(scope) else { return .nothing }
        let isFirst = isNew(base) && life == 1 && !mayComeTwice
        return isFirst ? .nothing : .leave
    }

    /// Whether the receiver itself moved a row: it may have taken the row out before, and waits to hear
    /// where it is. Of a row that only it can have inserted, for the first time, it knows.
    private func mayHaveMoved(_ scope: Stamp, _ life: Int64, _ isCell: Bool, _ mayComeTwice: Bool) -> Bool {
        isChange(scope) && (isCell || life > 1 || mayComeTwice)
    }

    /// Whether keys of this kind may be made of something else than chance or time, so that two
    /// replicas can make the same: all but UUIDs of versions 1, 4, 6 and 7.
    static func mayComeTwice(_ key: RowKey) -> Bool {
        let version: UInt8
        let variant: UInt8
        if key.isText {
            guard key.bytes.count == 36 else { return true }
            version = key.bytes[14] &- 0x30
            guard let digit = Int(String(UnicodeScalar(key.bytes[19])), radix: 16) else { return true }
            variant = UInt8(digit) >> 2
        } else {
            guard key.bytes.count == 16 else { return true }
            version = key.bytes[6] >> 4
            variant = key.bytes[8] >> 6
        }
        return variant != 2 || ![1, 4, 6, 7].contains(version)
    }
}
