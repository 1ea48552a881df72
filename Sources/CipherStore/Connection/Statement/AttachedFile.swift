import CSQLCipher
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What an `ATTACH` names, as far as its text tells.
struct AttachedFile {
    /// What is given as the key of the file.
    enum Key: Equatable {
        /// Nothing, which NULL is, too.
        case missing
        /// The value of a parameter, as the SQL names it.
        case parameter(String)
        /// What the SQL says.
        case literal
        /// Texts and parameters with `||` between them: NULL when the value of a parameter is, and only then.
        case concatenation
        /// Something else, which may be NULL.
        case expression
    }

    /// The key that is given for it.
    let key: Key

    /// Its name; nil when that is the value of an expression.
    fileprivate(set) var name: String?

    /// The parameter whose value is its name, as the SQL names it.
    let nameParameter: String?

    /// - parameter sql: A statement that SQLite accepted: `ATTACH [DATABASE] file AS schema [KEY key]`.
    init(_ sql: String) {
        let tokens = SQLTokens(sql).tokens
        let start = tokens.count > 1 && tokens[1].isKeyword("database") ? 2 : 1
        var depth = 0
        var end: Int?
        var keyIndex: Int?
        for (index, token) in tokens.enumerated().dropFirst(start) {
            if token.isSymbol("(") { depth += 1 }
            if token.isSymbol(")") { depth -= 1 }
            guard depth == 0 else { continue }
            if let end {
                // The schema itself may be called so.
                if index > end + 1 && keyIndex == nil && token.isKeyword("key") { keyIndex = index }
            } else if token.isKeyword("as") {
                end = index
            }
        }
        key = keyIndex.map { Key(tokens[($0 + 1)...]) } ?? .missing
        if let end, start < end, case .parameter(let parameter) = Key(tokens[start..<end]) {
            nameParameter = parameter
        } else {
            nameParameter = nil
        }
        guard let end, end == start + 1, tokens[start].kind != .other else {
            name = nil
            return
        }
        name = tokens[start].isKeyword("null") ? "" : tokens[start].text
    }

    /// Whether SQLite makes the file, or may do so: what an expression names is not known.
    ///
    /// - parameter readsURIs: Whether SQLite takes names that begin with `file:` for URIs.
    func isNew(readsURIs: Bool) -> Bool {
        guard let name else { return true }
        if name.isEmpty || name.hasPrefix(":memory:") || name.hasPrefix("file::memory:") { return false }
        guard name.hasPrefix("file:") else { return !Self.hasContent(name) }
        let options = name.drop { $0 != "?" }.dropFirst().split(separator: "&")
        let isSettled = options.contains { option in
            ["mode=memory", "mode=ro", "mode=rw"].contains(option)
                || option.hasPrefix("key=") || option.hasPrefix("hexkey=")
        }
        if isSettled { return false }
        guard readsURIs else { return !Self.hasContent(name) }
        return Self.path(ofURI: name).map { !Self.hasContent($0) } ?? true
    }

    private static func hasContent(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0 && information.st_size > 0
    }

    /// The path in a URI, as SQLite reads it; nil when it is not a path of this machine.
    private static func path(ofURI uri: String) -> String? {
        var path = uri.dropFirst("file:".count).prefix { $0 != "?" && $0 != "#" }
        if path.hasPrefix("//") {
            path = path.dropFirst(2)
            let host = path.prefix { $0 != "/" }
            guard host.isEmpty || host == "localhost" else { return nil }
            path = path.dropFirst(host.count)
        }
        return String(path).removingPercentEncoding
    }
}

extension AttachedFile.Key {
    /// - parameter tokens: An expression, such as what follows the KEY.
    fileprivate init(_ tokens: ArraySlice<SQLToken>) {
        var tokens = tokens
        while let first = tokens.first, let last = tokens.last, first.isSymbol("("), last.isSymbol(")") {
            tokens = tokens.dropFirst().dropLast()
        }
        let text = tokens.map(\.text).joined()
        if tokens.count == 1, tokens.first?.isKeyword("null") == true {
            self = .missing
        } else if Self.isParameter(tokens) {
            self = .parameter(text)
        } else if Self.isLiteral(tokens) {
            self = .literal
        } else if Self.isConcatenation(tokens) {
            self = .concatenation
        } else {
            self = .expression
        }
    }

    private static func isParameter(_ tokens: ArraySlice<SQLToken>) -> Bool {
        guard tokens.count <= 2, let first = tokens.first, let sign = first.text.first else { return false }
        return "?:@$".contains(sign) && (first.kind == .other || first.kind == .word)
    }

    private static func isConcatenation(_ tokens: ArraySlice<SQLToken>) -> Bool {
        // The operator is two tokens, with nothing between them.
        let parts = tokens.split(omittingEmptySubsequences: false) { $0.isSymbol("|") }
        guard parts.count >= 3, parts.count % 2 == 1 else { return false }
        return parts.enumerated().allSatisfy { index, part in
            if index % 2 == 1 { return part.isEmpty }
            return part.count == 1 && part.first?.kind == .string || isParameter(part)
        }
    }

    /// Whether tokens are a text or a blob. SQLite takes a name for a text here.
    private static func isLiteral(_ tokens: ArraySlice<SQLToken>) -> Bool {
        guard let first = tokens.first, let last = tokens.last else { return false }
        if tokens.count == 1 { return first.kind != .other }
        return tokens.count == 2 && first.isKeyword("x") && last.kind == .string
    }
}

extension Database {
    /// Refuses `ATTACH` without `KEY` where it would make a file that no passphrase opens.
    ///
    /// SQLCipher gives such a file the key and the salt of the main database, and the settings of new files. A passphrase
    /// from which that key was derived for other settings does not open it. A data key is in the keyring of the main
    /// database alone, until it is changed, and the key of a database in memory nowhere.
    ///
    /// - throws: A ``DatabaseError``.
    func checkMayAttach(_ statement: Statement) throws {
        guard let encryptionKey,
            encryptionKey.slotID != nil || encryptionKey.settings != .default || !DatabasePath(path).isFile,
            // With a key, the arguments must not become text.
            !statement.attachesWithKey
        else { return }
        var file = AttachedFile(statement.sql)
        // Of an expression, nobody knows whether it is NULL, and its arguments may be the key.
        let isExpression = file.key == .expression || file.key == .concatenation
        if !isExpression {
            file = AttachedFile(statement.sqlWithArguments ?? statement.sql)
        } else if let parameter = file.nameParameter {
            // The first one in the SQL.
            file.name = statement.value(of: parameter, atUnnamed: 1).flatMap { String.fromDatabaseValue($0) }
        }
        let readsURIs =
            DatabasePath(path).isNamedMemory || mode != .ordinary
            || sqlite3_compileoption_used("USE_URI") != 0
        guard file.isNew(readsURIs: readsURIs) else { return }
        let reason =
            isExpression ? "a KEY that is an expression may be NULL, and then ATTACH" : "ATTACH without KEY"
        let message = reason + " would make a file under the key of this database, which no passphrase opens"
        // Of SQL with a KEY, messages with a colon are not shown, since they may quote it.
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE, message: message + "; give it a passphrase by ATTACH … AS … KEY ?",
            sql: statement.sql, storeError: StoreError(.encryptionMismatch, message, path: file.name))
    }
}

extension Statement {
    /// Whether a key is given for the file that the statement attaches.
    fileprivate var attachesWithKey: Bool {
        switch AttachedFile(sql).key {
        case .missing, .expression: return false
        case .literal: return true
        case .concatenation: return boundValues.allSatisfy { !$0.isNull }
        case .parameter(let name):
            // A lone question mark has the number after the greatest.
            return value(of: name, atUnnamed: parameterCount).map { !$0.isNull } ?? false
        }
    }

    /// The value that a parameter has been given, as the SQL names it.
    ///
    /// - parameter unnamed: The number of a lone question mark, from 1.
    fileprivate func value(of parameter: String, atUnnamed unnamed: Int) -> DatabaseValue? {
        let values = boundValues
        var number = Int(sqlite3_bind_parameter_index(sqliteStatement, parameter))
        if parameter.hasPrefix("?") { number = Int(parameter.dropFirst()) ?? unnamed }
        return values.indices.contains(number - 1) ? values[number - 1] : nil
    }

    /// The SQL with arguments in the place of parameters.
    fileprivate var sqlWithArguments: String? {
        guard let text = sqlite3_expanded_sql(sqliteStatement) else { return nil }
        defer { sqlite3_free(text) }
        return String(cString: text)
    }
}
