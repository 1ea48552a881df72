import CipherStore
import Foundation
import SyncMembers
import SyncWire

/// Files of a mailbox that somebody complains about, or that no head names any more, and what was found in them here: a setting, of no
/// use to copies of the store.
///
/// Who complained may be away for long, and would have everybody read the files at each synchronization. Only what a place tells
/// the version of is remembered: any other file may be another one by now.
struct CheckedFiles {
    /// What files are checked, each in their own part of a synchronization.
    enum Kind: String {
        case bundles, statements, snapshots
    }

    /// What was found in a file, as it is kept. Older programs wrote `0` for all that is not sound, of which nothing can be told: such
    /// a file is looked at again.
    enum Outcome: String {
        /// The file is as it should be.
        case sound = "1"
        /// It can't be read, or is not the one that is listed.
        case damaged = "2"
        /// It has another digest than the one that was signed.
        case otherDigest = "3"
        /// It is in an epoch that is not shared, of which nothing is said.
        case unshared = "4"
    }

    /// What is asked of a file.
    struct Question {
        /// Its folder and name.
        let path: String
        /// The digest of its version, and of all else that the answer depends on; nil where the place tells no version.
        let content: String?
        /// The digest of the complaints.
        let complaints: String
    }

    private struct Finding: Equatable {
        let content: String
        let complaints: String
        let outcome: Outcome
        /// When it was found, in milliseconds of Unix time.
        let milliseconds: Int64
    }

    private static let prefix = "checked "
    /// So long nobody looks again because of complaints that are new.
    private static let repetitionMilliseconds: Int64 = 86_400_000
    /// Heads name at most so many files each, and somebody may write many heads.
    private static let countMax = 10_000

    private var former: [String: Finding] = [:]
    private var current: [String: Finding] = [:]
    private let kind: Kind
    private let now: Int64

    /// Begins with nothing.
    init(_ kind: Kind = .bundles, at now: Int64 = 0) { (self.kind, self.now) = (kind, now) }

    /// Reads what is known of a mailbox.
    ///
    /// - parameters:
    ///     - kind: Which files are checked.
    ///     - mailbox: The name of the mailbox.
    ///     - now: The present time.
    static func load(_ db: Database, _ kind: Kind, mailbox: String, at now: Int64) throws -> CheckedFiles {
        var checked = CheckedFiles(kind, at: now)
        guard try db.tableExists("_sync_setting", in: "main"),
            let text = try SyncSetting.text(db, name(kind, mailbox))
        else { return checked }
        for line in text.split(separator: "\n").prefix(countMax) {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 5, let outcome = Outcome(rawValue: words[3]),
                let milliseconds = Int64(words[4])
            else { continue }
            checked.former[words[0]] = Finding(
                content: words[1], complaints: words[2], outcome: outcome, milliseconds: milliseconds)
        }
        return checked
    }

    /// Whether there is something to keep.
    var hasChanged: Bool { former != current }

    /// Keeps what was asked for in this synchronization, and forgets the rest.
    ///
    /// - parameter mailbox: The name of the mailbox.
    func save(_ db: Database, mailbox: String) throws {
        let lines = current.sorted { $0.key < $1.key }.prefix(Self.countMax).map { path, finding in
            "\(path) \(finding.content) \(finding.complaints) \(finding.outcome.rawValue) \(finding.milliseconds)"
        }
        let text = lines.isEmpty ? nil : lines.joined(separator: "\n")
        try SyncSetting.set(db, Self.name(kind, mailbox), text)
    }

    /// Forgets all.
    static func removeAll(_ db: Database) throws { try SyncSetting.removeAll(db, withPrefix: prefix) }

    private static func name(_ kind: Kind, _ mailbox: String) -> String {
        prefix + kind.rawValue + " " + mailbox
    }

    // MARK: Questions

    /// Makes a question.
    ///
    /// - parameters:
    ///     - path: The folder and the name of the file.
    ///     - version: What the place calls its version; nil where it doesn't tell.
    ///     - others: What else the answer depends on.
    ///     - complaints: Who complains, and in which head, in any order.
    static func question(
        _ path: String, version: String?, _ others: [String] = [], complaints: [String]
    ) -> Question {
        let content = SnapshotRecord.usable(version).map { digest([$0] + others) }
        return Question(path: path, content: content, complaints: digest(complaints.sorted()))
    }

    /// What was found in a file, as far as that is known; nil when somebody has to look.
    mutating func answer(_ question: Question) -> Outcome? {
        guard let content = question.content, let finding = former[question.path], finding.content == content
        else { return nil }
        if finding.complaints != question.complaints {
            let (age, overflows) = now.subtractingReportingOverflow(finding.milliseconds)
            guard !overflows, (0..<Self.repetitionMilliseconds).contains(age) else { return nil }
        }
        current[question.path] = finding
        return finding.outcome
    }

    /// Notes what was found.
    mutating func note(_ question: Question, _ outcome: Outcome) {
        guard let content = question.content else { return }
        current[question.path] = Finding(
            content: content, complaints: question.complaints, outcome: outcome, milliseconds: now)
    }

    private static func digest(_ words: [String]) -> String {
        var digest = FileDigest()
        digest.update(Data(words.joined(separator: "\n").utf8))
        return digest.text
    }
}
