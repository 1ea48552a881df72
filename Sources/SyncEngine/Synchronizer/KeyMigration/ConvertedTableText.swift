import CipherStore

/// Writes the definition of a table anew, with another key.
///
/// The text stays what it was but for what has to change: types, defaults and conflict clauses of keys,
/// a key of several columns that becomes a UNIQUE constraint, and references that left out the columns of one.
struct ConvertedTableText {
    let converted: KeyConversionPlan.ConvertedTable
    let form: UUIDKeyMigration.KeyForm
    /// The keys of tables whose key of several columns becomes a constraint, by the key of the table's name.
    let formerKeys: [String: [String]]
    /// Gives the literal of a new key for the SQL of an old one, as a default has it.
    let literal: (_ sql: String, _ domain: String) throws -> String

    private static let constraints: Set<String> = [
        "constraint", "primary", "not", "null", "unique", "check", "default", "collate", "references",
        "generated",
        "as",
    ]

    private var type: String { form == .blob ? "BLOB" : "TEXT" }

    /// A key that the program leaves out, or gives as NULL, as it may an integer's, is a random one.
    private var keyConstraints: String { "NOT NULL ON CONFLICT REPLACE DEFAULT (\(randomKey))" }

    private var randomKey: String {
        form == .blob
            ? "randomblob(16)"
            : """
            lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-' || \
            substr('89ab', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
            """
    }

    /// The statement that makes the table.
    func sql() throws -> String {
        guard var text = TableText(converted.table.sql).map({ Text(table: $0) }) else {
            throw SyncError(
                .keysNotConvertible, "the definition of table \(converted.table.name) can't be read")
        }
        for (index, item) in text.table.items.enumerated() {
            if let name = item.column {
                try edit(name.identifierKey, index, &text)
            } else {
                editConstraints(item.tokens, &text)
            }
        }
        spellOutReferences(&text)
        if let last = text.table.items.lastIndex(where: { $0.column != nil }) {
            addColumns(after: last, &text)
        }
        return text.sql
    }

    // MARK: Columns

    private func edit(_ column: String, _ index: Int, _ text: inout Text) throws {
        let tokens = text.table.items[index].tokens
        let isKey = converted.table.key.count == 1 && converted.table.key[0].identifierKey == column
        if let domain = converted.domains[column] {
            setType(tokens, &text)
            if isKey && converted.origin == .column {
                removeClauses(["not", "null", "default", "autoincrement"], tokens, &text)
                text.suffixes[index, default: ""] += " " + keyConstraints
            } else {
                try convertDefault(tokens, domain, &text)
                if isKey {
                    removeClauses(["autoincrement"], tokens, &text)
                    requireValue(index, &text)
                }
            }
        }
        let isFormerKey =
            converted.origin == .columns && converted.table.key.contains { $0.identifierKey == column }
        if isFormerKey && !converted.table.hasRowID { requireValue(index, &text) }
    }

    private func requireValue(_ index: Int, _ text: inout Text) {
        let tokens = text.table.items[index].tokens
        let isRequired = tokens.dropLast().contains { position in
            text.tokens[position].isKeyword("not") && text.tokens[position + 1].isKeyword("null")
        }
        if !isRequired { text.suffixes[index, default: ""] += " NOT NULL" }
    }

    private func setType(_ tokens: Range<Int>, _ text: inout Text) {
        let start = tokens.lowerBound + 1
        var end = start
        while end < tokens.upperBound {
            let token = text.tokens[end]
            if token.kind == .word, Self.constraints.contains(token.text.foldedIdentifier) { break }
            end = token.isSymbol("(") ? text.table.sql.endOfParentheses(end) : end + 1
        }
        if start == end {
            text.append(" " + type, to: tokens.lowerBound)
        } else {
            text.replace(start..<end, with: type)
        }
    }

    /// Removes `DEFAULT …`, `NOT NULL …` and others from the definition of a column.
    private func removeClauses(_ words: Set<String>, _ tokens: Range<Int>, _ text: inout Text) {
        var index = tokens.lowerBound + 1
        while index < tokens.upperBound {
            let token = text.tokens[index]
            if token.isSymbol("(") {
                index = text.table.sql.endOfParentheses(index)
                continue
            }
            guard token.kind == .word, words.contains(token.text.foldedIdentifier) else {
                // ON DELETE SET NULL and SET DEFAULT belong to a reference.
                index += token.isKeyword("set") ? 2 : 1
                continue
            }
            let end = endOfClause(index, tokens, text)
            text.replace(index..<end, with: "")
            index = end
        }
    }

    private func endOfClause(_ index: Int, _ tokens: Range<Int>, _ text: Text) -> Int {
        if text.tokens[index].isKeyword("autoincrement") { return index + 1 }
        if text.tokens[index].isKeyword("default") { return endOfDefault(index, text) }
        var end = index + (text.tokens[index].isKeyword("not") ? 2 : 1)
        if end + 1 < tokens.upperBound, text.tokens[end].isKeyword("on"),
            text.tokens[end + 1].isKeyword("conflict")
        {
            end += 3
        }
        return min(end, tokens.upperBound)
    }

    private func endOfDefault(_ index: Int, _ text: Text) -> Int {
        guard index + 1 < text.tokens.count else { return index + 1 }
        if text.tokens[index + 1].isSymbol("(") { return text.table.sql.endOfParentheses(index + 1) }
        var end = index + 1
        while end < text.tokens.count, text.tokens[end].isSymbol("-") || text.tokens[end].isSymbol("+") {
            end += 1
        }
        // The bytes of a blob are two tokens: x and a string.
        if text.tokens[end].isKeyword("x"), end + 1 < text.tokens.count, text.tokens[end + 1].kind == .string
        {
            end += 1
        }
        return end + 1
    }

    private func convertDefault(_ tokens: Range<Int>, _ domain: String, _ text: inout Text) throws {
        guard
            let index = tokens.dropFirst().first(where: {
                text.tokens[$0].isKeyword("default") && !text.tokens[$0 - 1].isKeyword("set")
            })
        else { return }
        let end = endOfDefault(index, text)
        let value = text.source(index + 1..<end)
        text.replace(index + 1..<end, with: try literal(value, domain))
    }

    // MARK: Constraints and references

    private func editConstraints(_ tokens: Range<Int>, _ text: inout Text) {
        for index in tokens.dropLast() where text.tokens[index].isKeyword("primary") {
            guard text.tokens[index + 1].isKeyword("key") else { continue }
            if converted.origin == .columns {
                text.replace(index..<index + 2, with: "UNIQUE")
            } else if converted.origin == .column || converted.origin == .shared {
                for position in index..<tokens.upperBound
                where text.tokens[position].isKeyword("autoincrement") {
                    text.replace(position..<position + 1, with: "")
                }
            }
        }
    }

    /// `REFERENCES parent` means the primary key, which the columns are not any more.
    private func spellOutReferences(_ text: inout Text) {
        for index in text.tokens.indices.dropLast() where text.tokens[index].isKeyword("references") {
            let parent = index + 1
            guard let key = formerKeys[text.tokens[parent].text.identifierKey] else { continue }
            if parent + 1 < text.tokens.count, text.tokens[parent + 1].isSymbol("(") { continue }
            text.append(" (\(key.map(\.quotedDatabaseIdentifier).joined(separator: ", ")))", to: parent)
        }
    }

    private func addColumns(after index: Int, _ text: inout Text) {
        var added: [String] = []
        if let name = converted.newKey {
            added.append("\(name.quotedDatabaseIdentifier) \(type) PRIMARY KEY \(keyConstraints)")
        }
        if let old = converted.oldKey {
            added.append("\(old.name.quotedDatabaseIdentifier) \(old.type)".trimmingSuffixSpace)
        }
        for definition in added { text.suffixes[index, default: ""] += ", " + definition }
    }

    /// A text with replacements of tokens.
    private struct Text {
        let table: TableText
        /// What follows an item.
        var suffixes: [Int: String] = [:]
        private var replacements: [(tokens: Range<Int>, text: String)] = []
        private var appendices: [Int: String] = [:]

        init(table: TableText) { self.table = table }

        var tokens: [SQLToken] { table.sql.tokens }

        func source(_ range: Range<Int>) -> String {
            let bytes =
                tokens[range.lowerBound].range.lowerBound..<tokens[range.upperBound - 1].range.upperBound
            return String(decoding: table.sql.bytes[bytes], as: UTF8.self)
        }

        /// Replaces tokens, and what is between them.
        mutating func replace(_ range: Range<Int>, with text: String) {
            guard !range.isEmpty else { return }
            replacements.append((range, text))
        }

        mutating func append(_ text: String, to index: Int) { appendices[index, default: ""] += text }

        var sql: String {
            var output = table.sql
            var appendices = appendices
            for (index, suffix) in suffixes {
                appendices[table.items[index].tokens.upperBound - 1, default: ""] += suffix
            }
            for (range, text) in replacements {
                let added = range.compactMap { appendices.removeValue(forKey: $0) }.joined()
                var start = tokens[range.lowerBound].range.lowerBound
                // What is removed goes with the space before it.
                if text.isEmpty, start > 0, table.sql.bytes[start - 1] == UInt8(ascii: " ") { start -= 1 }
                let end = tokens[range.upperBound - 1].range.upperBound
                output.replace(bytes: start..<end, with: text + added)
            }
            for (index, text) in appendices { output.replace(index, with: source(index..<index + 1) + text) }
            return output.sql
        }
    }
}

extension String {
    fileprivate var trimmingSuffixSpace: String { hasSuffix(" ") ? String(dropLast()) : self }
}
