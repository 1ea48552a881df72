import Foundation
import SyncEngine

/// A mailbox in memory that does what places elsewhere do: it is late, out of date, full, and out of reach. Equal
/// seeds give equal faults to equal calls.
///
/// ```swift
/// let mailbox = MemoryMailbox(seed: 4711)
/// let here = MailboxTransport(mailbox: mailbox, passphrase: passphrase)
/// let there = MailboxTransport(mailbox: mailbox.seen(from: 1), passphrase: passphrase)
/// …
/// mailbox.endFaults()
/// ```
///
/// A fault never goes beyond what `Mailbox` allows, but for ``MailboxFault/damage``, which no place promises to
/// be free of.
public struct MemoryMailbox: Mailbox {
    private let place: MemoryPlace
    /// The machine that sees it so.
    public let machine: Int

    /// Makes an empty place, as machine 0 sees it.
    ///
    /// - parameters:
    ///     - seed: What the faults depend on.
    ///     - faults: Those that occur.
    public init(seed: UInt64, faults: Set<MailboxFault> = Set(MailboxFault.allCases)) {
        place = MemoryPlace(seed: seed, faults: faults)
        machine = 0
    }

    private init(_ place: MemoryPlace, _ machine: Int) {
        self.place = place
        self.machine = machine
    }

    /// The same place, as another machine sees it.
    public func seen(from machine: Int) -> MemoryMailbox { MemoryMailbox(place, machine) }

    /// From now on all see what is there, and nothing fails. What was damaged stays so.
    public func endFaults() { place.setFaults([]) }

    /// From now on other faults occur.
    func setFaults(_ faults: Set<MailboxFault>) { place.setFaults(faults) }

    /// The files that are there, whoever sees them yet.
    public var paths: [MailboxPath] { place.paths() }

    /// The bytes of a file, whoever sees them yet; nil when there is none.
    public func content(of path: MailboxPath) -> Data? { place.content(of: path) }

    /// Puts other bytes into the place of a file's, for all to see.
    ///
    /// - parameter content: The bytes; nil to remove the file.
    /// - parameter path: The file.
    public func setContent(_ content: Data?, of path: MailboxPath) { place.put(content, path) }

    /// How many calls there were, which says what is there.
    var moment: Int { place.moment }

    /// Puts the place back to what it was, for all to see.
    func goBack(to moment: Int) { place.goBack(to: moment) }

    /// What a file held before it was replaced.
    func formerContents(of path: MailboxPath) -> [Data] { place.formerContents(of: path) }

    /// A name without a seed or a machine: settings of stores depend on it.
    public var name: String { "memory:mailbox" }

    /// The name.
    public var location: String { name }

    /// The names of the folders, as this machine sees them.
    ///
    /// - throws: `MailboxError` of code `unreachable`.
    public func folders() throws -> [String] {
        Array(Set(try place.list(machine).map(\.key.folder)))
    }

    /// The files of a folder, as this machine sees them.
    ///
    /// - throws: `MailboxError` of code `unreachable`.
    public func files(in folder: String) throws -> [MailboxFile] {
        try place.list(machine).filter { $0.key.folder == folder }
            .map { MailboxFile(name: $0.key.name, byteCount: $0.value) }
    }

    /// Opens a file, as this machine sees it.
    ///
    /// - throws: `MailboxError`: `missing`, `unreachable`.
    public func open(_ path: MailboxPath) throws -> any MailboxReader {
        guard let content = try place.open(path, machine) else {
            throw MailboxError(.missing, "there is no such file")
        }
        return MemoryReader(place, content)
    }

    /// Writes a file.
    ///
    /// - throws: `MailboxError`: `exists`, `full`, `unreachable`; what `body` throws.
    public func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws {
        var content = Data()
        try place.begin()
        try body { data in
            precondition(
                (1...MailboxPath.pieceByteCountMax).contains(data.count), "a piece is bounded")
            try place.begin(isWriting: true)
            content.append(data)
        }
        try place.finish(path, content, replacing: replacing, machine)
    }

    /// Removes a file.
    ///
    /// - throws: `MailboxError` of code `unreachable`.
    public func remove(_ path: MailboxPath) throws { try place.remove(path, machine) }
}

/// A version of a file, which the mailbox hands out in pieces of any length.
private final class MemoryReader: MailboxReader {
    private let place: MemoryPlace
    private var rest: Data
    let byteCount: Int

    init(_ place: MemoryPlace, _ content: Data) {
        self.place = place
        rest = content
        byteCount = content.count
    }

    func read(upTo count: Int) throws -> Data {
        precondition((1...MailboxPath.pieceByteCountMax).contains(count), "a piece is bounded")
        let piece = rest.prefix(try place.pieceLength(upTo: count))
        rest = rest.dropFirst(piece.count)
        return Data(piece)
    }
}
