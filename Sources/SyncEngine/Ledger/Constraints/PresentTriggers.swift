import CipherStore

/// What a writer of tables has to know of the user's triggers that are there.
///
/// All of them are read for that, so those who write many tables make this once. It holds as long as no trigger comes or goes.
final class PresentTriggers {
    private let db: Database
    private let tables: Set<String>
    private var canFailHalfWay: Bool?

    /// Reads the triggers.
    init(_ db: Database) throws {
        self.db = db
        tables = try UserTriggers.tables(db)
    }

    /// Whether the user has triggers on a table.
    func exist(on table: SyncedTable) -> Bool { tables.contains(table.storageName.identifierKey) }

    /// Whether one of them can fail and leave what it ran for.
    func mayFailHalfWay() throws -> Bool {
        let result = try canFailHalfWay ?? UserTriggers.mayFailHalfWay(db)
        canFailHalfWay = result
        return result
    }
}
