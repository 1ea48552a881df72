import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The check of a whole store: its pages, their structure, and what is beside it.
///
/// ```swift
/// let report = try StoreCheck.run(path: "notes.db", opening: Secret(passphrase), isDeep: true)
/// for problem in report.problems { print(problem.message) }
/// ```
///
/// The store may be read and written meanwhile, and is not changed, but for what every opening settles after a kill: a
/// transaction, or a change of the data key. What an attacker who has no key can do unnoticed, `docs/threat-model.md`
/// says: an old file put back as a whole, for one.
public enum StoreCheck {
    /// Checks a store.
    ///
    /// Quickly: the MAC of each page and of each frame of the WAL, computed here and not by
    /// SQLCipher, which accepts some pages without one; the size of the file; the keyring. Deep:
    /// SQLite's integrity check, and foreign keys, too.
    ///
    /// - parameters:
    ///     - path: The path of the database file.
    ///     - secret: What opens it.
    ///     - settings: The format of a file that is older than SQLCipher 3.
    ///     - isDeep: Whether the content is checked, too.
    ///     - problemLimit: How many problems are reported one by one.
    ///     - progress: Called while pages are checked. An error that it throws ends the check.
    ///     - further: More checks, on a connection of their own within a read transaction.
    /// - throws: A ``StoreError`` when nothing can be checked: `missing`, `empty`, `plaintext`,
    ///   `wrongPassphrase` (also when the first page and all others are damaged), `busy`, … Damage
    ///   is no error, but a problem of the report.
    public static func run(
        path: String, opening secret: Secret, settings: CipherSettings? = nil, isDeep: Bool,
        problemLimit: Int = 100, progress: StoreProgressHandler? = nil,
        further: ((Database) throws -> [StoreProblem])? = nil
    ) throws -> StoreCheckReport {
        try StoreFile.requireContent(path)
        var report = StoreCheckReport(limit: problemLimit)
        checkKeyring(path, secret, &report)
        let run = StoreCheckRun(path: path, secret: secret, settings: settings)
        // Its read transaction keeps the WAL from starting anew while pages are checked.
        let (connection, key) = try run.open(&report)
        defer {
            connection?.dispose()
            run.removeEmptyWAL(key)
        }
        checkOwner(path, key, &report)
        try run.checkPages(connection, key, &report, progress)
        // What SQLCipher can't open it can't check.
        guard connection != nil else { return report }
        if isDeep { run.checkContent(key, &report) }
        if let further {
            run.inspect(key, &report) { db, report in
                for problem in try further(db) { report.add(problem) }
            }
        }
        return report
    }

    private static func checkKeyring(
        _ path: String, _ secret: Secret, _ report: inout StoreCheckReport
    ) {
        let keyring = Keyring(store: path)
        guard keyring.exists else { return }
        report.hasKeyring = true
        do {
            _ = try KeyringFile(parsing: keyring.content(), path: keyring.path)
        } catch {
            report.add(StoreProblem(error.isAboutAccess ? .access : .keyring, "\(error)"))
        }
        do {
            if try keyring.checkCopy() { return }
            report.add(StoreProblem(.keyringCopy, "\(keyring.copyPath): the copy of the keyring is missing"))
        } catch {
            let isNewer = (error as? StoreError)?.code == .formatTooNew
            let kind: StoreProblem.Kind = isNewer ? .keyringCopy : .keyring
            report.add(StoreProblem(error.isAboutAccess ? .access : kind, "\(error)"))
        }
    }

    /// Notices a keyring beside a store that its passphrase opens without it.
    private static func checkOwner(_ path: String, _ key: EncryptionKey, _ report: inout StoreCheckReport) {
        guard report.hasKeyring, key.slotID == nil else { return }
        let keyring = Keyring(store: path)
        guard let isOwn = try? keyring.belongsToStore(), !isOwn else { return }
        report.add(
            StoreProblem(
                .keyring,
                "\(keyring.path): it belongs to another database file, or to another version of this one; the store's passphrase opens the store without it, and its slots don't"
            ))
    }
}

/// The parts of a check of one store.
private struct StoreCheckRun {
    let path: String
    let secret: Secret
    let settings: CipherSettings?

    /// Where SQLite keeps the WAL: beside the file that a link to the store leads to.
    private let walPath: String

    /// Whether there was a WAL before.
    private let hadWAL: Bool

    init(path: String, secret: Secret, settings: CipherSettings?) {
        self.path = path
        self.secret = secret
        self.settings = settings
        walPath = URL(fileURLWithPath: path).resolvingSymlinksInPath().path + "-wal"
        hadWAL = FileIdentity(path: walPath) != nil
    }

    // MARK: - Opening

    /// Opens the store, or finds its key when SQLCipher can't open it.
    func open(_ report: inout StoreCheckReport) throws -> (Database?, EncryptionKey) {
        do {
            let db = try connect()
            if let key = db.encryptionKey { return (db, key) }
            db.dispose()
            throw StoreError(.keyRequired, "the store has no key", path: path)
        } catch {
            guard isDamage(error), let key = try DamagedStoreKey(path: path, secret: secret).find() else {
                throw (error as? DatabaseError)?.storeError ?? error
            }
            report.add(StoreProblem(.unreadable, "the store does not open: \(error.explanation)"))
            return (nil, key)
        }
    }

    private func isDamage(_ error: any Error) -> Bool {
        if error.isAboutAccess { return false }
        let code = (error as? StoreError)?.code ?? (error as? DatabaseError)?.storeError?.code
        switch code {
        case .wrongPassphrase, .damaged, .keyringMismatch, .plaintext: return true
        case nil:
            guard let error = error as? DatabaseError else { return false }
            return [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_IOERR, .SQLITE_ERROR]
                .contains(error.resultCode)
        default: return false
        }
    }

    /// A connection that has begun to read.
    ///
    /// It is read-only: the last other connection that closes would copy the WAL into the file.
    /// What a transaction that was killed left is rolled back first.
    private func connect() throws -> Database {
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.requiresExistingFile = true
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        if let settings, secret.kind == .passphrase {
            configuration.prepareDatabase { [secret] in try $0.use(secret, settings: settings) }
        } else {
            configuration.useKeySlot(secret)
        }
        do {
            return try reading(configuration)
        } catch let error as DatabaseError
            where error.resultCode == .SQLITE_READONLY || error.resultCode == .SQLITE_CANTOPEN
        {
            // Where files can't be made, nothing can be rolled back either.
            guard StoreError.unwritable(path) == nil else { throw error }
            configuration.readonly = false
            return try reading(configuration)
        }
    }

    private func reading(_ configuration: Configuration) throws -> Database {
        try Database.opening(path: path, configuration: configuration, keyCache: KeyCache()).reading()
    }

    /// Removes the empty WAL that a read-only connection leaves: SQLite does it when the last
    /// connection closes that could write.
    ///
    /// One in which somebody has written meanwhile stays, for that connection would copy it into the
    /// file. Nothing of this writes to the database: a WAL without frames has nothing to copy.
    func removeEmptyWAL(_ key: EncryptionKey) {
        guard !hadWAL, hasEmptyWAL else { return }
        try? connect(key, readonly: false).dispose()
    }

    private var hasEmptyWAL: Bool {
        var information = stat()
        return stat(walPath, &information) == 0 && information.st_size == 0
    }

    private func connect(_ key: EncryptionKey, readonly: Bool = true) throws -> Database {
        var configuration = Configuration()
        configuration.requiresExistingFile = true
        configuration.readonly = readonly
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { try $0.use(key, isProven: true) }
        return try reading(configuration)
    }

    // MARK: - Checks

    func checkPages(
        _ connection: Database?, _ key: EncryptionKey, _ report: inout StoreCheckReport,
        _ progress: StoreProgressHandler?
    ) throws {
        let bare =
            try connection == nil
            ? SQLiteHandle.open(path: path, readonly: true, creates: false, isURI: false) : nil
        defer { if let bare { SQLiteHandle.close(bare) } }
        guard let handle = connection?.handle ?? bare else { return }
        let pages = try StorePages(handle: handle, path: path, key: key)
        let bad = try pages.check(&report, progress: progress)
        guard !bad.isEmpty else { return }
        let owners = pages.owners(of: bad, in: (try? connection.map(trees)) ?? [])
        for number in bad {
            let owner = owners[number]
            report.add(
                StoreProblem(
                    .page,
                    "page \(number) is not authentic"
                        + (number == 1 ? ", which holds the header and the schema" : ""),
                    page: number, table: owner))
        }
    }

    private func trees(_ db: Database) throws -> [PageOwners.Tree] {
        let sql = "SELECT tbl_name, rootpage FROM sqlite_master WHERE rootpage > 0"
        let trees = try Row.fetchAll(db, sql: sql).map {
            PageOwners.Tree(table: try $0.decode(atIndex: 0), root: try $0.decode(atIndex: 1))
        }
        return [PageOwners.Tree(table: "sqlite_master", root: 1)] + trees
    }

    func checkContent(_ key: EncryptionKey, _ report: inout StoreCheckReport) {
        inspect(key, &report) { db, report in
            var check = StructureCheck(db, limit: 100)
            for text in try check.run().problems { report.add(StoreProblem(.structure, text)) }
            report.unknownNames = check.unknownNames
        }
        inspect(key, &report) { db, report in
            try StructureCheck.forEachBrokenReference(in: db) { report.add($0) }
        }
    }

    /// Runs a check on a connection of its own: newer libraries refuse to go on with one that has
    /// met a damaged page.
    func inspect(
        _ key: EncryptionKey, _ report: inout StoreCheckReport,
        _ body: (Database, inout StoreCheckReport) throws -> Void
    ) {
        do {
            let db = try connect(key)
            defer { db.dispose() }
            try body(db, &report)
            try db.verifyReads()
        } catch {
            report.add(
                StoreProblem(
                    error.isAboutAccess ? .access : .unreadable,
                    "a check could not be completed: \(error.explanation)"))
        }
    }
}

extension Database {
    /// Begins to read; the connection is closed when that fails.
    fileprivate func reading() throws -> Database {
        do {
            try beginTransaction(.deferred)
            _ = try Int.fetchOne(self, sql: Self.probeSQL)
            return self
        } catch {
            dispose()
            throw error
        }
    }
}

extension Error {
    /// What happened, without SQL and path.
    fileprivate var explanation: String {
        if let error = self as? StoreError { return error.message }
        guard let error = self as? DatabaseError else { return "\(self)" }
        return error.storeError?.message ?? error.message ?? error.resultCode.description
    }
}
