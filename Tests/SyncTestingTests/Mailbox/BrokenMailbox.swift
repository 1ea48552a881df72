import Foundation
import SyncEngine
import SyncTesting
import Synchronization

/// A mailbox in memory that breaks one promise, as the contract of mailboxes has it.
struct BrokenMailbox: Mailbox {
    /// What it does.
    enum Flaw: String, CaseIterable {
        case opensMissingFiles
        case readsMoreThanWasAsked
        case endsEarly
        case listsOtherSizes
        case listsNoFolders
        case replacesUnasked
        case neverReplaces
        case mixesVersions
        case showsUnfinishedFiles
        case keepsStoppedWrites
        case hidesErrorsOfTheBytes
        case removesOneOfSeveral
        case removesTheWholeFolder
        case cutsLongFiles
        case refusesEmptyFiles
        case losesWritesAtOneTime

        /// The promise.
        var clause: MailboxContract.Clause {
            switch self {
            case .opensMissingFiles: .emptiness
            case .readsMoreThanWasAsked, .endsEarly, .listsOtherSizes, .listsNoFolders: .reading
            case .replacesUnasked, .neverReplaces: .replacing
            case .mixesVersions: .oneVersion
            case .showsUnfinishedFiles, .keepsStoppedWrites, .hidesErrorsOfTheBytes: .stoppedWrites
            case .removesOneOfSeveral, .removesTheWholeFolder: .removal
            case .cutsLongFiles, .refusesEmptyFiles: .lengths
            case .losesWritesAtOneTime: .threads
            }
        }
    }

    private static let longFileByteCount = 8 << 20

    /// Nil for a mailbox that keeps all promises.
    let flaw: Flaw?
    let whole = MemoryMailbox(seed: 1, faults: [])
    private let meeting = Meeting()

    init(_ flaw: Flaw?) { self.flaw = flaw }

    var name: String { whole.name }
    var location: String { whole.location }

    func folders() throws -> [String] { flaw == .listsNoFolders ? [] : try whole.folders() }

    func files(in folder: String) throws -> [MailboxFile] {
        try whole.files(in: folder).map {
            flaw == .listsOtherSizes ? MailboxFile(name: $0.name, byteCount: $0.byteCount + 1) : $0
        }
    }

    func open(_ path: MailboxPath) throws -> any MailboxReader {
        if flaw == .opensMissingFiles, whole.content(of: path) == nil {
            return BrokenReader(byteCount: 0) { _, _ in Data() }
        }
        let reader = try whole.open(path)
        let byteCount = reader.byteCount
        return BrokenReader(byteCount: byteCount) { [flaw, whole] offset, count in
            switch flaw {
            case .readsMoreThanWasAsked: try reader.read(upTo: count + 1)
            case .endsEarly: offset + count >= byteCount ? Data() : try reader.read(upTo: count)
            case .mixesVersions: Data((whole.content(of: path) ?? Data()).dropFirst(offset).prefix(count))
            default: try reader.read(upTo: count)
            }
        }
    }

    func write(
        _ path: MailboxPath, replacing: Bool, _ body: (@escaping (Data) throws -> Void) throws -> Void
    ) throws {
        switch flaw {
        case .replacesUnasked: try whole.write(path, replacing: true, body)
        case .neverReplaces where replacing && whole.content(of: path) != nil: try body { _ in }
        case .refusesEmptyFiles, .cutsLongFiles, .showsUnfinishedFiles, .keepsStoppedWrites:
            try writeAtOnce(path, replacing: replacing, body)
        case .hidesErrorsOfTheBytes:
            do { try whole.write(path, replacing: replacing, body) } catch is MailboxError {} catch { return }
        case .losesWritesAtOneTime where meeting.hasCompany():
            try body { _ in }
        default: try whole.write(path, replacing: replacing, body)
        }
    }

    /// Collects the bytes first, and looks what comes of them.
    private func writeAtOnce(
        _ path: MailboxPath, replacing: Bool, _ body: (@escaping (Data) throws -> Void) throws -> Void
    ) throws {
        let content = Mutex(Data())
        do {
            try body { piece in
                let all = content.withLock { bytes in
                    bytes += piece
                    return bytes
                }
                if flaw == .showsUnfinishedFiles { whole.setContent(all, of: path) }
            }
        } catch {
            let all = content.withLock { $0 }
            if flaw == .keepsStoppedWrites { whole.setContent(all, of: path) }
            throw error
        }
        let all = content.withLock { $0 }
        if flaw == .refusesEmptyFiles, all.isEmpty {
            throw MailboxError(.failed, "it refuses files of no bytes")
        }
        if flaw == .cutsLongFiles { return whole.setContent(all.prefix(Self.longFileByteCount), of: path) }
        try whole.write(path, replacing: replacing) { sink in
            for start in stride(from: 0, to: all.count, by: MailboxPath.pieceByteCountMax) {
                try sink(Data(all.dropFirst(start).prefix(MailboxPath.pieceByteCountMax)))
            }
        }
    }

    func remove(_ path: MailboxPath) throws { try whole.remove(path) }

    func remove(_ paths: [MailboxPath]) throws {
        switch flaw {
        case .removesOneOfSeveral: try paths.first.map(whole.remove)
        case .removesTheWholeFolder:
            for path in whole.paths where paths.contains(where: { $0.folder == path.folder }) {
                try whole.remove(path)
            }
        default: try whole.remove(paths)
        }
    }
}

/// A reader whose bytes are made by a closure of the offset and the count.
private final class BrokenReader: MailboxReader {
    let byteCount: Int
    private var offset = 0
    private let bytes: (_ offset: Int, _ count: Int) throws -> Data

    init(byteCount: Int, _ bytes: @escaping (_ offset: Int, _ count: Int) throws -> Data) {
        (self.byteCount, self.bytes) = (byteCount, bytes)
    }

    func read(upTo count: Int) throws -> Data {
        let data = try bytes(offset, count)
        offset += data.count
        return data
    }
}

/// Finds out whether two threads are in the same place.
private final class Meeting: Sendable {
    private let condition = NSCondition()
    private let count = Mutex(0)

    /// Waits a moment for another thread.
    func hasCompany() -> Bool {
        condition.lock()
        defer { condition.unlock() }
        count.withLock { $0 += 1 }
        condition.broadcast()
        let end = Date(timeIntervalSinceNow: 10)
        while count.withLock({ $0 }) < 2, condition.wait(until: end) {}
        return count.withLock { $0 } >= 2
    }
}
