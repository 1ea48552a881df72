import CSQLCipher

/// The pragmas that SQL can't use on the database of a connection that encrypts, once the connection is set up.
///
/// SQLCipher obeys them at any time, and from then on writes pages that the rest of the file does not agree with, or
/// under a key of which the library and a keyring know nothing. It does so while it prepares them.
struct CipherPragmas {
    /// Those that change the key. With a value they would.
    private static let keys: Set<String> = ["key", "hexkey", "textkey", "rekey", "hexrekey", "textrekey"]

    /// Those that change how pages are written. Without a value they tell it.
    private static let parameters: Set<String> = [
        "cipher", "cipher_compatibility", "cipher_hmac_algorithm", "cipher_hmac_pgno",
        "cipher_hmac_salt_mask", "cipher_kdf_algorithm", "cipher_page_size", "cipher_plaintext_header_size",
        "cipher_salt",
        "cipher_use_hmac", "fast_kdf_iter", "kdf_iter", "rekey_cipher", "rekey_kdf_iter",
    ]

    /// The size of the database's pages, which stays.
    let pageSize: Int

    /// Why a pragma is refused, or nil when it is not.
    ///
    /// The text quotes nothing, because nothing of an error that quotes is shown for SQL with a key.
    ///
    /// - parameters:
    ///     - name: The third argument of the authorizer.
    ///     - value: The fourth: nil when the pragma asks.
    ///     - schema: The fifth: nil when the pragma names no database, which is the main one then.
    func refusal(
        _ name: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>?, schema: UnsafePointer<CChar>?
    ) -> String? {
        if let schema, sqlite3_stricmp(schema, "main") != 0 { return nil }
        if sqlite3_stricmp(name, "cipher_migrate") == 0 {
            return "PRAGMA cipher_migrate would give an open database another format and key; "
                + "StoreCopy.makeStore moves the content into a new store"
        }
        guard let value else { return nil }
        let name = String(cString: name).foldedIdentifier
        if Self.keys.contains(name) {
            return "PRAGMA \(name) would give an open database a key of which its connection and its keyring "
                + "do not know; change the passphrase with changePassphrase, and give keys in prepareDatabase"
        }
        if name == "page_size" {
            guard Int(String(cString: value)) != pageSize else { return nil }
            return "PRAGMA page_size would make an open encrypted database unreadable; "
                + "choose the size by PRAGMA cipher_page_size in prepareDatabase, when the file is made"
        }
        guard Self.parameters.contains(name) else { return nil }
        return "PRAGMA \(name) would damage an open database; "
            + "use it in prepareDatabase, after the passphrase, when the file is made"
    }
}
