import Foundation

// These names are part of the file format: the schemas of existing databases hold them.

extension DatabaseFunction {
    /// `capitalized` of `String`.
    public static let capitalize = text("swiftCapitalizedString") { $0.capitalized }
    /// `lowercased()` of `String`.
    public static let lowercase = text("swiftLowercaseString") { $0.lowercased() }
    /// `uppercased()` of `String`.
    public static let uppercase = text("swiftUppercaseString") { $0.uppercased() }
    /// `localizedCapitalized` of `String`, which depends on the user's language.
    public static let localizedCapitalize = text("swiftLocalizedCapitalizedString") {
        $0.localizedCapitalized
    }
    /// `localizedLowercase` of `String`, which depends on the user's language.
    public static let localizedLowercase = text("swiftLocalizedLowercaseString") { $0.localizedLowercase }
    /// `localizedUppercase` of `String`, which depends on the user's language.
    public static let localizedUppercase = text("swiftLocalizedUppercaseString") { $0.localizedUppercase }

    /// `uuid()`: a random identifier as text in lower case, as identifiers are stored.
    ///
    /// Apple's SQLite has it, which SQLCipher is not. Tables of apps that were written for that have it as the default of their keys.
    ///
    /// It is one of any number of arguments: SQLite prefers the exact number, so an app's own `uuid` of any number would be hidden.
    fileprivate static let randomIdentifier = DatabaseFunction(
        "uuid", argumentCount: nil, traits: .innocuous
    ) { call in
        guard call.argumentCount == 0 else {
            throw DatabaseError(message: "wrong number of arguments to function uuid()")
        }
        call.returnText(UUID().uuidString.lowercased())
    }

    /// A function from text to text; of a number or a blob it makes NULL.
    ///
    /// They are innocuous, so that views, triggers and indexes can use them.
    private static func text(
        _ name: String, _ transform: @escaping @Sendable (String) -> String
    ) -> DatabaseFunction {
        DatabaseFunction(name, argumentCount: 1, traits: [.deterministic, .innocuous]) { call in
            switch call[0].storageClass {
            case RawColumn.textClass: call.returnText(transform(call[0].string))
            case RawColumn.blobClass:
                guard let text = String(validating: call[0].blob, as: UTF8.self) else {
                    return call.returnNull()
                }
                call.returnText(transform(text))
            default: call.returnNull()
            }
        }
    }
}

extension DatabaseFunction {
    /// The functions that every connection has.
    static let builtIns: [DatabaseFunction] =
        [
            .capitalize, .lowercase, .uppercase, .localizedCapitalize, .localizedLowercase,
            .localizedUppercase, .randomIdentifier,
        ] + refused + missing + ofRequests

    /// Functions that fail, in the place of SQLite's `fts3_tokenizer`, which shows addresses of
    /// memory in old libraries, whatever they are told.
    private static let refused = [1, 2].map { count in
        DatabaseFunction("fts3_tokenizer", argumentCount: count) { _ in
            throw DatabaseError(resultCode: .SQLITE_AUTH, message: "fts3_tokenizer is disabled")
        }
    }

    /// The functions of newer versions of SQLite that the engine lacks.
    private static var missing: [DatabaseFunction] {
        let features = EngineFeatures.current
        var functions: [DatabaseFunction] = []
        if !features.supportsJSON { functions += JSONFunctions.all(prefix: "json") }
        if !features.supportsJSONB { functions += JSONFunctions.binary }
        if features.sqliteVersionNumber < 3_053_000 { functions += JSONFunctions.arrayInsertion }
        return functions + NewerFunctions.missing(in: features.sqliteVersionNumber)
    }

    /// The functions that requests call where the engine lacks something. Every engine has them: a view that was
    /// made on an old one names them.
    private static var ofRequests: [DatabaseFunction] {
        OrderedAggregates.all + [JSONFunctions.part] + JSONFunctions.ofBytes
    }
}

extension Database {
    /// Adds the functions and collations that every connection has.
    func addBuiltInFunctions() {
        for function in DatabaseFunction.builtIns { add(function: function, nil) }
        if !EngineFeatures.current.supportsJSON {
            let code = ResultCode(rawValue: JSONTable.add(to: handle))
            precondition(code == .SQLITE_OK, "could not add the table json_each: \(code)")
        }
        for collation in DatabaseCollation.builtIns { add(collation: collation, nil) }
    }
}
