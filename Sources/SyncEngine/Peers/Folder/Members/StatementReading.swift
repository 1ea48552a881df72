import SyncMembers
import SyncWire

/// What one synchronization reads of the statements in a mailbox.
///
/// Statements rest upon others, and these may be in files that come later: so all that may still count is kept until
/// everything was read.
struct StatementReading {
    /// A file that was read, or can't be.
    struct File {
        let path: MailboxPath
        let byteCount: Int
        /// The statements in it.
        let names: Set<StatementID>
        /// Whether something in it can't be read.
        let isDamaged: Bool
        /// Whether the passphrase has opened it.
        let isOpened: Bool
    }

    /// How much is kept of what waits for others. It may be of anybody, who could take all memory otherwise.
    private static let (waitingCountMax, waitingByteCountMax) = (20_000, 128 << 20)

    /// The files that were read.
    private(set) var files: [File] = []
    /// How many files were tried.
    private(set) var triedCount = 0
    /// How many bytes these have.
    private(set) var triedByteCount = 0
    private var tried: Set<MailboxPath> = []
    /// What was not taken in yet, each once.
    private(set) var waiting: [StatementID: SignedStatement] = [:]
    /// What never counts, because strangers made it.
    private(set) var strange: Set<StatementID> = []
    /// What was taken in.
    private(set) var fresh: [SignedStatement] = []
    /// Whether there was more that waits than is kept.
    private(set) var hasDropped = false
    /// The files by their paths that hold what other members of the database were founded by.
    private(set) var otherFoundings: [String: OtherFounding] = [:]

    /// Whether a file was read already, or could not be.
    func hasTried(_ path: MailboxPath) -> Bool { tried.contains(path) }

    /// Notes that a file is read now.
    mutating func begin(_ path: MailboxPath, byteCount: Int) {
        tried.insert(path)
        triedCount += 1
        triedByteCount = triedByteCount.addingSaturated(byteCount)
    }

    /// Takes what is in a file.
    ///
    /// - parameter state: What is known; nil when that is nothing yet.
    mutating func add(_ file: File, _ statements: [SignedStatement], to state: MembershipState?) {
        files.append(file)
        if let state { otherFoundings[file.path.description] = OtherFounding(statements, beside: state) }
        for statement in statements
        where state?.statements[statement.id] == nil && !strange.contains(statement.id) {
            waiting[statement.id] = statement
        }
    }

    /// Takes in what rests upon nothing that is missing.
    ///
    /// - throws: A `MembershipError` of code `tooLarge` when there would be too much; nothing is taken then.
    mutating func take(_ record: inout MembershipRecord) throws(MembershipError) {
        guard !waiting.isEmpty else { return }
        do throws(MembershipError) {
            let (fresh, strange) = try record.take(waiting.values.sorted { $0.id < $1.id })
            self.fresh += fresh
            self.strange.formUnion(strange)
            for statement in fresh { waiting[statement.id] = nil }
            for name in strange { waiting[name] = nil }
        } catch {
            drop()
            throw error
        }
        bound()
    }

    /// Drops what waits when it is too much.
    mutating func bound() {
        let byteCount = waiting.values.reduce(0) { $0 + $1.bytes.count }
        if waiting.count > Self.waitingCountMax || byteCount > Self.waitingByteCountMax { drop() }
    }

    private mutating func drop() { (waiting, hasDropped) = ([:], true) }

    /// Begins again with what was read, because what is known may be something else by now.
    mutating func takeAgain() {
        for statement in fresh { waiting[statement.id] = statement }
        fresh = []
    }

    /// Begins to read again, for what was dropped.
    mutating func readAgain() { (tried, hasDropped) = ([], false) }

    /// Forgets which files there were, where nobody asks.
    mutating func forgetFiles() { files = [] }
}
