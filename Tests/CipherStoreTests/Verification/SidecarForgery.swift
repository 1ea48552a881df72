@testable import CipherStore

/// What somebody without the key can make right: the checksums of SQLite's sidecar files.
enum WALForger {
    static func repair(_ wal: inout [UInt8], pageSize: Int) {
        let isBigEndian = wal[3] & 1 == 1
        var sum: (UInt32, UInt32) = (wal.bigEndian(at: 24), wal.bigEndian(at: 28))
        func add(_ bytes: ArraySlice<UInt8>) {
            let bytes = Array(bytes)
            for offset in stride(from: 0, to: bytes.count, by: 8) {
                let words = [offset, offset + 4].map { start -> UInt32 in
                    let word = bytes.bigEndian(at: start)
                    return isBigEndian ? word : word.byteSwapped
                }
                sum.0 = sum.0 &+ words[0] &+ sum.1
                sum.1 = sum.1 &+ words[1] &+ sum.0
            }
        }
        for start in stride(from: 32, to: wal.count, by: pageSize + 24) {
            add(wal[start..<(start + 8)])
            add(wal[(start + 24)..<(start + 24 + pageSize)])
            for (index, word) in [sum.0, sum.1].enumerated() {
                for byte in 0..<4 {
                    wal[start + 16 + index * 4 + byte] = UInt8(truncatingIfNeeded: word >> (24 - 8 * byte))
                }
            }
        }
    }
}

/// The parts of a rollback journal. Source: <https://www.sqlite.org/fileformat2.html#the_rollback_journal>
struct JournalLayout {
    /// The offsets of the headers.
    private(set) var headers: [Int] = []
    /// The offsets of the records: a page number, a page, a checksum.
    private(set) var records: [Int] = []
    private let pageSize: Int

    static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    static let headerFields = ["magic": 0, "records": 8, "nonce": 12, "pages": 16, "sector": 20, "page": 24]

    var recordByteCount: Int { pageSize + 8 }

    init(_ journal: [UInt8], pageSize: Int) {
        self.pageSize = pageSize
        var offset = 0
        while offset + 28 <= journal.count, Array(journal[offset..<(offset + 8)]) == Self.magic {
            headers.append(offset)
            let count = Int(journal.bigEndian(at: offset + 8))
            let sector = Int(journal.bigEndian(at: offset + 20))
            for index in 0..<count { records.append(offset + sector + index * recordByteCount) }
            let end = offset + sector + count * recordByteCount
            offset = (end + sector - 1) / sector * sector
        }
    }

    /// Makes the checksum of a record right: the nonce, and each 200th byte from the end of the page.
    func repair(_ journal: inout [UInt8], record: Int) {
        let header = headers.last { $0 < record } ?? 0
        var sum = journal.bigEndian(at: header + 12)
        for index in stride(from: pageSize - 200, to: 0, by: -200) {
            sum &+= UInt32(journal[record + 4 + index])
        }
        for byte in 0..<4 {
            journal[record + 4 + pageSize + byte] = UInt8(truncatingIfNeeded: sum >> UInt32(24 - 8 * byte))
        }
    }
}
