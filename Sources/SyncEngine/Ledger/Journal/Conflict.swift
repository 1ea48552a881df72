import CipherStore
import Foundation
import SyncWire

/// A value that lost against a write that did not know it.
///
/// The journal of a store keeps it until somebody deals with it, see
/// ``Synchronizer/resolve(_:by:)-(ConflictFilter,_)``. It is kept by the replica that found it: a
/// journal is not synchronized, what is restored from it is.
public struct Conflict: Identifiable, Equatable, Sendable {
    /// Why a value lost. New reasons may be added.
    public enum Reason: String, Sendable {
        /// Another write of the column is newer.
        case newer
        /// The row was deleted.
        case deleted
        /// The merge policy of the column failed.
        case mergeFailed = "merge failed"
        /// It did not lose by itself: it is the rest of a row of which a delete
        /// discarded an edit, kept so that the row can be restored as a whole.
        case row
    }

    /// Who wrote something, and when.
    public struct Writer: Equatable, Sendable {
        /// The replica.
        public let replica: ReplicaID
        /// Whether it is this one.
        public let isLocal: Bool
        /// When, in milliseconds of Unix time by the writer's clock; nil when that is not known.
        public let milliseconds: Int64?
    }

    /// What somebody did about a conflict. New cases may be added.
    public enum Resolution: String, Sendable {
        /// The winner was kept.
        case kept
        /// The value that lost was written again.
        case restored
        /// The merge policy of the column made one value of both.
        case merged
    }

    /// The number of the conflict in this store's journal.
    public let id: Int64
    /// The table, by its present name.
    public let table: String
    /// The row's key as the table holds it.
    public let key: DatabaseValue
    /// The column, by its present name.
    public let column: String
    /// The value that lost. Of a counter whose row was deleted it is what one replica
    /// had added.
    public let lost: DatabaseValue
    /// Who had written it.
    public let origin: Writer
    /// Who wrote what won, or deleted the row.
    public let winner: Writer
    /// Why the value lost.
    public let reason: Reason
    /// How often the row had come and gone when the value belonged to it: conflicts
    /// of one row and one life are of one and the same row. 0 when it is not known.
    public let life: Int64
    /// When the conflict was found here, in milliseconds of Unix time.
    public let foundMilliseconds: Int64
    /// What was done about it; nil while it is open.
    public let resolution: Resolution?
    /// When that was done, in milliseconds of Unix time; nil while it is open.
    public let resolvedMilliseconds: Int64?

    /// Whether nobody has dealt with it yet.
    public var isOpen: Bool { resolvedMilliseconds == nil }

    /// The row's key as UUID text.
    public var keyText: String { RowKeyText.text(key) }
}

extension Conflict: FetchableRecord {
    /// Makes a conflict of a row of ``request(_:)``.
    public init(row: Row) throws {
        func writer(_ index: Int) throws -> Writer {
            let stamp = try row.decode(Int64.self, atIndex: index)
            return Writer(
                replica: try StoreMetadata.identifier(row.decode(atIndex: index + 1)),
                isLocal: try row.decode(atIndex: index + 2), milliseconds: stamp == 0 ? nil : stamp >> 16)
        }
        id = try row.decode(atIndex: 0)
        table = try row.decode(atIndex: 1)
        key = try row.decode(atIndex: 2)
        column = try row.decode(atIndex: 3)
        lost = try row.decode(atIndex: 4)
        origin = try writer(5)
        winner = try writer(8)
        reason = Reason(rawValue: try row.decode(atIndex: 11)) ?? .newer
        life = try row.decode(atIndex: 12)
        foundMilliseconds = try row.decode(atIndex: 13)
        resolvedMilliseconds = try row.decode(atIndex: 14)
        resolution = try row.decodeIfPresent(String.self, atIndex: 15).flatMap(Resolution.init)
    }

    private static let sql = """
        SELECT j.id, t.name, j.pk, coalesce(c.name, ''), j.val, j.hlc, o.rid, o.sid = s.self,
            j.won_hlc, w.rid, w.sid = s.self, j.why, j.life, j.at, j.resolved, j.how
        FROM _sync_conflict AS j JOIN _sync_state AS s JOIN _sync_table AS t ON t.tbl = j.tbl
        LEFT JOIN _sync_share AS h ON h.tbl = j.tbl AND h.col = j.col
        LEFT JOIN _sync_column AS c ON c.tbl = j.tbl AND c.col = coalesce(h.counter, j.col)
        JOIN _sync_replica AS o ON o.sid = j.sid JOIN _sync_replica AS w ON w.sid = j.won
        """

    /// A request for conflicts, newest first, which can be fetched and observed
    /// like any other:
    ///
    /// ```swift
    /// let observation = ValueObservation.tracking { db in
    ///     try Conflict.request(ConflictFilter(table: "note")).fetchAll(db)
    /// }
    /// ```
    ///
    /// - precondition: When it is fetched, the store has sync metadata of this
    ///   version: a ``Synchronizer`` was made for it.
    public static func request(_ filter: ConflictFilter = .open) -> SQLRequest<Conflict> {
        let (condition, arguments) = filter.condition
        let limit = filter.limit.map { " LIMIT \(max(0, $0))" } ?? ""
        return SQLRequest(
            sql: "\(sql) WHERE \(condition) ORDER BY j.id DESC\(limit)", arguments: arguments)
    }
}

/// Which conflicts are meant.
public struct ConflictFilter: Equatable, Sendable {
    /// Whether somebody has dealt with a conflict.
    public enum State: Sendable {
        /// Nobody has.
        case open
        /// Somebody has.
        case resolved
    }

    /// The state, or nil for any.
    public var state: State?
    /// The table, by its present name, or nil for all.
    public var table: String?
    /// The row's key as the table holds it, or nil for all.
    public var key: DatabaseValue?
    /// The column, by its present name, or nil for all.
    public var column: String?
    /// The numbers of the conflicts, or nil for all.
    public var ids: [Int64]?
    /// Whether the rest of rows is meant too, see ``Conflict/Reason/row``.
    public var includesRows: Bool
    /// How many at most, newest first, or nil for all.
    public var limit: Int?

    /// Makes a filter. Without arguments it means all open conflicts.
    public init(
        state: State? = .open, table: String? = nil, key: (any DatabaseValueConvertible)? = nil,
        column: String? = nil, ids: [Int64]? = nil, includesRows: Bool = false, limit: Int? = nil
    ) {
        self.state = state
        self.table = table
        self.key = key?.databaseValue
        self.column = column
        self.ids = ids
        self.includesRows = includesRows
        self.limit = limit
    }

    /// All open conflicts.
    public static let open = ConflictFilter()
    /// All conflicts that somebody has dealt with.
    public static let resolved = ConflictFilter(state: .resolved)
    /// All conflicts.
    public static let all = ConflictFilter(state: nil)

    /// The condition in SQL, on the journal as j, its table as t and its column as c.
    var condition: (sql: String, arguments: StatementArguments) {
        var terms: [String] = includesRows ? ["1"] : ["j.why <> 'row'"]
        var arguments: [any DatabaseValueConvertible] = []
        switch state {
        case .open: terms.append("j.resolved IS NULL")
        case .resolved: terms.append("j.resolved IS NOT NULL")
        case nil: break
        }
        if let table {
            terms.append("lower(t.name) = lower(?)")
            arguments.append(table)
        }
        if let key {
            terms.append("j.pk = ?")
            arguments.append(key)
        }
        if let column {
            terms.append("lower(c.name) = lower(?)")
            arguments.append(column)
        }
        if let ids {
            // As text, because a statement has a limited number of parameters.
            terms.append("j.id IN (\(ids.map { String($0) }.joined(separator: ", ")))")
        }
        return (terms.joined(separator: " AND "), StatementArguments(arguments))
    }
}
