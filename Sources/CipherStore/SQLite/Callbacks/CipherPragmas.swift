import CSQLCipher

/// What becomes of pragmas that say how a database is encrypted, from the moment on in which its connection has a key.
///
/// SQLCipher obeys them at any time, and from then on writes pages that the rest of the file does not agree with, or
/// under a key of which the library and a keyring know nothing. It does so while it prepares them.
struct CipherPragmas {
    /// What becomes of a pragma.
    enum Answer {
        /// It is obeyed.
        case obeyed
        /// It is obeyed, and says how pages are written or the key is derived.
        case noted
        /// Nothing happens, and nothing is said.
        case ignored
        /// It fails, for a reason.
        case refused(String)
    }

    /// What pragmas of the set-up functions can still decide.
    struct Choices {
        /// Whether nothing proves yet how the pages are written.
        let pages: Bool
        /// Whether the key depends on the rounds of its derivation.
        let rounds: Bool
    }

    private enum Stage {
        case setUp(() -> Choices)
        case open(pageSize: Int)
    }

    /// Those that say how pages are written, and are not obeyed where something proves it.
    private static let choices: Set<String> = ["cipher_compatibility", "cipher_page_size", "page_size"]

    /// Others that read no page: they set or tell something of the connection, the process or the library.
    /// (`SetUpPragmaTests` asks both engines.)
    private static let quiet: Set<String> = [
        "analysis_limit", "automatic_index", "busy_timeout", "cache_spill", "case_sensitive_like",
        "cell_size_check", "checkpoint_fullfsync", "cipher_add_random", "cipher_fips_status", "cipher_log",
        "cipher_log_level", "cipher_log_source", "cipher_memory_security", "cipher_profile",
        "cipher_provider", "cipher_provider_version", "cipher_settings", "cipher_status", "cipher_version",
        "compile_options", "defer_foreign_keys", "foreign_keys", "fullfsync", "hard_heap_limit",
        "ignore_check_constraints", "journal_size_limit", "legacy_alter_table", "locking_mode", "mmap_size",
        "page_size", "query_only", "read_uncommitted", "recursive_triggers", "reverse_unordered_selects",
        "secure_delete", "soft_heap_limit", "temp_store", "threads", "trusted_schema", "wal_autocheckpoint",
    ]

    /// What the names of the defaults of the process begin with, which count for connections that open later.
    private static let defaultsPrefix = "cipher_default_"

    /// Those that change the key. With a value they would.
    private static let keys: Set<String> = ["key", "hexkey", "textkey", "rekey", "hexrekey", "textrekey"]

    /// Those that change how pages are written. Without a value they tell it.
    private static let parameters: Set<String> = [
        "cipher", "cipher_compatibility", "cipher_hmac_algorithm", "cipher_hmac_pgno",
        "cipher_hmac_salt_mask", "cipher_kdf_algorithm", "cipher_page_size", "cipher_plaintext_header_size",
        "cipher_salt",
        "cipher_use_hmac", "fast_kdf_iter", "kdf_iter", "rekey_cipher", "rekey_kdf_iter",
    ]

    private let stage: Stage

    /// Whether the set-up of the connection is over.
    var isOpen: Bool {
        if case .open = stage { true } else { false }
    }

    /// Makes the rules for an open database.
    ///
    /// - parameter pageSize: The size of its pages, which stays.
    init(pageSize: Int) { stage = .open(pageSize: pageSize) }

    /// Makes the rules for the set-up functions of a database that has a key.
    ///
    /// - parameter choices: Tells what pragmas can still decide. It runs no SQL.
    init(duringSetUp choices: @escaping () -> Choices) { stage = .setUp(choices) }

    /// Whether SQL begins with a pragma after which SQLCipher has not used its key yet, so that pragmas about the key
    /// may still follow.
    static func readsNoPage(_ sql: String) -> Bool {
        let tokens = Array(SQLTokens(sql).tokens.drop { $0.isSymbol(";") }.prefix(4))
        guard tokens.count > 1, tokens[0].isKeyword("pragma") else { return false }
        let hasSchema = tokens.count == 4 && tokens[2].isSymbol(".")
        let name = tokens[hasSchema ? 3 : 1].text.foldedIdentifier
        return parameters.contains(name) || quiet.contains(name) || name.hasPrefix(defaultsPrefix)
    }

    /// What becomes of a pragma.
    ///
    /// The text of a refusal quotes nothing, because nothing of an error that quotes is shown for SQL with a key.
    ///
    /// - parameters:
    ///     - name: The third argument of the authorizer.
    ///     - value: The fourth: nil when the pragma asks.
    ///     - schema: The fifth: nil when the pragma names no database, which is the main one then.
    func answer(
        to name: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>?, schema: UnsafePointer<CChar>?
    ) -> Answer {
        if let schema, sqlite3_stricmp(schema, "main") != 0 { return .obeyed }
        let database = isOpen ? "an open database" : "a database that was given its key"
        if sqlite3_stricmp(name, "cipher_migrate") == 0 {
            return .refused(
                "PRAGMA cipher_migrate would give \(database) another format and key; "
                    + "StoreCopy.makeStore moves the content into a new store")
        }
        guard let value else { return .obeyed }
        let name = String(cString: name).foldedIdentifier
        if Self.keys.contains(name) {
            return .refused(
                "PRAGMA \(name) would give \(database) a key of which its connection and its keyring do not "
                    + "know; open it with the passphrase that it has, and change that with changePassphrase")
        }
        switch stage {
        case .setUp(let choices): return Self.answer(to: name, String(cString: value), choices())
        case .open(let pageSize): return Self.answer(to: name, String(cString: value), pageSize: pageSize)
        }
    }

    /// The answer to a pragma of a set-up function.
    private static func answer(to name: String, _ value: String, _ choices: Choices) -> Answer {
        // Once a page was read, SQLCipher would want to derive the key again, which it has not got any more.
        if name == "kdf_iter" && !choices.rounds { return .ignored }
        // Pages without MACs, which are those of version 1, are asked for by mistake, and that is said.
        let isVersion1 = name == "cipher_compatibility" && value == "1"
        if Self.choices.contains(name) && !choices.pages && !isVersion1 { return .ignored }
        return parameters.contains(name) || name == "page_size" ? .noted : .obeyed
    }

    /// The answer to a pragma on an open database.
    private static func answer(to name: String, _ value: String, pageSize: Int) -> Answer {
        if name == "page_size" {
            guard Int(value) != pageSize else { return .obeyed }
            return .refused(
                "PRAGMA page_size would make an open encrypted database unreadable; "
                    + "choose the size by PRAGMA cipher_page_size in prepareDatabase, when the file is made")
        }
        guard parameters.contains(name) else { return .obeyed }
        return .refused(
            "PRAGMA \(name) would damage an open database; "
                + "use it in prepareDatabase, after the passphrase, when the file is made")
    }
}
