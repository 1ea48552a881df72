// Before each statement, a connection asks whether it may run at all: it may be
// closed, its task cancelled, its file replaced, or its transaction gone.

extension Database {
    /// Throws when no statement may run. It costs a load and a comparison.
    @inline(__always)
    func checkMayRun(_ sql: @autoclosure () -> String) throws {
        if interruption.restrictions.isEmpty && !(needsTransaction && !isInsideTransaction) { return }
        try explainRestriction(sql())
    }

    /// Throws when the connection is closed.
    func checkIsOpen(_ sql: String) throws {
        if isClosed { throw Self.closedError(sql: sql) }
    }

    static func closedError(sql: String?) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: "Connection is closed", sql: sql)
    }

    private func explainRestriction(_ sql: String) throws {
        let restrictions = interruption.restrictions
        if restrictions.contains(.closed) { throw Self.closedError(sql: sql) }
        if restrictions.contains(.replaced) { throw Self.replacedFileError(path: path) }
        if restrictions.contains(.unsettled) { settle() }
        if protection == .everything { return }
        let verb = TransactionVerb(sql: sql)
        if restrictions.contains(.cancelled) && protection == .none && verb != .rollback {
            throw CancellationError()
        }
        if restrictions.contains(.suspended) { try checkSuspension(sql, verb) }
        if needsTransaction && !isInsideTransaction && !verb.startsAnew {
            throw DatabaseError(
                resultCode: .SQLITE_ABORT, message: "Transaction was aborted", sql: sql.trimmedSQL)
        }
        // A suspension lets it run, so it is none of those that the suspension stops.
        interruption.remove(.stopping)
    }

    /// Runs statements that other threads can't stop: the end of a transaction,
    /// or of a read, which must not fail half-way.
    func protected<T>(_ body: () throws -> T) rethrows -> T {
        let outer = protection
        protection = .everything
        defer { protection = outer }
        return try interruption.withoutInterruption(body)
    }

    /// Runs the end of a transaction or a read, also when an interruption from
    /// before is still in effect: SQLite clears it only when no statement is active.
    ///
    /// Inside of an SQL function there is a statement that must stay active. It
    /// fails as soon as the function returns, and what was to be run is run
    /// before the next statement.
    func executeProtected(_ sql: String) throws {
        try protected { try throughInterruption(sql) { try execute(sql: sql) } }
    }

    /// The same, for a caller whose section is protected.
    ///
    /// - parameters:
    ///     - sql: The statement.
    ///     - run: Runs it.
    func throughInterruption(_ sql: String, _ run: () throws -> Void) throws {
        do {
            try run()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            guard resetStatements() else { return owe(sql) }
            try run()
        }
    }

    /// Rewinds all statements, so that none is active, and ends their runs:
    /// their next step would begin anew.
    ///
    /// - returns: Whether that was possible: it is not while SQLite is in the
    ///   middle of a statement that has called a function.
    @discardableResult func resetStatements() -> Bool {
        guard watch.functionDepth == 0 else { return false }
        watch.runs.interrupt()
        SQLiteHandle.resetStatements(handle)
        return true
    }

    /// Notes a statement that an interruption did not let end a transaction or a
    /// savepoint, or change a setting.
    func owe(_ sql: String) {
        owedStatements.append(sql)
        interruption.insert(.unsettled)
    }

    /// Runs what was noted, as soon as no function runs any longer.
    func settle() {
        guard watch.functionDepth == 0, !owedStatements.isEmpty, !isClosed else { return }
        let statements = owedStatements
        owedStatements = []
        interruption.remove(.unsettled)
        for sql in statements {
            // The statement that called the function may have taken the transaction with it,
            // and a block that must not write may have begun.
            let isSetting = TransactionVerb(sql: sql) == .other
            let isDue = sql == Self.allowingWrites ? !isReadOnly : isSetting || isInsideTransaction
            guard isDue else { continue }
            do {
                try executeProtected(sql)
            } catch {
                Self.log(error)
            }
        }
    }

    static func replacedFileError(path: String) -> StoreError {
        StoreError(
            .replaced, "the file was replaced or removed while it was open; open it again", path: path)
    }
}

/// The part that a statement plays in a transaction.
enum TransactionVerb {
    case begin, beginImmediate, commit, rollback, savepoint, other

    /// Whether the statement makes sense after SQLite has rolled back by itself.
    var startsAnew: Bool { self == .begin || self == .beginImmediate || self == .rollback }

    /// Looks at the first words of a statement, after blanks and comments.
    init(sql: String) {
        var words = SQLWords(sql)
        switch words.next() {
        case "BEGIN":
            switch words.next() {
            case "IMMEDIATE", "EXCLUSIVE": self = .beginImmediate
            default: self = .begin
            }
        case "COMMIT", "END", "RELEASE": self = .commit
        case "ROLLBACK": self = .rollback
        case "SAVEPOINT": self = .savepoint
        default: self = .other
        }
    }
}

/// The leading keywords of a statement, in upper case.
private struct SQLWords {
    private var rest: Substring.UTF8View

    init(_ sql: String) { rest = sql[...].utf8 }

    mutating func next() -> String {
        skipBlanksAndComments()
        let word = rest.prefix { ($0 | 0x20) >= UInt8(ascii: "a") && ($0 | 0x20) <= UInt8(ascii: "z") }
        rest = rest.dropFirst(word.count)
        return String(Substring(word)).uppercased()
    }

    private mutating func skipBlanksAndComments() {
        while let first = rest.first {
            if first <= 0x20 || first == UInt8(ascii: ";") {
                rest.removeFirst()
            } else if rest.starts(with: "--".utf8) {
                rest = rest.drop { $0 != 0x0A }
            } else if rest.starts(with: "/*".utf8) {
                rest = rest.dropFirst(2)
                while !rest.isEmpty && !rest.starts(with: "*/".utf8) { rest.removeFirst() }
                rest = rest.dropFirst(2)
            } else {
                return
            }
        }
    }
}
