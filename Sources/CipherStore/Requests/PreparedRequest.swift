/// A request that is ready to run.
public struct PreparedRequest {
    /// The statement, with its arguments.
    public var statement: Statement

    /// How the rows of the statement are presented, or nil for as they are.
    public var adapter: (any RowAdapter)?

    /// Completes the fetched rows, which are copies, with the rows of other
    /// requests, or nil when there is nothing to add.
    var completion: Completion?

    /// Fetches the rows of the other requests.
    typealias Completion = (_ db: Database, _ rows: AssociatedRowList) throws -> [AssociatedRows]

    /// The rows of another request.
    struct AssociatedRows {
        /// Their name, after the names of the scopes that they belong to.
        let path: [String]
        /// Those of each query.
        let parts: [AssociatedRowList]
        /// Those of each of the first rows.
        let lists: [AssociatedRowList]

        var all: AssociatedRowList { AssociatedRowList(parts) }
    }

    /// Makes a request of a statement.
    public init(statement: Statement, adapter: (any RowAdapter)? = nil) {
        self.statement = statement
        self.adapter = adapter
    }

    /// Makes a request whose rows are completed after they were fetched.
    init(
        statement: Statement, adapter: (any RowAdapter)? = nil,
        completion: Completion?
    ) {
        self.init(statement: statement, adapter: adapter)
        self.completion = completion
    }
}

extension PreparedRequest {
    /// The rows of a request that completes them, or nil for other requests,
    /// whose rows need no copy.
    @usableFromInline func completedRows(_ db: Database, limit: Int = .max) throws -> [Row]? {
        guard let completion else { return nil }
        let cursor = try Row.fetchCursor(statement, adapter: adapter)
        let rows = try Array(cursor.prefix(limit).map { $0.copy() })
        for associated in try completion(db, .rows(rows)) {
            for (row, list) in zip(rows, associated.lists) {
                row.prefetches.set(list, path: associated.path[...])
            }
        }
        return rows
    }

    /// Calls a function for each row of a request that completes them. The row is valid until the function returns.
    ///
    /// - returns: false for other requests, whose rows need no copy.
    @usableFromInline func forEachCompletedRow(_ db: Database, _ body: (Row) throws -> Void) throws -> Bool {
        guard let completion else { return false }
        let block = try RowBlock(statement, adapter: adapter)
        let row = block.movingRow()
        let all = try completion(db, .places(Array(0..<block.count), block))
        for index in 0..<block.count {
            let row = row ?? block.row(at: index)
            row.move(to: block.offset(of: index))
            var prefetches = PrefetchedRows()
            for associated in all { prefetches.set(associated.lists[index], path: associated.path[...]) }
            row.prefetches = prefetches
            try body(row)
        }
        return true
    }

    /// Throws when the rows can't be read one by one.
    @usableFromInline func checkAllowsCursor() throws {
        guard completion != nil else { return }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "a request that prefetches associated rows can't be read by a cursor: use fetchAll",
            sql: statement.sql)
    }
}

@available(*, unavailable)
extension PreparedRequest: Sendable {}

extension PreparedRequest {
    /// Keeps the statement for the next request with its text, unless somebody else has it, too.
    @usableFromInline mutating func returnStatement(to db: Database) {
        guard statement.isOfRequest else { return }
        // It holds the statement.
        completion = nil
        guard isKnownUniquelyReferenced(&statement) else { return }
        statement.requestRegion = nil
        db.noteRun(statement.sql, statement)
    }
}
