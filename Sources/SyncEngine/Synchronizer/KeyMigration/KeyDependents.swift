import CipherStore

/// Finds what seems to depend on keys being integers, or what they were: an order, a number, the rowid.
///
/// Names are not resolved: a name that a converted column has counts wherever a program mentions the
/// column's table. So this may name a program that is all right, and the user decides.
struct KeyDependents {
    let db: Database
    let schema: ConversionSchema
    let tables: [KeyConversionPlan.ConvertedTable]

    func all() throws -> [UUIDKeyPlan.Dependent] {
        var found: [UUIDKeyPlan.Dependent] = []
        for table in tables { found += definitions(table) }
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT type, name, tbl_name, sql FROM main.sqlite_master
                WHERE type IN ('index', 'trigger', 'view') AND sql IS NOT NULL ORDER BY type, name
                """)
        for row in rows {
            let name: String = try row.decode(atIndex: 1)
            let type: String = try row.decode(atIndex: 0)
            guard !MetadataSchema.isReserved(name) else { continue }
            let sql: String = try row.decode(atIndex: 3)
            let table: String = try row.decode(atIndex: 2)
            if let reason = type == "index" ? index(sql, table) : program(sql) {
                found.append(UUIDKeyPlan.Dependent(kind: type, name: name, reason: reason))
            }
        }
        return found
    }

    // MARK: Definitions

    private func definitions(_ converted: KeyConversionPlan.ConvertedTable) -> [UUIDKeyPlan.Dependent] {
        guard let text = TableText(converted.table.sql) else { return [] }
        let use = KeyUse(sql: text.sql, names: Set(converted.domains.keys))
        let kinds = ["check": "check", "as": "generated column", "default": "default"]
        var found: [UUIDKeyPlan.Dependent] = []
        for index in text.sql.tokens.indices.dropLast() {
            let word = text.sql.tokens[index]
            guard word.kind == .word, let kind = kinds[word.text.foldedIdentifier],
                text.sql.tokens[index + 1].isSymbol("(")
            else { continue }
            let range = (index + 1)..<text.sql.endOfParentheses(index + 1)
            if kind == "default" {
                let item = text.items.first { $0.tokens.contains(index) }
                guard let column = item?.column, let domain = converted.domains[column.identifierKey],
                    domain != converted.table.name.identifierKey || converted.origin == .kept
                else { continue }
                found.append(
                    .init(
                        kind: kind, name: converted.table.name, reason: "computes a key for column \(column)")
                )
            } else if let reason = use.reason(in: range) {
                found.append(.init(kind: kind, name: converted.table.name, reason: reason))
            }
        }
        return found
    }

    private func index(_ sql: String, _ table: String) -> String? {
        guard let converted = tables.first(where: { $0.table.name.isSameIdentifier(as: table) }) else {
            return nil
        }
        let tokens = SQLTokens(sql)
        guard let open = tokens.tokens.firstIndex(where: { $0.isSymbol("(") }) else { return nil }
        return KeyUse(sql: tokens, names: Set(converted.domains.keys)).reason(in: open..<tokens.tokens.count)
    }

    // MARK: Programs

    private func program(_ text: String) -> String? {
        let sql = SQLTokens(text)
        let words = Set(sql.tokens.filter { $0.kind != .other }.map(\.text.identifierKey))
        let mentioned = tables.filter { words.contains($0.table.name.identifierKey) }
        guard !mentioned.isEmpty else { return nil }
        let names = mentioned.reduce(into: Set<String>()) { $0.formUnion($1.domains.keys) }
        let hasKeys = mentioned.contains { $0.origin != .kept }
        if hasKeys {
            for word in ["rowid", "_rowid_", "oid", "last_insert_rowid"] where words.contains(word) {
                return "uses \(word)"
            }
        }
        let virtual = schema.virtualTables.sorted { $0.key < $1.key }.first { words.contains($0.key) }
        if let virtual, names.contains(where: words.contains) {
            return "uses the keys in virtual table \(virtual.value.name), whose keys are integers"
        }
        return KeyUse(sql: sql, names: names).reason(in: 0..<sql.tokens.count)
    }
}

/// How a text uses the values of some columns.
struct KeyUse {
    let sql: SQLTokens
    /// The keys of their names.
    let names: Set<String>

    private static let functions: Set<String> = [
        "max", "min", "abs", "typeof", "sum", "total", "avg", "printf", "format", "round", "cast", "length",
        "substr",
        "hex", "quote", "char", "zeroblob", "instr", "replace", "unicode", "upper", "lower",
    ]
    private static let operators: Set<String> = ["between", "like", "glob", "match", "regexp"]

    /// What the text does with a column that it can't do with a UUID, or does otherwise.
    func reason(in range: Range<Int>) -> String? {
        for index in range {
            let token = sql.tokens[index]
            guard token.kind == .word || token.kind == .quotedName,
                names.contains(token.text.identifierKey),
                sql.token(after: index)?.isSymbol("(") != true, sql.token(after: index)?.isSymbol(".") != true
            else { continue }
            if let reason = reason(at: index) { return reason }
        }
        return nil
    }

    private func reason(at index: Int) -> String? {
        let name = sql.tokens[index].text
        var left = index - 1
        while left > 0, sql.tokens[left].isSymbol(".") { left -= 2 }
        let right = index + 1
        if isOrdering(left) || isOrdering(right, next: right + 1) {
            return "compares or computes with \(name)"
        }
        for side in [left, right] where sql.tokens.indices.contains(side) {
            let token = sql.tokens[side]
            if token.kind == .word, Self.operators.contains(token.text.foldedIdentifier) {
                return "compares \(name) by \(token.text.uppercased())"
            }
        }
        if isNumber(afterEquality: right, step: 1) || isNumber(afterEquality: left, step: -1) {
            return "compares \(name) with a number"
        }
        if left > 0, sql.tokens[left].isSymbol("("), sql.tokens[left - 1].kind == .word,
            Self.functions.contains(sql.tokens[left - 1].text.foldedIdentifier)
        {
            return "calls \(sql.tokens[left - 1].text)(\(name))"
        }
        return isInOrderBy(index) ? "is ordered by \(name)" : nil
    }

    /// Whether a token is an operator of arithmetics or order. `<>` is neither.
    private func isOrdering(_ index: Int, next: Int? = nil) -> Bool {
        guard sql.tokens.indices.contains(index), sql.tokens[index].kind == .other else { return false }
        let text = sql.tokens[index].text
        let isInequality =
            next == nil
            ? text == ">" && sql.token(before: index)?.isSymbol("<") == true
            : text == "<" && sql.token(after: index)?.isSymbol(">") == true
        guard !isInequality else { return false }
        if text == "=", next == nil {
            // `<=` and `>=` end in it.
            return sql.token(before: index).map { $0.isSymbol("<") || $0.isSymbol(">") } == true
        }
        return ["+", "-", "*", "/", "%", "<", ">", "|", "&", "~"].contains(text)
    }

    /// Whether `=`, `IS`, `IN (` and the like stand between a place and a number.
    private func isNumber(afterEquality start: Int, step: Int) -> Bool {
        var index = start
        var hasEquality = false
        while sql.tokens.indices.contains(index) {
            let token = sql.tokens[index]
            if ["=", "!", "<", ">"].contains(token.text) && token.kind == .other || token.isKeyword("is")
                || token.isKeyword("in")
            {
                hasEquality = true
            } else if hasEquality, token.kind == .other,
                token.text.utf8.first.map({ $0 >= 48 && $0 <= 57 }) == true
            {
                return true
            } else if !(token.isKeyword("not") || hasEquality && (token.isSymbol("(") || token.isSymbol("-")))
            {
                return false
            }
            index += step
        }
        return false
    }

    /// Whether a place is in the terms of an `ORDER BY`.
    private func isInOrderBy(_ index: Int) -> Bool {
        let ends: Set<String> = [
            "select", "from", "where", "group", "limit", "having", "set", "values", "union", "begin", "on",
        ]
        var depth = 0
        for position in stride(from: index - 1, through: 0, by: -1) {
            let token = sql.tokens[position]
            if token.isSymbol(")") { depth += 1 }
            if token.isSymbol("(") { depth -= 1 }
            guard depth <= 0, token.kind == .word else { continue }
            let word = token.text.foldedIdentifier
            if word == "by" { return sql.token(before: position)?.isKeyword("order") == true }
            if ends.contains(word) || token.isSymbol(";") { return false }
        }
        return false
    }
}
