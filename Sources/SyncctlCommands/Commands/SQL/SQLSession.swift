import CipherStore

/// Runs statements of the user, which can read rows, write them where that is allowed, and do nothing else.
struct SQLSession: Sendable {
    let queue: DatabaseQueue
    let allowsWriting: Bool

    /// Runs one or more statements. Those that write are applied as a whole or not at all.
    ///
    /// - throws: ``Failure`` for SQL that is wrong or not allowed, and for what fails when other statements could have
    ///   written before; other errors of the database as they are.
    func run(_ sql: String, into writer: any ResultWriter) throws {
        var doneCount = 0
        do {
            if allowsWriting {
                try queue.write { try run(sql, $0, writer, &doneCount) }
            } else {
                try queue.read { try run(sql, $0, writer, &doneCount) }
            }
        } catch {
            let reason: any Error = (error as? DatabaseError).map(explained) ?? error
            guard allowsWriting, doneCount > 0 else { throw reason }
            // What was printed of the statements before reads as if it had lasted.
            var failure = Failure(explaining: reason, store: queue.path)
            failure.hints.append("nothing was changed: what was done before that was undone")
            throw failure
        }
    }

    /// - parameter doneCount: Grows with each statement that has run.
    private func run(
        _ sql: String, _ db: Database, _ writer: any ResultWriter, _ doneCount: inout Int
    ) throws {
        try db.restrictedToUntrustedSQL(allowsWriting: allowsWriting) {
            let statements = try db.allStatements(sql: sql)
            while let statement = try statements.next() {
                guard statement.columnCount > 0 else {
                    try statement.execute()
                    try writer.changed(db.changesCount)
                    doneCount += 1
                    continue
                }
                try writer.begin(statement.columnNames)
                let rows = try Row.fetchCursor(statement)
                while let row = try rows.next() {
                    try Interruption.check()
                    try writer.row(row.databaseValues)
                }
                try writer.end()
                doneCount += 1
            }
        }
    }

    /// The error in the words of somebody who wrote the statement.
    private func explained(_ error: DatabaseError) -> any Error {
        let message = PrintableText.escaped(error.message ?? "\(error)")
        switch error.resultCode {
        case .SQLITE_AUTH, .SQLITE_READONLY:
            if !allowsWriting, error.sql.map(Self.wouldWrite) ?? false {
                return Failure(
                    "the store is open for reading only", hints: ["allow rows to be written with --write"])
            }
            // The file, and not what is allowed here, stands against it.
            if error.resultCode == .SQLITE_READONLY { return error }
            return Failure(
                "this statement is not allowed",
                hints: [
                    "SQL reads rows here, and writes them with --write; definitions, tables of synchronization, other files and settings can't be changed"
                ])
        case .SQLITE_MISUSE where message.hasPrefix("wrong number of statement arguments"):
            return Failure("the statement has parameters", hints: ["write the values in their place"])
        case .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_RANGE, .SQLITE_TOOBIG:
            return Failure(message)
        default:
            return error
        }
    }

    private static func wouldWrite(_ sql: String) -> Bool {
        let words = sql.uppercased().split { !$0.isLetter }
        let verbs: Set<Substring> = ["INSERT", "UPDATE", "DELETE", "REPLACE"]
        guard let first = words.first else { return false }
        return verbs.contains(first) || (first == "WITH" && words.contains(where: verbs.contains))
    }
}
