import Foundation

/// Checks of a finished copy, before it takes the place of anything.
enum StoreVerification {
    /// Opens a file anew with its key, and checks every page and every row count.
    ///
    /// Nobody else may know of the file yet. Where only indexes do not fit their tables, those whose order a language
    /// or a system decides are made anew: the file may come from a device with others.
    ///
    /// - parameters:
    ///     - definitions: What the schema of the file may need. What is not in it is done without.
    ///     - rowCounts: Says what each table must hold.
    static func verify(
        path: String, key: EncryptionKey, definitions: SchemaDefinitions = SchemaDefinitions(),
        rowCounts: (() throws -> [String: Int])?, progress: StoreProgressHandler?
    ) throws {
        func verify(allowing unfit: UnfitIndexes = UnfitIndexes()) throws {
            let content = ContentCheck(
                path: path, key: key, definitions: definitions, allowing: unfit, countsRows: rowCounts != nil)
            try verifyFile(path: path, key: key, content, rowCounts: rowCounts, progress: progress)
        }
        do {
            try verify()
        } catch is IndexDamage {
            let unfit = try IndexDamage.rebuildIndexes(path: path, key: key, definitions: definitions)
            do {
                try verify(allowing: unfit)
            } catch let damage as IndexDamage {
                throw damage.error
            }
        }
    }

    private static func verifyFile(
        path: String, key: EncryptionKey, _ content: ContentCheck, rowCounts: (() throws -> [String: Int])?,
        progress: StoreProgressHandler?
    ) throws {
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
        do {
            try verifyStructure(db)
        } catch let damage as IndexDamage {
            throw damage.error
        }
        if let rowCounts { try compare(self.rowCounts(db), with: rowCounts, path: db.path) }
    }

    /// Runs SQLite's integrity check.
    ///
    /// - parameter unfit: Indexes that may not fit their tables.
    /// - throws: A ``StoreError`` of code `damaged`; an ``IndexDamage`` when only indexes do not fit their tables.
    static func verifyStructure(_ db: Database, allowing unfit: UnfitIndexes = UnfitIndexes()) throws {
        var check = StructureCheck(db, limit: 10, allowing: unfit)
        let outcome = try check.run()
        guard !outcome.problems.isEmpty else { return }
        let error = StoreError(
            .damaged, "integrity check: " + outcome.problems.joined(separator: "; "), path: db.path)
        if outcome.isAboutIndexes { throw IndexDamage(error: error) }
        throw error
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
            counts[table] = try rowCount(db, table)
        }
        return counts
    }

    /// - returns: nil when the rows are in the order of a collation that the connection does not have.
    private static func rowCount(_ db: Database, _ table: String) throws -> Int? {
        let name = table.quotedDatabaseIdentifier
        do {
            return try Int.fetchOne(db, sql: "SELECT count(*) FROM \(name)")
        } catch let error as DatabaseError where StructureCheck.lacksDefinition(error) {
            do {
                // The smallest index is counted, otherwise.
                return try Int.fetchOne(db, sql: "SELECT count(1) FROM \(name) NOT INDEXED")
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                return nil
            }
        }
    }

    /// The numbers of the pages of an open store's file whose MAC is wrong.
    ///
    /// - parameter suspects: The pages to check, or nil for all. One that is not in the file any more is not damaged.
    /// - throws: A ``StoreError``: `encryptionMismatch` for a format without MACs, `cannotRead`.
    static func unauthenticPages(
        of db: Database, key: EncryptionKey, among suspects: Set<Int>? = nil
    ) throws -> Set<Int> {
        guard key.settings.format.hasPageMACs else { throw StoreError.withoutMACs(path: db.path) }
        let authenticator = PageAuthenticator(key: key)
        let lockPage = StorePages.lockPage(key.settings.pageSize)
        var numbers: Set<Int> = []
        do {
            let file = try DatabaseFile(db.handle)
            try file.forEachPage(size: key.settings.pageSize, among: suspects) { page, number in
                guard number != lockPage else { return }
                let isAuthentic = page.map { authenticator.authenticates($0, number: UInt32(number)) }
                if isAuthentic != true { numbers.insert(number) }
            }
        } catch let error as DatabaseError {
            throw StoreError(
                .cannotRead, "cannot read: \(error.message ?? "input/output error")", path: db.path)
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
