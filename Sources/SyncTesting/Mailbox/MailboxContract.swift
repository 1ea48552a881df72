import Foundation
import SyncEngine
import Synchronization

/// What each `Mailbox` must do, whatever it is made of: a conformance of one's own is held to it in a test.
///
/// ```swift
/// @Test(arguments: MailboxContract.Clause.allCases) func itIsAMailbox(clause: MailboxContract.Clause) throws {
///     try MailboxContract.check(clause, of: MyMailbox(empty: true))
/// }
/// ```
public enum MailboxContract {
    /// A promise of a mailbox.
    public enum Clause: String, CaseIterable, Sendable {
        /// A place that nobody wrote into has no folders and no files, and nothing to remove.
        case emptiness
        /// What was written is read, in pieces of any length, and is listed with its size.
        case reading
        /// A file takes the place of another one only when that is wanted.
        case replacing
        /// All reads of a file that is open give bytes of one version, or throw.
        case oneVersion
        /// A write whose bytes end in an error leaves what was there.
        case stoppedWrites
        /// Several files are removed, the missing ones among them, and no others.
        case removal
        /// A file of no bytes, and one that is many pieces long, are read as they were written.
        case lengths
        /// Several threads may use it at once.
        case threads
    }

    /// What broke it.
    public struct Violation: Error, CustomStringConvertible {
        /// The promise.
        public let clause: Clause
        /// What was not so.
        public let description: String
    }

    /// Holds an empty place to a promise. Files may be left there.
    ///
    /// - throws: A ``Violation``; what the mailbox throws without being asked to.
    public static func check(_ clause: Clause, of mailbox: any Mailbox) throws {
        let checked = CheckedMailbox(clause: clause, mailbox: mailbox)
        switch clause {
        case .emptiness: try checked.emptiness()
        case .reading: try checked.reading()
        case .replacing: try checked.replacing()
        case .oneVersion: try checked.oneVersion()
        case .stoppedWrites: try checked.stoppedWrites()
        case .removal: try checked.removal()
        case .lengths: try checked.lengths()
        case .threads: try checked.threads()
        }
    }
}

/// A mailbox that is held to a promise.
private struct CheckedMailbox {
    private struct Stopped: Error {}

    let clause: MailboxContract.Clause
    let mailbox: any Mailbox
    private let folder = String(repeating: "0a", count: 16)

    init(clause: MailboxContract.Clause, mailbox: any Mailbox) {
        self.clause = clause
        self.mailbox = mailbox
    }

    private func bundle(_ number: Int = 0) -> MailboxPath {
        MailboxPath(folder: folder, name: "000170000000000\(number)-00112233445566ff.bundle")
    }

    private func require(_ condition: Bool, _ words: String) throws {
        if !condition { throw MailboxContract.Violation(clause: clause, description: words) }
    }

    private func require(_ code: MailboxError.Code, _ words: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as MailboxError {
            return try require(error.code == code, "\(words): \(error)")
        }
        try require(false, "\(words): there was no error")
    }

    private func write(_ path: MailboxPath, _ pieces: [[UInt8]], replacing: Bool = false) throws {
        try mailbox.write(path, replacing: replacing) { sink in
            for piece in pieces where !piece.isEmpty { try sink(Data(piece)) }
        }
    }

    private func read(_ path: MailboxPath, by count: Int = 3) throws -> [UInt8] {
        let reader = try mailbox.open(path)
        var bytes: [UInt8] = []
        while true {
            let piece = try reader.read(upTo: count)
            try require(piece.count <= count, "more bytes than were asked for")
            if piece.isEmpty { break }
            bytes += piece
        }
        try require(bytes.count == reader.byteCount, "another size than was read")
        return bytes
    }

    private func names() throws -> [String] { try mailbox.files(in: folder).map(\.name).sorted() }

    func emptiness() throws {
        try require(mailbox.folders().isEmpty && names().isEmpty, "something is listed")
        try require(.missing, "a missing file is opened") { _ = try mailbox.open(bundle()) }
        try mailbox.remove(bundle())
    }

    func reading() throws {
        try write(bundle(), [[1, 2], [3], [4, 5, 6, 7]])
        for count in 1...8 {
            try require(read(bundle(), by: count) == [1, 2, 3, 4, 5, 6, 7], "other bytes, by \(count)")
        }
        try require(mailbox.folders() == [folder], "the folder is not listed")
        let files = try mailbox.files(in: folder)
        try require(files.map(\.name) == [bundle().name], "the file is not listed")
        try require(files.first?.byteCount == 7, "it is listed with another size")
        try mailbox.remove(bundle())
        try require(names().isEmpty, "it is listed after it was removed")
        try require(.missing, "it is opened after it was removed") { _ = try mailbox.open(bundle()) }
    }

    func replacing() throws {
        try write(bundle(), [[1]])
        try require(.exists, "a file is replaced unasked") { try write(bundle(), [[2]]) }
        try require(read(bundle()) == [1], "a write that failed wrote something")
        try write(bundle(), [[3, 4]], replacing: true)
        try require(read(bundle()) == [3, 4], "the file was not replaced")
    }

    func oneVersion() throws {
        try write(bundle(), [[1, 1, 1, 1]])
        let reader = try mailbox.open(bundle())
        var bytes = try reader.read(upTo: 2)
        try write(bundle(), [[2, 2, 2, 2, 2]], replacing: true)
        do {
            while bytes.count < 4 { bytes += try reader.read(upTo: 4) }
        } catch is MailboxError {
            return
        }
        try require(Array(bytes) == [1, 1, 1, 1], "bytes of two versions: \(Array(bytes))")
    }

    func stoppedWrites() throws {
        for isThere in [false, true] {
            if isThere { try write(bundle(), [[1]]) }
            do {
                try mailbox.write(bundle(), replacing: true) { sink in
                    try sink(Data([2]))
                    try require(names().contains(bundle().name) == isThere, "it is there before it is whole")
                    throw Stopped()
                }
                try require(false, "the error of the bytes is not handed on")
            } catch is Stopped {}
            try require(names().count == (isThere ? 1 : 0), "something is left")
        }
        try require(read(bundle()) == [1], "what was there is not")
    }

    func removal() throws {
        for number in 0..<4 { try write(bundle(number), [[UInt8(number)]]) }
        try mailbox.remove([bundle(0), bundle(9), bundle(2)])
        try require(names() == [bundle(1).name, bundle(3).name], "others are there: \(names())")
        try mailbox.remove([MailboxPath]())
        try mailbox.remove([bundle(1)])
        _ = try mailbox.folders()
        try require(names() == [bundle(3).name], "others are there: \(names())")
    }

    func lengths() throws {
        try write(bundle(0), [])
        try require(read(bundle(0)).isEmpty, "a file of no bytes has some")
        let piece = (0..<MailboxPath.pieceByteCountMax).map { UInt8(truncatingIfNeeded: $0 ^ ($0 >> 8)) }
        let pieces = Array(repeating: piece, count: 10) + [[7]]
        try write(bundle(1), pieces)
        try require(read(bundle(1), by: 1 << 20) == pieces.flatMap { $0 }, "a long file has other bytes")
        let sizes = try mailbox.files(in: folder).map(\.byteCount).sorted()
        try require(sizes == [0, (10 << 20) + 1], "other sizes are listed: \(sizes)")
    }

    func threads() throws {
        let problems = ProblemList()
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            do {
                try write(bundle(number), [[UInt8(number)], [9]])
                try require(read(bundle(number)) == [UInt8(number), 9], "other bytes in a thread")
            } catch {
                problems.add(error)
            }
        }
        if let problem = problems.first { throw problem }
        _ = try mailbox.folders()
        try require(names().count == 8, "others are there: \(names())")
    }
}

/// The errors of several threads.
private final class ProblemList: Sendable {
    private let errors = Mutex<[any Error]>([])

    var first: (any Error)? { errors.withLock { $0.first } }

    func add(_ error: any Error) { errors.withLock { $0.append(error) } }
}
