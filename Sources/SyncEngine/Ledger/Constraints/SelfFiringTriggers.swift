import CipherStore

/// The user's triggers of a table that would run for ever: tracking needs recursive triggers, and one without a condition
/// that updates its own table on each update of it fires itself.
///
/// One that runs for some columns only, by `UPDATE OF`, fires itself when it sets one of these, or when another trigger does that
/// it fires. Of several that fire each other in a circle, one with a condition is enough: it may well end that, which nobody can tell
/// from its text.
struct SelfFiringTriggers {
    /// What a trigger without a condition does to its own table.
    private struct Cycle {
        let name: String
        /// The columns for whose updates it runs, case-folded; nil for all.
        let observed: Set<String>?
        /// The columns that it sets there, case-folded; nil when that can't be told.
        let written: Set<String>?

        /// Whether an update of some columns fires it.
        func isFired(by columns: Set<String>?) -> Bool {
            guard let observed, let columns else { return true }
            return !observed.isDisjoint(with: columns)
        }
    }

    private let triggers: [(table: String, name: String, sql: String)]

    /// Reads the triggers of the file.
    init(_ db: Database) throws {
        triggers = try db.rows(
            """
            SELECT tbl_name, name, sql FROM main.sqlite_master
            WHERE type = 'trigger' AND substr(name, 1, 6) <> '_sync_' ORDER BY rowid
            """
        ) { row in
            (
                table: try row.decodeStrictly(String.self, atIndex: 0),
                name: try row.decodeStrictly(String.self, atIndex: 1),
                sql: try row.decodeStrictly(String.self, atIndex: 2)
            )
        }
    }

    /// The names of those of a table that fire themselves, directly or by others.
    func names(of table: String) -> [String] {
        let cycles = triggers.filter { $0.table.isSameIdentifier(as: table) }
            .compactMap { Self.cycle($0.name, $0.sql, table) }
        return cycles.filter { Self.firesItself($0, cycles) }.map(\.name)
    }

    /// What is wrong with one of them, and what to do.
    static func complaint(_ trigger: String, table: String) -> String {
        """
        trigger \(trigger) updates table \(table) on each update that fires it, and fires itself; tracking needs recursive \
        triggers, so it would run for ever: give it a condition, such as WHEN NEW.updated_at IS OLD.updated_at, or let it run \
        for other columns than it sets, such as AFTER UPDATE OF title
        """
    }

    private static func firesItself(_ first: Cycle, _ cycles: [Cycle]) -> Bool {
        var rest = cycles
        var reached = [first]
        while let next = reached.popLast() {
            if first.isFired(by: next.written) { return true }
            reached += rest.filter { $0.isFired(by: next.written) }
            rest.removeAll { $0.isFired(by: next.written) }
        }
        return false
    }

    // MARK: Texts

    /// - returns: nil for a trigger that runs for no update, has a condition, or updates another table.
    private static func cycle(_ name: String, _ sql: String, _ table: String) -> Cycle? {
        let tokens = SQLTokens(sql).tokens
        guard let begin = tokens.firstIndex(where: { $0.isKeyword("begin") }),
            let update = tokens[..<begin].firstIndex(where: { $0.isKeyword("update") }),
            !tokens[..<begin].contains(where: { $0.isKeyword("when") })
        else { return nil }
        var observed: Set<String>?
        if tokens[update + 1].isKeyword("of") {
            observed = Set(
                tokens[(update + 2)..<begin].prefix { !$0.isKeyword("on") }.filter { $0.kind != .other }
                    .map { $0.text.identifierKey })
        }
        let updates = tokens.indices[begin...].filter {
            tokens[$0].isKeyword("update") && isTarget(table, tokens[($0 + 1)...])
        }
        guard !updates.isEmpty else { return nil }
        var written: Set<String>? = []
        for update in updates {
            guard let columns = columnsSet(tokens[update...]) else {
                written = nil
                break
            }
            written?.formUnion(columns)
        }
        return Cycle(name: name, observed: observed, written: written)
    }

    /// Whether what stands behind the word UPDATE names a table.
    private static func isTarget(_ table: String, _ tokens: ArraySlice<SQLToken>) -> Bool {
        let names = tokens.first?.isKeyword("or") == true ? tokens.dropFirst(2) : tokens
        return names.first?.text.isSameIdentifier(as: table) == true
    }

    /// The columns that an UPDATE sets, case-folded; nil when the text can't be followed.
    private static func columnsSet(_ tokens: ArraySlice<SQLToken>) -> Set<String>? {
        guard let set = tokens.firstIndex(where: { $0.isKeyword("set") }) else { return nil }
        var columns: Set<String> = []
        var depth = 0
        // A name is set where an assignment begins, or inside of the brackets that stand there.
        var isAssigned = true
        for token in tokens[(set + 1)...] {
            switch true {
            case token.isSymbol("("): depth += 1
            case token.isSymbol(")"): depth -= 1
            case token.isSymbol("=") && depth == 0: isAssigned = false
            case token.isSymbol(",") && depth == 0: isAssigned = true
            case token.isSymbol(";") && depth == 0: return columns
            case depth == 0 && !isAssigned && (token.isKeyword("where") || token.isKeyword("from")):
                return columns
            case isAssigned && token.kind != .other: columns.insert(token.text.identifierKey)
            default: break
            }
        }
        return columns
    }
}
