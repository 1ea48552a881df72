/// The functions that SQL from outside may call.
///
/// It is a list of names, so that a function of a newer library is refused until somebody has read
/// what it does. Related SQLite documentation: <https://www.sqlite.org/lang_corefunc.html>
enum UntrustedFunctions {
    /// Returns whether SQL from outside may call a function.
    ///
    /// - parameters:
    ///     - name: The name, in any case.
    ///     - registered: The functions that the program added to the connection.
    static func allows(_ name: String, _ registered: RegisteredFunctions) -> Bool {
        let name = name.foldedIdentifier
        if allowed.contains(name) { return true }
        return registered.contains(foldedName: name) && !isRefusedAlways(name)
    }

    /// Whether a name stays refused when the program added a function of that name: the library's own
    /// has another number of arguments, and SQLite asks about names only.
    private static func isRefusedAlways(_ name: String) -> Bool {
        refused.contains(name) || name.hasPrefix("sqlcipher_")
    }

    /// Functions that load code, leak or take pointers, read or write files, or change tables.
    private static let refused: Set<String> = [
        "edit", "fts3_tokenizer", "fts5", "icu_load_collation", "load_extension", "optimize", "readfile",
        "sqlite_log", "writefile",
    ]

    /// Functions of SQLite that compute, and nothing else.
    static let allowed: Set<String> = core.union(dates).union(aggregates).union(windows).union(json)
        .union(math).union(fullText)

    // `zeroblob` and `randomblob` are bounded by the limit of lengths.
    private static let core: Set<String> = [
        "abs", "changes", "char", "coalesce", "concat", "concat_ws", "format", "glob", "hex", "if", "ifnull",
        "iif", "instr", "last_insert_rowid", "length", "like", "likelihood", "likely", "lower", "ltrim",
        "match", "max", "min", "nullif", "octet_length", "printf", "quote", "random", "randomblob", "replace",
        "round", "rtrim", "sign", "soundex", "sqlite_compileoption_get", "sqlite_compileoption_used",
        "sqlite_offset", "sqlite_source_id", "sqlite_version", "substr", "substring", "total_changes", "trim",
        "typeof", "unhex", "unicode", "unistr", "unistr_quote", "unlikely", "upper", "zeroblob",
    ]

    private static let dates: Set<String> = [
        "current_date", "current_time", "current_timestamp", "date", "datetime", "julianday", "strftime",
        "time", "timediff", "unixepoch",
    ]

    private static let aggregates: Set<String> = [
        "avg", "count", "group_concat", "max", "median", "min", "percentile", "percentile_cont",
        "percentile_disc", "string_agg", "sum", "total",
    ]

    private static let windows: Set<String> = [
        "cume_dist", "dense_rank", "first_value", "lag", "last_value", "lead", "nth_value", "ntile",
        "percent_rank", "rank", "row_number",
    ]

    private static let json: Set<String> = [
        "->", "->>", "json", "json_array", "json_array_insert", "json_array_length", "json_each",
        "json_error_position", "json_extract", "json_group_array", "json_group_object", "json_insert",
        "json_object", "json_patch", "json_pretty", "json_quote", "json_remove", "json_replace", "json_set",
        "json_tree", "json_type", "json_valid", "jsonb", "jsonb_array", "jsonb_array_insert", "jsonb_each",
        "jsonb_extract", "jsonb_group_array", "jsonb_group_object", "jsonb_insert", "jsonb_object",
        "jsonb_patch", "jsonb_remove", "jsonb_replace", "jsonb_set", "jsonb_tree",
    ]

    private static let math: Set<String> = [
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "ceiling", "cos", "cosh",
        "degrees", "exp", "floor", "ln", "log", "log10", "log2", "mod", "pi", "pow", "power", "radians",
        "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
    ]

    private static let fullText: Set<String> = ["bm25", "highlight", "matchinfo", "offsets", "snippet"]
}
