import Foundation

/// The pages of a store, checked and read independently of SQLCipher.
///
/// Nothing is written, and the write-ahead log is not copied into the file: a
/// check must not change what it checks. The newest content of a page is that of
/// its last committed frame, else that of the file; a page of the file that a frame
/// supersedes does not count, because a checkpoint may be writing it.
final class StorePages {
    /// How often something that looks damaged is read again: a checkpoint, or the writer of the
    /// WAL, may have been in the middle of it.
    private static let attemptCountMax = 6

    let key: EncryptionKey
    private let file: DatabaseFile
    private let walPath: String
    private let journalPath: String
    private let authenticator: PageAuthenticator
    private let cipher: PageCipher
    private let buffer: UnsafeMutableRawBufferPointer
    private(set) var wal: WALFile

    /// Waits for some microseconds.
    private let pause: (UInt32) -> Void

    /// Nobody writes to a file that has neither a WAL nor a journal while a reader has it locked. Where
    /// no reader could lock it, a writer may come at any time.
    private var attemptCount: Int {
        let isInUse = [walPath, journalPath].contains { FileIdentity(path: $0) != nil }
        return isInUse ? Self.attemptCountMax : 1
    }

    private var pageSize: Int { key.settings.pageSize }

    /// - throws: A ``StoreError`` of code `encryptionMismatch` for a file of a format without MACs.
    init(
        handle: SQLiteConnection, path: String, key: EncryptionKey,
        pause: @escaping (UInt32) -> Void = { usleep($0) }
    ) throws {
        guard key.settings.format.hasPageMACs else { throw StoreError.withoutMACs(path: path) }
        self.key = key
        self.file = try DatabaseFile(handle)
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        walPath = file + "-wal"
        journalPath = file + "-journal"
        self.pause = pause
        authenticator = PageAuthenticator(key: key)
        cipher = PageCipher(key: key)
        buffer = .allocate(byteCount: key.settings.pageSize, alignment: 16)
        wal = try WALFile(path: walPath, authenticator: authenticator, pageSize: key.settings.pageSize)
    }

    deinit { buffer.deallocate() }

    /// The number of pages that the last commit left.
    private(set) var pageCount = 0

    /// The last page that is looked at.
    private var lastPage = 0

    /// Checks all pages.
    ///
    /// - returns: The numbers of the pages that are damaged or missing.
    func check(_ report: inout StoreCheckReport, progress: StoreProgressHandler?) throws -> [Int] {
        var bad: [Int] = []
        let size = try checkSize(&report)
        for number in 1...max(1, lastPage) {
            if try !isAuthentic(number) { bad.append(number) }
            if number.isMultiple(of: 256) || number == lastPage {
                try progress?(
                    StoreProgress(phase: .verifying, completedPageCount: number, totalPageCount: lastPage))
            }
        }
        bad = try rechecked(bad)
        checkFrames(&report)
        report.settings = key.settings
        report.pageCount = pageCount
        report.walFrameCount = wal.frameCount
        report.badPageCount = bad.count
        if let size { report.add(size) }
        return bad
    }

    /// Whether the newest content of a page carries its MAC.
    private func isAuthentic(_ number: Int) throws -> Bool {
        // The page of SQLite's lock bytes never holds data. Frames are checked as they are read.
        if number == Self.lockPage(pageSize) || wal.offsets[number] != nil { return true }
        guard try file.read(at: (number - 1) * pageSize, into: buffer) else { return false }
        return authenticator.authenticates(UnsafeRawBufferPointer(buffer), number: UInt32(number))
    }

    /// Reads pages again, and the WAL before that.
    private func rechecked(_ pages: [Int]) throws -> [Int] {
        var bad = pages
        var attempt = 0
        while attempt < attemptCount && (!bad.isEmpty || wal.hasProblem) {
            pause(UInt32(10_000 << attempt))
            attempt += 1
            try readWAL()
            bad = try bad.filter { try !isAuthentic($0) }
        }
        return bad
    }

    private func readWAL() throws {
        wal = try WALFile(path: walPath, authenticator: authenticator, pageSize: pageSize)
    }

    private func checkFrames(_ report: inout StoreCheckReport) {
        for (frame, page) in wal.badFrames {
            report.add(
                StoreProblem(.wal, "frame \(frame) of the WAL, which holds page \(page), is not authentic"))
        }
        if let frame = wal.breakFrame {
            report.add(
                StoreProblem(
                    .wal,
                    "the WAL is damaged at frame \(frame): SQLite undoes the transactions from there on"))
        }
    }

    // MARK: - Size

    /// Compares the size of the file with what the database says about itself.
    private func checkSize(_ report: inout StoreCheckReport) throws -> StoreProblem? {
        var problem: StoreProblem?
        var attempt = 0
        while attempt < attemptCount {
            let byteCount = try file.byteCount()
            let stored = wal.pageCount ?? headerPageCount()
            pageCount = stored ?? byteCount / pageSize
            lastPage = wal.pageCount == nil ? pageCount : min(pageCount, presentPageCount(byteCount))
            problem = sizeProblem(byteCount, isKnown: stored != nil)
            if problem == nil { break }
            // A commit or a checkpoint may have come between.
            pause(UInt32(10_000 << attempt))
            attempt += 1
            try readWAL()
        }
        if problem != nil { report.presentPageCount = try file.byteCount() / pageSize }
        return problem
    }

    /// The number of the last page in the file or in the WAL.
    ///
    /// No MAC covers the number of pages in a WAL: somebody who forged it must not choose how many pages
    /// are looked for.
    private func presentPageCount(_ byteCount: Int) -> Int {
        let forged = Set(wal.badFrames.map { $0.page })
        return wal.offsets.keys.reduce(byteCount / pageSize) { forged.contains($1) ? $0 : max($0, $1) }
    }

    private func sizeProblem(_ byteCount: Int, isKnown: Bool) -> StoreProblem? {
        guard byteCount.isMultiple(of: pageSize) else {
            return StoreProblem(.size, "the file ends within a page: it has \(byteCount) bytes")
        }
        // The next checkpoint gives the file the size that the WAL says.
        guard wal.pageCount == nil else {
            guard lastPage < pageCount else { return nil }
            return StoreProblem(
                .size, "the WAL says that the database has \(pageCount) pages, and \(lastPage) are there")
        }
        guard isKnown, byteCount / pageSize != pageCount else { return nil }
        let found = byteCount / pageSize
        return StoreProblem(
            .size,
            found < pageCount
                ? "the file was cut off: \(found) of \(pageCount) pages are there"
                : "\(found - pageCount) pages follow the last one of the database, which has \(pageCount)")
    }

    /// The number of pages that page 1 of the file says; nil when that can't be trusted.
    private func headerPageCount() -> Int? {
        guard let header = content(of: 1), header.count >= 100 else { return nil }
        // SQLite before 3.7.0 did not keep the number: https://www.sqlite.org/fileformat2.html#filesize
        let count = Int(header.bigEndian(at: 28))
        return count > 0 && header.bigEndian(at: 24) == header.bigEndian(at: 92) ? count : nil
    }

    // MARK: - Content

    /// The newest content of a page, decrypted; nil when it is damaged or missing.
    func content(of number: Int) -> [UInt8]? {
        let page: [UInt8]
        if let newest = wal.page(number) {
            page = newest
        } else {
            guard (try? file.read(at: (number - 1) * pageSize, into: buffer)) == true else { return nil }
            page = [UInt8](buffer)
        }
        let isAuthentic = page.withUnsafeBytes { authenticator.authenticates($0, number: UInt32(number)) }
        return isAuthentic ? cipher.open(page, number: number) : nil
    }

    /// Tells what pages are parts of.
    func owners(of pages: [Int], in trees: [PageOwners.Tree]) -> [Int: String] {
        guard !pages.isEmpty else { return [:] }
        let owners = PageOwners(
            read: { self.content(of: $0) }, usableByteCount: cipher.usableByteCount, pageCount: pageCount)
        return owners.owners(of: Set(pages), in: trees)
    }

    /// The page that holds SQLite's lock bytes, and never data.
    static func lockPage(_ pageSize: Int) -> Int { 0x4000_0000 / pageSize + 1 }
}

extension WALFile {
    fileprivate var hasProblem: Bool { !badFrames.isEmpty || breakFrame != nil }
}

extension StoreError {
    static func withoutMACs(path: String) -> StoreError {
        StoreError(
            .encryptionMismatch,
            "the file has the format of SQLCipher 1, whose pages carry no MACs: nothing can be verified; copy it into a new store",
            path: path)
    }
}
