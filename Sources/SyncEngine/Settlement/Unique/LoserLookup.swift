import CipherStore
import SyncWire

/// Looks up the rows that gave way to another one: each of them notes one row that stands, is older and holds a value that it
/// claims.
///
/// As long as that row stays as it is, they can't stand, whatever else happens. So they need not be tried again.
struct LoserLookup {
    /// Whether a hidden row `h` waits for a UNIQUE value, as SQL.
    static let isLoser = "h.reason = '\(ParkedRow.Reason.unique.rawValue)'"

    private let statement: Statement

    init(_ db: Database) throws {
        statement = try db.makeStatement(
            sql: "SELECT h.pk FROM _sync_hidden AS h WHERE h.tbl = ? AND \(Self.isLoser) AND h.other_pk = ?")
    }

    /// Whether any row notes another one.
    static func exist(_ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS(
                    SELECT 1 FROM _sync_table AS t
                    CROSS JOIN _sync_hidden AS h ON h.tbl = t.tbl AND \(isLoser) AND h.other_pk IS NOT NULL)
                """) == true
    }

    /// The rows that note a row.
    func losers(_ table: Int64, to winner: OwnedValue) throws -> [OwnedValue] {
        let raw = statement.sqliteStatement
        statement.reset()
        defer { statement.reset() }
        return try withExtendedLifetime(winner) {
            _ = RawBinding.int64(raw, 1, table)
            winner.value.bind(raw, 2)
            var losers: [OwnedValue] = []
            while try statement.step() { losers.append(OwnedValue(copying: WireValue(raw, 0))) }
            return losers
        }
    }
}
