/// What SQLCipher does with the pages of a connection's database, as its pragmas tell.
///
/// Each parameter that nobody sets has the default of the process, which any SQL of any connection may have changed
/// (`PRAGMA cipher_default_use_hmac = OFF`). So all of them are set, and read back before the first page is written.
struct CodecParameters {
    /// The parameters that tell one format from another.
    private static let formatNames = ["cipher_use_hmac", "cipher_hmac_algorithm", "cipher_kdf_algorithm"]

    /// The parameters that are the same in all formats, with the values that they have there.
    private static let fixedValues = [
        ("cipher_plaintext_header_size", "0"), ("cipher_hmac_pgno", "le"), ("cipher_hmac_salt_mask", "3a"),
        ("fast_kdf_iter", "2"), ("cipher", "aes-256-cbc"),
    ]

    /// The values by pragma, in lower case; those that the engine does not know are not there.
    private let values: [String: String]

    /// Asks a connection that has a key. No page is read.
    init(of handle: SQLiteConnection) {
        var values: [String: String] = [:]
        for (name, _) in Self.expectations(CipherSettings.default) {
            values[name] = SQLiteHandle.text(handle, "PRAGMA \(name)")?.foldedIdentifier
        }
        self.values = values
    }

    /// The pragmas that set all parameters which have defaults of the process.
    ///
    /// - parameter schema: The name of the database within the connection.
    static func pragmas(_ settings: CipherSettings, schema: String = "main") -> [String] {
        let format = settings.format
        var assignments: [String] = []
        if EngineFeatures.current.supportsFormat4 {
            // This resets the page size, so it comes first. With a raw key, version 2 is version 3.
            assignments = ["cipher_compatibility = \(format.rawValue)", "cipher_plaintext_header_size = 0"]
        }
        assignments += [
            "cipher_use_hmac = \(format.hasPageMACs ? "ON" : "OFF")", "kdf_iter = \(settings.iterationCount)",
            "cipher_page_size = \(settings.pageSize)",
        ]
        return assignments.map { "PRAGMA \(schema).\($0)" }
    }

    /// The value of a parameter that is a number.
    func number(_ name: String) -> Int? { values[name].flatMap { Int($0) } }

    /// The format that the algorithms are those of; nil when there is none that has them together.
    var format: CipherSettings.Format? {
        var formats: [CipherSettings.Format] = [.version3, .version1]
        if EngineFeatures.current.supportsFormat4 { formats.append(.version4) }
        return formats.first { format in
            Self.expectations(CipherSettings(format: format))
                .filter { Self.formatNames.contains($0.name) }
                .allSatisfy { has($0.value, for: $0.name) }
        }
    }

    /// What is said of the first parameter that no format of SQLCipher has so, or has together with the others; nil
    /// when there is none.
    var oddity: String? {
        for (name, value) in Self.fixedValues where !has(value, for: name) {
            return "PRAGMA \(name) is \(values[name] ?? "?") instead of \(value)"
        }
        guard format == nil else { return nil }
        return Self.formatNames.compactMap { name in values[name].map { "PRAGMA \(name) is \($0)" } }
            .joined(separator: " and ")
    }

    /// Whether pages are read and written as settings say.
    ///
    /// - parameters:
    ///     - settings: The settings.
    ///     - withRounds: Whether the rounds of derivation must be theirs, too.
    func agree(with settings: CipherSettings, withRounds: Bool) -> Bool {
        // Without a key there is no answer.
        values["cipher_page_size"] != nil
            && Self.expectations(settings)
                .allSatisfy { (!withRounds && $0.name == "kdf_iter") || has($0.value, for: $0.name) }
    }

    /// Whether a parameter has a value, or the engine does not know it.
    private func has(_ value: String, for name: String) -> Bool { values[name].map { $0 == value } ?? true }

    /// The values of all parameters under settings, in lower case.
    private static func expectations(_ settings: CipherSettings) -> [(name: String, value: String)] {
        let hash = settings.format.needsVersion4 ? "sha512" : "sha1"
        let pageSize = String(settings.pageSize)
        let own = [
            ("cipher_use_hmac", settings.format.hasPageMACs ? "1" : "0"),
            ("cipher_hmac_algorithm", "hmac_\(hash)"), ("cipher_kdf_algorithm", "pbkdf2_hmac_\(hash)"),
            ("kdf_iter", String(settings.iterationCount)), ("cipher_page_size", pageSize),
            // With another one SQLCipher 3 writes pages that nothing reads again.
            ("page_size", pageSize),
        ]
        return (fixedValues + own).map { (name: $0.0, value: $0.1) }
    }
}
