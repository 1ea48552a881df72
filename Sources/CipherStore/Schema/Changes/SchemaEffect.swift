/// What a statement can do to the schema, or to what names mean in it.
///
/// It is told by the first word alone, once, when the statement is prepared. A
/// false positive costs a new look at the schema, and nothing else.
@usableFromInline enum SchemaEffect: Sendable {
    /// Nothing.
    case none
    /// The schema can be another one.
    case change
    /// Changes of the schema can be undone.
    case rollback

    private static let words: Set<String> = [
        "create", "drop", "alter", "attach", "detach", "vacuum", "analyze",
    ]

    init(sql: String) {
        guard let word = SQLText.firstWord(sql) else {
            self = .none
            return
        }
        switch word {
        case "rollback": self = .rollback
        case "pragma": self = Self.isSchemaPragma(sql) ? .change : .none
        default: self = Self.words.contains(word) ? .change : .none
        }
    }

    private static func isSchemaPragma(_ sql: String) -> Bool {
        let text = sql.foldedIdentifier
        // Not the schema, but what the connection knows of its files (`Statement.changesCaches`).
        if text.contains("page_size") { return text.contains("=") || text.contains("(") }
        return text.contains("=") && (text.contains("writable_schema") || text.contains("schema_version"))
    }
}
