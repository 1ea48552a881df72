import Foundation

extension Database {
    /// The levels of SQLCipher's own log.
    public enum CipherLogLevel: String, Sendable {
        /// Nothing.
        case none = "NONE"
        /// Errors, such as a page that is not authentic.
        case error = "ERROR"
        /// Warnings, too.
        case warn = "WARN"
        /// Information, too.
        case info = "INFO"
        /// What helps to find errors in SQLCipher, too.
        case debug = "DEBUG"
        /// Everything.
        case trace = "TRACE"
    }

    /// Where SQLCipher's own log goes.
    public enum CipherLogTarget: Sendable {
        /// The standard output.
        case stdout
        /// The standard error.
        case stderr
        /// The log of the system.
        case device
        /// The end of a file.
        case file(String)
    }

    /// The version of SQLCipher, such as `"4.6.1 community"`.
    ///
    /// - throws: A ``DatabaseError``.
    public var cipherVersion: String {
        get throws { try cipherInformation("cipher_version") ?? "" }
    }

    /// Whether the library is in FIPS mode (`"1"`); nil when the library does not tell.
    ///
    /// - throws: A ``DatabaseError``.
    public var cipherFipsStatus: String? {
        get throws { try cipherInformation("cipher_fips_status") }
    }

    /// The library that does the cryptography, such as `"openssl"`; nil on a
    /// connection without a key.
    ///
    /// - throws: A ``DatabaseError``.
    public var cipherProvider: String? {
        get throws { try cipherInformation("cipher_provider") }
    }

    /// The version of ``cipherProvider``; nil on a connection without a key.
    ///
    /// - throws: A ``DatabaseError``.
    public var cipherProviderVersion: String? {
        get throws { try cipherInformation("cipher_provider_version") }
    }

    /// The format, page size and rounds of derivation of the file; nil when it is not encrypted.
    public var cipherSettings: CipherSettings? { encryptionKey?.settings }

    private func cipherInformation(_ name: String) throws -> String? {
        try checkMayRun("PRAGMA \(name)")
        return withoutTracing { SQLiteHandle.text(handle, "PRAGMA \(name)") }
    }

    /// Gives a commercial edition of SQLCipher its license.
    ///
    /// Call it in ``Configuration/prepareDatabase(_:)``, before the passphrase. It
    /// is not traced.
    ///
    /// - throws: A ``DatabaseError``.
    public func applySQLCipherLicense(_ license: String) throws {
        try runUntraced("PRAGMA cipher_license = \(license.quotedSQLText)", name: "cipher_license")
    }

    /// Has SQLCipher write its own log, which the library turns off otherwise.
    ///
    /// The log belongs to the process: the last call for any connection counts.
    ///
    /// - parameters:
    ///     - logLevel: What is logged.
    ///     - target: Where it goes.
    /// - throws: A ``DatabaseError`` of code `SQLITE_MISUSE` on SQLCipher 3, which has no log.
    public func enableCipherLogging(
        logLevel: CipherLogLevel = .warn, target: CipherLogTarget = .device
    ) throws {
        guard EngineFeatures.current.supportsFormat4 else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "SQLCipher \(EngineFeatures.current.cipherVersion ?? "?") has no log; 4.5.1 and newer have"
            )
        }
        let name =
            switch target {
            case .stdout: "stdout"
            case .stderr: "stderr"
            case .device: "device"
            case .file(let path): path
            }
        try runUntraced("PRAGMA cipher_log = \(name.quotedSQLText)", name: "cipher_log")
        try runUntraced("PRAGMA cipher_log_level = \(logLevel.rawValue)", name: "cipher_log_level")
    }

    private func runUntraced(_ sql: String, name: String) throws {
        try checkMayRun("PRAGMA \(name)")
        let code = withoutTracing { SQLiteHandle.execute(handle, sql) }
        guard ResultCode(rawValue: code) == .SQLITE_OK else { throw lastError(sql: "PRAGMA \(name)") }
    }
}
