import Foundation

/// Checks of a finished copy, before it takes the place of anything.
enum StoreVerification {
    /// Opens a file anew with its key, and checks every page and every row count.
    ///
    /// Nobody else may know of the file yet.
    ///
    /// - parameter rowCounts: Says what each table must hold.
    static func verify(
        path: String, key: EncryptionKey, rowCounts: (() throws -> [String: Int])?,
        progress: StoreProgressHandler?
    ) throws {
        let content = ContentCheck(path: path, key: key, countsRows: rowCounts != nil)
        let expected: [String: Int]?
        do {
            try verifyPages(path: path, key: key, progress: progress)
            expected = try rowCounts?()
        } catch {
            content.cancel()
            _ = try? content.result()
            throw error
        }
        let counts = try content.result()
        if let expected { try compare(counts, with: expected, path: path) }
    }

    /// Runs SQLite's integrity check and compares row counts.
    static func verifyContent(_ db: Database, rowCounts: [String: Int]?) throws {
        try verifyStructure(db)
        if let rowCounts { try compare(self.rowCounts(db), with: rowCounts, path: db.path) }
    }

    /// Runs SQLite's integrity check.
    static func verifyStructure(_ db: Database) throws {
        let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check(10)")
        guard problems == ["ok"] else {
            throw StoreError(.damaged, "integrity check: " + problems.joined(separator: "; "), path: db.path)
        }
    }

    private static func compare(
        _ counts: [String: Int], with expected: [String: Int], path: String
    ) throws {
        for (table, count) in expected where counts[table] != count {
            throw StoreError(
                .damaged, "the copy of table \(table) has \(counts[table] ?? 0) rows instead of \(count)",
                path: path)
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
