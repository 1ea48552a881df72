/// The foreign key violations that a migration is answerable for.
///
/// In a store that is synchronized, a change of a peer can leave rows that refer to nothing: between a table that
/// is tracked and one that is not, no foreign key is acted on. A migration can't help what was there before it.
/// What it finds has no name that lasts: a migration may make tables anew, with other rowids. So violations are
/// counted, by the tables that they are between.
struct MigrationForeignKeys {
    /// Two tables; what involves a table that came, went or has another name is counted as one.
    private enum Place: Hashable {
        case tables(origin: String, destination: String)
        case other
    }

    private var counts: [Place: Int] = [:]
    private let tables: Set<String>

    /// Counts the violations, if the store is synchronized.
    init(before db: Database) throws {
        let isSynchronized = try db.tableExists(SyncNames.state, in: "main")
        tables = isSynchronized ? try Self.tables(db) : []
        guard isSynchronized else { return }
        do {
            let violations = try db.foreignKeyViolations()
            while let violation = try violations.next() { counts[place(violation, tables), default: 0] += 1 }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // A schema that SQLite can't check, which the migration may be there to mend.
            counts = [:]
        }
    }

    /// Throws an error that describes a violation which was not there before, if there is one.
    ///
    /// - throws: A ``DatabaseError`` of code `SQLITE_CONSTRAINT_FOREIGNKEY`.
    func check(_ db: Database) throws {
        guard !counts.isEmpty else { return try db.checkForeignKeys() }
        let kept = tables.intersection(try Self.tables(db))
        var allowed: [Place: Int] = [:]
        for (place, count) in counts { allowed[Self.place(place, kept), default: 0] += count }
        let violations = try db.foreignKeyViolations()
        while let violation = try violations.next() {
            let place = place(violation, kept)
            guard let count = allowed[place], count > 0 else { throw violation.databaseError(db) }
            allowed[place] = count - 1
        }
    }

    private static func tables(_ db: Database) throws -> Set<String> {
        let names = try String.fetchAll(db, sql: "SELECT name FROM main.sqlite_master WHERE type = 'table'")
        return Set(names.map(\.foldedIdentifier))
    }

    private func place(_ violation: ForeignKeyViolation, _ kept: Set<String>) -> Place {
        Self.place(
            .tables(
                origin: violation.originTable.foldedIdentifier,
                destination: violation.destinationTable.foldedIdentifier), kept)
    }

    private static func place(_ place: Place, _ kept: Set<String>) -> Place {
        guard case .tables(let origin, let destination) = place, kept.contains(origin),
            kept.contains(destination)
        else { return .other }
        return place
    }
}
