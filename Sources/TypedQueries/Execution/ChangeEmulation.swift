/// Runs changes whose RETURNING clause or upsert the engine lacks, by other statements.
///
/// All happens in a savepoint: either everything is done, or nothing. Of a statement with the policy `FAIL`, what was done before a
/// violation stays, as it does without emulation.
struct ChangeEmulation {
    let db: Database
    let parts: ChangeParts

    /// Runs a fragment, if it is such a change.
    ///
    /// - parameter read: Gets the SELECT of what is returned; nil when nothing is.
    /// - returns: Whether it was run.
    static func run(
        _ db: Database, _ fragment: QueryFragment, read: ((QueryFragment) throws -> Void)?
    ) throws -> Bool {
        guard QueryFragment.marksParts, fragment.isMarkedChange, let parts = ChangeParts(fragment) else {
            return false
        }
        let emulation = ChangeEmulation(db: db, parts: parts)
        var reason: DatabaseError?
        var count: Int?
        try db.inSavepoint {
            do {
                count = try emulation.run(read ?? { _ in })
            } catch let violation as KeptViolation {
                reason = violation.reason
            }
            return .commit
        }
        if let reason { throw reason }
        if let count { db.noteChanges(count) }
        return true
    }

    /// A violation that does not undo what was done before it.
    private struct KeptViolation: Error {
        let reason: DatabaseError
    }

    /// Runs the statement itself, or a part of it.
    private func runChange(_ fragment: QueryFragment) throws {
        do {
            try db.executeFragment(fragment)
        } catch let error as DatabaseError where parts.stopsAtViolation && error.isStop {
            throw KeptViolation(reason: error)
        }
    }

    /// - returns: How many rows were inserted or updated; nil when one statement did all, so that SQLite says it.
    private func run(_ read: (QueryFragment) throws -> Void) throws -> Int? {
        if !parts.isDelete, !parts.returned.isEmpty, try changesView() {
            throw EngineNeed.error(
                "RETURNING of an insert into a view, or an update of one,", 3_035_000,
                sql: parts.head.debugDescription)
        }
        if parts.isInsert {
            let keys = try conflictKeys()
            var count = 0
            for row in try rows() {
                guard let key = try insert(row, keys) else { continue }
                count += 1
                // What is returned of a row is what it is when the next one comes, which may update it.
                if !parts.returned.isEmpty { try read(selection(where: condition([key]))) }
            }
            return count
        }
        if parts.isDelete {
            let keys = try deletedKeys()
            try read(selection(where: parts.condition))
            try execute(parts.head, parts.condition)
            try requireDeletion(keys)
        } else {
            try read(selection(where: condition(update())))
        }
        return nil
    }

    /// Whether it is a view that is changed, by its triggers. Its rows have no numbers by which they could be read.
    func changesView() throws -> Bool {
        try parts.table.map(db.isView) ?? false
    }

    /// Updates the rows.
    ///
    /// - returns: The numbers of the rows.
    /// - throws: An error that names the version needed, when they are not the same rows afterwards.
    private func update() throws -> [Int64] {
        let source = parts.head.source
        let keys = try Int64.fetchAll(db, parts.commonTables, rowIDName(), source, parts.condition)
        try execute(parts.head, parts.condition)
        guard Int64(db.changesCount) == Int64(keys.count) else { throw returningError }
        try requireRows(keys)
        return keys
    }

    private func execute(_ head: QueryFragment, _ condition: QueryFragment) throws {
        var fragment = parts.commonTables
        fragment.append(head)
        if !condition.isEmpty {
            fragment.append(literal: "\nWHERE ")
            fragment.append(condition)
        }
        try runChange(fragment)
    }

    // MARK: Rows that are inserted

    /// The rows as lists of values between parentheses; nil for one of defaults.
    private func rows() throws -> [QueryFragment?] {
        if parts.insertsDefaults { return [nil] }
        if let select = parts.select { return try rows(of: select) }
        // What looks for a row in the way reads the table, whose name a common table may have.
        guard parts.hasConflictClause, !parts.commonTables.isEmpty else { return parts.rows }
        var values: [QueryFragment?] = []
        for row in parts.rows {
            var select = QueryFragment("VALUES ")
            select.append(row)
            values += try rows(of: select)
        }
        return values
    }

    /// The rows of a statement that uses the common tables, as lists of values.
    private func rows(of select: QueryFragment) throws -> [QueryFragment?] {
        var query = parts.commonTables
        query.append(select)
        let statement = try db.cursorStatement(query)
        return try Row.fetchAll(statement).map { row in
            var values = QueryFragment("(")
            for index in 0..<row.count {
                if index > 0 { values.append(literal: ", ") }
                values.append(binding: QueryBinding(row[index] as DatabaseValue))
            }
            values.append(literal: ")")
            return values
        }
    }

    /// Inserts a row, or does what there is to do with one that is in its way.
    ///
    /// - parameters:
    ///     - row: The values; nil for those of a row of defaults.
    ///     - keys: By what another row is in its way.
    /// - returns: The number of the row that was inserted or updated.
    private func insert(_ row: QueryFragment?, _ keys: [ConflictKey]) throws -> Int64? {
        if let row, let key = try rowInTheWay(row, keys) {
            guard parts.assignments != nil, try update(key, row) else { return nil }
            if !parts.returned.isEmpty { try requireRows([key]) }
            return key
        }
        var fragment = parts.select == nil ? parts.commonTables : QueryFragment()
        fragment.append(parts.head)
        if let row {
            fragment.append(literal: "\nVALUES ")
            fragment.append(row)
        } else {
            fragment.append(literal: " DEFAULT VALUES")
        }
        let skipsOthers = parts.doesNothing && parts.conflictTarget.isEmpty
        do {
            try runChange(fragment)
        } catch let error as DatabaseError
            where skipsOthers && error.isUniqueness(of: parts.table?.tableName)
        {
            return nil
        } catch let violation as KeptViolation
            where skipsOthers && violation.reason.isUniqueness(of: parts.table?.tableName)
        {
            return nil
        }
        // A policy may have left it out.
        return db.changesCount > 0 ? db.lastInsertedRowID : nil
    }

    // MARK: What is returned

    private func selection(where condition: QueryFragment) -> QueryFragment {
        var fragment = parts.commonTables
        fragment.append(literal: "SELECT ")
        fragment.append(parts.returned)
        fragment.append(literal: " FROM ")
        fragment.append(parts.head.source)
        if !condition.isEmpty {
            fragment.append(literal: " WHERE ")
            fragment.append(condition)
        }
        return fragment
    }
}

extension DatabaseError {
    /// Whether a row violated what the policy of a statement is about. Foreign keys and triggers are not among it.
    fileprivate var isStop: Bool {
        [
            .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID,
            .SQLITE_CONSTRAINT_NOTNULL, .SQLITE_CONSTRAINT_CHECK,
        ].contains(extendedResultCode)
    }

    /// Whether another row of a table has the same key. A trigger may have violated that of another table.
    fileprivate func isUniqueness(of table: String?) -> Bool {
        guard
            [.SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID]
                .contains(extendedResultCode)
        else { return false }
        guard let table, let message else { return true }
        let subject = message.drop { $0 != ":" }.dropFirst(2)
        return subject.lowercased().hasPrefix(table.lowercased() + ".") || subject.hasPrefix("index '")
    }
}

extension QueryBinding {
    init(_ value: DatabaseValue) {
        self =
            switch value.storage {
            case .null: .null
            case .int64(let value): .int(value)
            case .double(let value): .double(value)
            case .string(let value): .text(value)
            case .blob(let value): .blob([UInt8](value))
            }
    }
}

extension QueryFragment {
    /// The table of the head of a change.
    var source: QueryFragment {
        var fragment = QueryFragment()
        var index = 0
        while index < code.count {
            let length = Code.length(code[index])
            if code[index] == Code.tableSource {
                fragment.code.append(contentsOf: code[index..<index + length])
                return fragment
            }
            index += length
        }
        return fragment
    }
}
