import Foundation

/// Checks of a finished copy, before it takes the place of anything.
enum StoreVerification {
    /// Opens a file anew with its key, and checks every page and every row count.
    ///
    /// - parameter rowCounts: What each table must hold.
    static func verify(
        path: String, key: EncryptionKey, rowCounts: [String: Int]?, progress: StoreProgressHandler?
    ) throws {
        try verifyPages(path: path, key: key, progress: progress)
        let db = try Database.open(path: path, key: key)
        defer { db.dispose() }
        try verifyContent(db, rowCounts: rowCounts)
        // The file must stand alone when it is renamed.
        try db.execute(sql: "PRAGMA journal_mode = DELETE")
    }

    /// Runs SQLite's integrity check and compares row counts.
    static func verifyContent(_ db: Database, rowCounts: [String: Int]?) throws {
        let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check(10)")
        guard problems == ["ok"] else {
            throw StoreError(.damaged, "integrity check: " + problems.joined(separator: "; "), path: db.path)
        }
        guard let rowCounts else { return }
        let copied = try self.rowCounts(db)
        for (table, count) in rowCounts where copied[table] != count {
            throw StoreError(
                .damaged, "the copy of table \(table) has \(copied[table] ?? 0) rows instead of \(count)",
                path: db.path)
        }
    }

    /// The number of rows of each ordinary table.
    static func rowCounts(_ db: Database) throws -> [String: Int] {
        let tables = try String.fetchAll(
            db,
            sql: """
                SELECT name FROM sqlite_master
                WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                  AND sql NOT LIKE 'CREATE VIRTUAL%'
                """)
        var counts: [String: Int] = [:]
        for table in tables {
            counts[table] = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM \(table.quotedDatabaseIdentifier)")
        }
        return counts
    }

    /// Checks the MAC of every page of an open store, which has no WAL and is locked.
    static func verifyPages(of db: Database, key: EncryptionKey) throws {
        if let number = try unauthenticPages(of: db, key: key).min() {
            throw unauthentic(page: number, path: db.path)
        }
    }

    /// The numbers of the pages of an open store's file whose MAC is wrong.
    ///
    /// - parameter suspects: The pages to check, or nil for all.
    static func unauthenticPages(
        of db: Database, key: EncryptionKey, among suspects: Set<Int>? = nil
    ) throws -> Set<Int> {
        guard key.settings.format.hasPageMACs else { throw StoreError.withoutMACs(path: db.path) }
        let authenticator = PageAuthenticator(key: key)
        let lockPage = StorePages.lockPage(key.settings.pageSize)
        var numbers: Set<Int> = []
        try SQLiteHandle.forEachPage(db.handle, size: key.settings.pageSize) { page, number in
            guard number != lockPage, suspects?.contains(number) ?? true else { return }
            if !authenticator.authenticates(page, number: UInt32(number)) { numbers.insert(number) }
        }
        return numbers
    }

    static func unauthentic(page number: Int, path: String) -> StoreError {
        StoreError(.damaged, "page \(number) is not authentic", path: path)
    }

    /// Checks the MAC of every page, without SQLCipher, which accepts some
    /// pages without one.
    static func verifyPages(path: String, key: EncryptionKey, progress: StoreProgressHandler?) throws {
        guard key.settings.format.hasPageMACs else { throw StoreError.withoutMACs(path: path) }
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw StoreError(.cannotRead, "cannot open", path: path)
        }
        defer { try? file.close() }
        let authenticator = PageAuthenticator(key: key)
        let size = key.settings.pageSize
        let total = Int(try file.seekToEnd()) / size
        try file.seek(toOffset: 0)
        let lockPage = StorePages.lockPage(size)
        var number = 0
        while let chunk = try file.read(upToCount: 256 * size), !chunk.isEmpty {
            try chunk.withUnsafeBytes { bytes in
                for start in stride(from: 0, to: bytes.count, by: size) {
                    number += 1
                    let page = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + size, bytes.count)])
                    guard number == lockPage || authenticator.authenticates(page, number: UInt32(number))
                    else {
                        throw unauthentic(page: number, path: path)
                    }
                }
            }
            try progress?(
                StoreProgress(phase: .verifying, completedPageCount: number, totalPageCount: total))
        }
    }
}
