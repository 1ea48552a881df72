import Foundation

/// The frames of a write-ahead log, read independently of SQLite.
///
/// A frame counts when it carries the salts of the WAL's header and continues its
/// checksum, and a commit follows it. SQLite ignores everything else, and overwrites it.
/// Source: <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>
struct WALFile {
    private static let headerByteCount = 32
    private static let frameHeaderByteCount = 24
    /// The first four bytes, without the bit that tells the byte order of the checksums.
    private static let magic: UInt32 = 0x377f_0682

    let path: String

    /// Where the newest committed content of each page is.
    private(set) var offsets: [Int: Int] = [:]

    /// The pages of the database after the last commit; nil when there is none.
    private(set) var pageCount: Int?

    /// The frames up to and with the last commit.
    private(set) var frameCount = 0

    /// The number of the frame at which the WAL breaks off although commits of the same run of the
    /// WAL follow; nil when it ends as it should.
    private(set) var breakFrame: Int?

    /// The committed frames whose page carries a wrong MAC: frame and page number.
    private(set) var badFrames: [(frame: Int, page: Int)] = []

    private let pageSize: Int

    /// Reads a WAL, and checks the MAC of each committed frame. There is none when the file is
    /// missing, or too short for a header.
    ///
    /// - parameters:
    ///     - path: The path of the WAL.
    ///     - authenticator: What checks the MACs; nil to check none.
    ///     - pageSize: The size of the pages; a WAL of others counts for nothing.
    /// - throws: A ``StoreError`` of code `cannotRead`.
    init(path: String, authenticator: PageAuthenticator?, pageSize: Int) throws {
        self.path = path
        self.pageSize = pageSize
        guard FileIdentity(path: path) != nil else { return }
        // SQLite locks the database file and the -shm file, so this one may be opened and closed.
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw StoreError(.cannotRead, "cannot open: \(StoreError.systemText)", path: path)
        }
        defer { try? file.close() }
        guard let header = try Header(file.read(upToCount: Self.headerByteCount) ?? Data()),
            header.pageSize == pageSize
        else { return }
        try readFrames(file, header, authenticator)
    }

    private mutating func readFrames(
        _ file: FileHandle, _ header: Header, _ authenticator: PageAuthenticator?
    ) throws {
        let size = Self.frameHeaderByteCount + pageSize
        var sum = header.sum
        var number = 0
        var firstBroken: Int?
        var open: [(page: Int, offset: Int)] = []
        var openBad: [(frame: Int, page: Int)] = []
        while let bytes = try file.read(upToCount: size), bytes.count == size {
            number += 1
            let frame = [UInt8](bytes)
            guard header.isSalted(frame) else { break }
            let commit = frame.bigEndian(at: 4)
            if firstBroken == nil {
                sum.add(frame[0..<8])
                sum.add(frame[Self.frameHeaderByteCount...])
                if sum.matches(frame, at: 16) {
                    let page = Int(frame.bigEndian(at: 0))
                    open.append(
                        (page, Self.headerByteCount + (number - 1) * size + Self.frameHeaderByteCount))
                    if let authenticator, !Self.isAuthentic(frame, page, authenticator) {
                        openBad.append((number, page))
                    }
                    guard commit > 0 else { continue }
                    for (page, offset) in open { offsets[page] = offset }
                    badFrames += openBad
                    (open, openBad) = ([], [])
                    frameCount = number
                    pageCount = Int(commit)
                    continue
                }
                firstBroken = number
            } else if commit > 0 {
                // What a transaction that was rolled back leaves has no commit.
                breakFrame = firstBroken
                break
            }
        }
    }

    private static func isAuthentic(
        _ frame: [UInt8], _ page: Int, _ authenticator: PageAuthenticator
    ) -> Bool {
        frame.withUnsafeBytes {
            authenticator.authenticates(
                UnsafeRawBufferPointer(rebasing: $0[frameHeaderByteCount...]), number: UInt32(page))
        }
    }

    /// Reads the newest committed content of a page; nil when the WAL does not hold the page.
    func page(_ number: Int) -> [UInt8]? {
        guard let offset = offsets[number], let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard (try? file.seek(toOffset: UInt64(offset))) != nil,
            let bytes = try? file.read(upToCount: pageSize), bytes.count == pageSize
        else { return nil }
        return [UInt8](bytes)
    }

    /// The first page of a store as the last commit in its WAL left it, where it is needed to tell which spelling of a
    /// passphrase opens the store.
    ///
    /// In WAL mode a change from one spelling to the other leaves the file's own first page as it was until a
    /// checkpoint, and that page proves the former one.
    ///
    /// - returns: nil where the secret has one spelling only, and where the WAL does not hold the page.
    static func firstPage(ofStore path: String, pageSize: Int, for secret: Secret) -> [UInt8]? {
        guard secret.spellings.count > 1 else { return nil }
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        // What can't be read here SQLite can't read either, and says why.
        return try? WALFile(path: file + "-wal", authenticator: nil, pageSize: pageSize).page(1)
    }

    /// The header of a WAL.
    private struct Header {
        let pageSize: Int
        let salts: ArraySlice<UInt8>
        let sum: Checksum

        init?(_ data: Data) {
            let bytes = [UInt8](data)
            guard bytes.count == WALFile.headerByteCount else { return nil }
            let magic = bytes.bigEndian(at: 0)
            guard magic & ~1 == WALFile.magic else { return nil }
            var sum = Checksum(isBigEndian: magic & 1 == 1)
            sum.add(bytes[0..<24])
            guard sum.matches(bytes, at: 24) else { return nil }
            pageSize = Int(bytes.bigEndian(at: 8))
            salts = bytes[16..<24]
            self.sum = sum
        }

        func isSalted(_ frame: [UInt8]) -> Bool { frame[8..<16] == salts }
    }

    /// The running checksum of a WAL.
    private struct Checksum {
        private var first: UInt32 = 0
        private var second: UInt32 = 0
        private let isBigEndian: Bool

        init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

        /// Adds a multiple of eight bytes.
        mutating func add(_ bytes: ArraySlice<UInt8>) {
            bytes.withUnsafeBytes { bytes in
                for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
                    first &+= word(bytes, offset) &+ second
                    second &+= word(bytes, offset + 4) &+ first
                }
            }
        }

        private func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
        }

        func matches(_ bytes: [UInt8], at offset: Int) -> Bool {
            first == bytes.bigEndian(at: offset) && second == bytes.bigEndian(at: offset + 4)
        }
    }
}

extension [UInt8] {
    /// The four bytes at an offset as a number, the highest byte first.
    func bigEndian(at offset: Int) -> UInt32 {
        self[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The two bytes at an offset as a number, the highest byte first.
    func bigEndian16(at offset: Int) -> Int { Int(self[offset]) << 8 | Int(self[offset + 1]) }
}
