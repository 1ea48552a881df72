import CipherStore

/// Finds what is known of the rows of parents' tables by a key, in whatever spelling the collation of that takes for the same.
///
/// The index of the metadata has none but the usual collation, so each look-up reads all rows that are known of the table. After
/// some of them the rows are found in a list that is made once: while orphans are taken out, no row gets another version.
final class ParentSpellings {
    /// How many times the metadata are read before a list is made, which takes about as long.
    static let readingsMax = 15

    private let db: Database
    private var lookupCounts: [Int64: Int] = [:]
    private var lists: [Int64: String] = [:]

    init(_ db: Database) { self.db = db }

    /// Selects the rows that may be the parent in a reference: whether one exists, and its key. The first argument of the
    /// statement is the number of the parent's table, the second one the key that is looked for.
    func selection(_ reference: ForeignKey) throws -> String {
        """
        SELECT r.cl & 1, r.pk FROM \(try source(reference)) AS r
        WHERE r.tbl = ?1 AND r.pk = ?2\(reference.collate)
        """
    }

    /// What to look in, as SQL.
    private func source(_ reference: ForeignKey) throws -> String {
        let metadata = "main._sync_row"
        guard !reference.collate.isEmpty else { return metadata }
        let parent = reference.parent.number
        lookupCounts[parent, default: 0] += 1
        if lookupCounts[parent] == Self.readingsMax + 1 { lists[parent] = try makeList(reference) }
        return lists[parent].map { "temp.\($0)" } ?? metadata
    }

    /// - returns: The name of the list.
    private func makeList(_ reference: ForeignKey) throws -> String {
        let parent = reference.parent.number
        let list = "_sync_parent\(parent)"
        // The keys have no type, so that each of them stays what it is.
        try db.execute(
            sql: """
                DROP TABLE IF EXISTS temp.\(list);
                CREATE TEMP TABLE \(list) AS SELECT tbl, pk, cl FROM main._sync_row WHERE tbl = \(parent);
                CREATE INDEX temp.\(list)_key ON \(list) (tbl, pk\(reference.collate));
                """)
        return list
    }

    /// Forgets the lists.
    func finish() {
        for list in lists.values { try? db.execute(sql: "DROP TABLE IF EXISTS temp.\(list)") }
        lists = [:]
    }
}
