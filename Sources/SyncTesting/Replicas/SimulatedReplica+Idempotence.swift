import CipherStore

/// Whether what was done once changes anything when it is done again.
extension SimulatedReplica {
    /// The rows of all tables as text, but for the notes of who was met, and what is brought up to date when somebody asks for
    /// it: digests, and the schema that was looked at last.
    func everything() throws -> [String] {
        try queue.read { db in
            let tables = try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('_sync_peer', '_sync_digest')
                    ORDER BY name
                    """)
            let all = try tables.flatMap { table in
                try Row.fetchAll(db, sql: "SELECT * FROM \(table.quotedDatabaseIdentifier)").map { row in
                    table + row.databaseValues.map { " \(ModelValue($0))" }.joined()
                }.sorted()
            }
            return all.filter {
                !$0.hasPrefix("_sync_setting 'digest.") && !$0.hasPrefix("_sync_setting 'schema.seen'")
            }
        }
    }

    /// Applies a bundle that was applied before, unless there is something that is to be folded first.
    func applyAgain(_ apply: () throws -> Void) throws {
        guard model.pending.isEmpty else { return }
        let before = try everything()
        try apply()
        let after = try everything()
        if before != after {
            let difference = Set(after).symmetricDifference(before).sorted().prefix(6)
            throw SimulationViolation(
                .idempotence,
                "applying a bundle again changed replica \(name): \(difference.joined(separator: "; "))")
        }
    }
}
