import CSQLCipher

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What an `ATTACH` names, as far as its text tells.
struct AttachedFile {
    /// Whether a key is given for it.
    let hasKey: Bool

    /// Its name; nil when that is the value of an expression.
    let name: String?

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
        // NULL is no key.
        hasKey = keyIndex.map { $0 + 2 != tokens.count || !tokens[$0 + 1].isKeyword("null") } ?? false
        guard let end, end == start + 1, tokens[start].kind != .other else {
            name = nil
            return
        }
        name = tokens[start].isKeyword("null") ? "" : tokens[start].text
    }

    /// Whether SQLite makes the file, or may do so: what an expression or a URI names is not known.
    var isNew: Bool {
        guard let name else { return true }
        if name.isEmpty || name.hasPrefix(":memory:") || name.hasPrefix("file::memory:") { return false }
        if name.hasPrefix("file:") {
            let options = name.drop { $0 != "?" }.dropFirst().split(separator: "&")
            return !options.contains { option in
                ["mode=memory", "mode=ro", "mode=rw"].contains(option)
                    || option.hasPrefix("key=") || option.hasPrefix("hexkey=")
            }
        }
        var information = stat()
        return stat(name, &information) != 0 || information.st_size == 0
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
        guard let encryptionKey, SQLText.firstWord(statement.sql) == "attach",
            encryptionKey.slotID != nil || encryptionKey.settings != .default || !DatabasePath(path).isFile,
            // With a key, the arguments must not become text.
            !AttachedFile(statement.sql).hasKey
        else { return }
        let file = AttachedFile(statement.sqlWithArguments ?? statement.sql)
        guard file.isNew else { return }
        let message =
            "ATTACH without KEY would make a file under the key of this database, which no passphrase opens"
        // Of SQL with a KEY, messages with a colon are not shown, since they may quote it.
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE, message: message + "; give it a passphrase by ATTACH … AS … KEY ?",
            sql: statement.sql, storeError: StoreError(.encryptionMismatch, message, path: file.name))
    }
}

extension Statement {
    /// The SQL with arguments in the place of parameters.
    fileprivate var sqlWithArguments: String? {
        guard let text = sqlite3_expanded_sql(sqliteStatement) else { return nil }
        defer { sqlite3_free(text) }
        return String(cString: text)
    }
}
