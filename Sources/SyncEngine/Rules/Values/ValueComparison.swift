/// How values are compared in SQL.
enum ValueComparison {
    /// The SQL that compares two values as bytes and by type.
    static func differs(_ left: String, _ right: String) -> String {
        "(\(left) COLLATE BINARY IS NOT \(right) COLLATE BINARY OR typeof(\(left)) <> typeof(\(right)))"
    }
}
