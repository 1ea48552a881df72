import CipherStore
import Foundation
import SyncWire

/// What large bundles of a mailbox say of themselves that no head lists: a setting, of no use to copies of the store.
///
/// Their replica may be away for long, and would have everybody fetch the files at each synchronization. Only what a place tells the
/// version of is remembered: any other file may be another one by now.
struct KnownHeaders {
    /// What is needed of a bundle's header.
    struct Header: Codable, Equatable {
        fileprivate let sender: String
        fileprivate let store: String
        fileprivate let baseVector: [String: Int64]
        fileprivate let targetVector: [String: Int64]

        init(_ header: BundleHeader) {
            (sender, store) = (header.sender.description, header.store.description)
            (baseVector, targetVector) = (FolderHead.encode(header.base), FolderHead.encode(header.target))
        }

        var base: VersionVector { FolderHead.decode(baseVector) }
        var target: VersionVector { FolderHead.decode(targetVector) }

        /// Whether a replica wrote it, for a database; nil for any.
        func isOf(_ replica: ReplicaID, in store: StoreID?) -> Bool {
            sender == replica.description && (store == nil || self.store == store?.description)
        }

        fileprivate var sequenceCount: Int { baseVector.count + targetVector.count }
    }

    private struct Finding: Codable, Equatable {
        let version: String
        let header: Header
    }

    /// Smaller files cost less than to remember them.
    static let byteCountMin = 256 << 10
    /// Somebody may write many bundles.
    static let countMax = 64
    private static let sequenceCountMax = 8_192

    private var former: [String: Finding] = [:]
    private var current: [String: Finding] = [:]

    /// Begins with nothing.
    init() {}

    /// Reads what is known of a mailbox.
    static func load(_ db: Database, mailbox: String) throws -> KnownHeaders {
        var known = KnownHeaders()
        guard try db.tableExists("_sync_setting", in: "main"),
            let text = try SyncSetting.text(db, name(mailbox))
        else { return known }
        // What can't be read is read in the files again.
        known.former = (try? JSONDecoder().decode([String: Finding].self, from: Data(text.utf8))) ?? [:]
        return known
    }

    /// Whether there is something to keep.
    var hasChanged: Bool { former != current }

    /// Keeps what was asked for in this synchronization, and forgets the rest.
    func save(_ db: Database, mailbox: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = try current.isEmpty ? nil : String(decoding: encoder.encode(current), as: UTF8.self)
        try SyncSetting.set(db, Self.name(mailbox), text)
    }

    // Copies forget it with what was found in files that were checked.
    private static func name(_ mailbox: String) -> String { "checked headers " + mailbox }

    /// The header of a bundle; nil when it has to be read.
    func header(of path: MailboxPath, version: String?) -> Header? {
        guard let finding = former[path.description], finding.version == version else { return nil }
        return finding.header
    }

    /// Notes what a bundle says.
    mutating func note(_ header: Header, of path: MailboxPath, byteCount: Int, version: String?) {
        let count = current.values.reduce(header.sequenceCount) { $0 + $1.header.sequenceCount }
        guard let version = SnapshotRecord.usable(version), byteCount > Self.byteCountMin,
            current.count < Self.countMax, count <= Self.sequenceCountMax
        else { return }
        current[path.description] = Finding(version: version, header: header)
    }
}

extension StorePeer {
    /// What bundles of a mailbox said before that no head lists.
    func knownHeaders(in mailbox: String) throws -> KnownHeaders {
        try database.read { try KnownHeaders.load($0, mailbox: mailbox) }
    }

    /// Keeps what they say by now.
    func keep(_ headers: KnownHeaders, in mailbox: String) throws {
        guard headers.hasChanged, canWrite else { return }
        try database.write { try headers.save($0, mailbox: mailbox) }
    }
}
