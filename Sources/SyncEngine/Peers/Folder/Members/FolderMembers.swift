import CipherStore
import Foundation
import SyncMembers
import SyncWire

/// What a session with a mailbox knows of the members of its database: whose files it takes in, and what it may write.
struct FolderMembers {
    /// The members, and what this store can do among them.
    var record: MembershipRecord

    /// Whether the passphrase of the mailbox has opened a file of statements in this session.
    let hasOpenedStatements: Bool

    /// The files of statements that the passphrase has opened before, by folder and name.
    let knownFiles: Set<String>

    /// - parameters:
    ///     - record: The members.
    ///     - statements: What was found of them in the mailbox.
    init(_ record: MembershipRecord, _ statements: FolderStatements? = nil) {
        self.record = record
        hasOpenedStatements = statements?.isOpened ?? false
        knownFiles = Set(statements?.entries.values.filter(\.isOpened).map(\.path) ?? [])
    }

    private var state: MembershipState { record.state }

    /// What this store may do; nil when it is no member's device.
    var role: MemberRole? { record.role }

    /// Why nothing of a replica is taken in, not even what it says that it knows; nil when its head is by whom it should be.
    func refusal(of head: FolderHead, _ replica: ReplicaID) -> RefusedFiles? {
        guard let device = head.deviceID, let signed = head.signed else { return refusal(replica, .unsigned) }
        guard let card = state.card(of: device) else { return refusal(replica, .deviceUnknown) }
        guard
            HeadSignature.isValid(
                signed.signature, of: signed.content, store: state.store, replica: replica, by: card)
        else { return refusal(replica, .signatureWrong) }
        let member = state.devices[device].flatMap { state.members[$0.member]?.name }
        guard let role = state.role(of: device) else { return refusal(replica, .removed, member) }
        guard let writer = state.replicas[replica]?.device else {
            return refusal(replica, .replicaUnknown, member)
        }
        guard writer == device else { return refusal(replica, .otherDevice, member) }
        if role < .writer, !head.bundles.isEmpty || head.snapshot != nil {
            return refusal(replica, .roleTooLow, member)
        }
        return nil
    }

    /// Why a head that no key here opens is not taken in.
    func refusal(ofClosedHeadOf replica: ReplicaID) -> RefusedFiles {
        let isRemoved = state.replicas[replica].map { state.role(of: $0.device) == nil } ?? false
        return refusal(replica, isRemoved ? .removed : .keyMissing)
    }

    /// Whether the device that a head names is of somebody who may write.
    func isWriters(_ head: FolderHead) -> Bool {
        guard let role = head.deviceID.flatMap({ state.role(of: $0) }) else { return false }
        return role >= .writer
    }

    /// Makes a refusal.
    func refusal(
        _ replica: ReplicaID, _ reason: RefusedFiles.Reason, _ member: MemberName? = nil
    ) -> RefusedFiles {
        RefusedFiles(replica: replica, member: member ?? self.member(of: replica), reason: reason)
    }

    private func member(of replica: ReplicaID) -> MemberName? {
        state.replicas[replica].flatMap { state.members[$0.member]?.name }
    }

    /// Whether newcomers get the key of a file. There may be files for which they do not: others wrote them in an epoch that
    /// does not count any more, before they knew.
    func isShared(_ salt: [UInt8]?) -> Bool {
        record.shared.contains { $0.fileSalt == salt }
    }

    /// Whether a device writes a replica.
    func isWritten(_ replica: ReplicaID, by device: DeviceID) -> Bool {
        state.replicas[replica]?.device == device
    }

    /// Whether another device writes a replica: then this file takes another identity.
    func isClaimedByAnother(_ replica: ReplicaID) -> Bool {
        guard let own = record.device?.card.id, let writer = state.replicas[replica]?.device else {
            return false
        }
        return writer != own
    }
}

/// Statements that somebody misses because the files that held them are gone, or hold something else by now.
extension FolderMembers {
    /// How much the heads of each member can say that is missing: they may name what does not exist. Who knows one thing that
    /// is missing here writes all of it again.
    private static var lackedCountMax: Int { 16 }
    /// How many complaints are followed, where each says that another one knows something else.
    private static var complaintCountMax: Int { 32 }

    /// What the heads of others show of statements that are not known here: their names, and the salts of epochs. They are no
    /// more than a head tells.
    ///
    /// - parameter own: This replica.
    func lacking(in contents: FolderContents, but own: ReplicaID) -> [String] {
        var sources: [MemberID: [[String]]] = [:]
        let epochs = Set(state.epochs.map(\.id.fileSalt))
        for (replica, salt) in contents.closed.sorted(by: { $0.key < $1.key })
        where replica != own && !epochs.contains(salt) {
            // Nobody has to know the epochs of strangers.
            guard let writer = state.replicas[replica], state.role(of: writer.device) != nil else { continue }
            // Anybody can leave a file that nothing opens, so all salts of a member are one source.
            sources[writer.member, default: [[]]][0].append(Self.text(salt))
        }
        for (replica, head) in contents.heads.sorted(by: { $0.key < $1.key }) where replica != own {
            let unknown = head.knownStatements.filter { state.statements[$0] == nil }
            guard !unknown.isEmpty, let member = state.replicas[replica]?.member else { continue }
            sources[member, default: [[]]].append(unknown.prefix(Self.lackedCountMax).map(\.description))
        }
        return share(FolderHead.statementCountMax, sources).sorted()
    }

    /// The statements that others don't know, and say so, although they are known here.
    ///
    /// - parameter own: This replica.
    func lacked(in contents: FolderContents, but own: ReplicaID) -> Set<StatementID> {
        let heads = contents.heads.filter { $0.key != own && !$0.value.lackedNames.isEmpty }
        guard !heads.isEmpty else { return [] }
        let epochs = Set(state.epochs.map { Self.text($0.id.fileSalt) })
        // Most who miss something know the same.
        var sources: [MemberID: [[[StatementID]]]] = [:]
        for (replica, head) in heads.sorted(by: { $0.key < $1.key }) {
            let isKnown = head.lackedNames.contains { name in
                epochs.contains(name)
                    || StatementID(hexadecimal: name).map { state.statements[$0] != nil } ?? false
            }
            guard isKnown, let member = state.replicas[replica]?.member else { continue }
            sources[member, default: []].append([head.knownStatements])
        }
        var lacked: Set<StatementID> = []
        for names in share(Self.complaintCountMax, sources) {
            let known = past(of: names)
            lacked.formUnion(state.statements.keys.filter { !known.contains($0) })
        }
        return lacked
    }

    /// Shares places out: each member gets one before anybody gets a second, and those who may write go first. Whoever may only
    /// read can have any number of devices, replicas and heads, and members are those whom an admin lets in.
    ///
    /// - parameter sources: What each member would put there; of its sources, too, each gives one before any gives a second.
    private func share<Content: Hashable>(
        _ count: Int, _ sources: [MemberID: [[Content]]]
    ) -> Set<Content> {
        let isWriter = { (member: MemberID) in
            state.members[member]?.role.map { $0 >= .writer } ?? false
        }
        let members = sources.keys.sorted()
        let queues = (members.filter(isWriter) + members.filter { !isWriter($0) }).map { member in
            Self.inTurns(sources[member] ?? [])
        }
        var shared: Set<Content> = []
        for turn in 0..<Self.lackedCountMax {
            for queue in queues where turn < queue.count && shared.count < count {
                shared.insert(queue[turn])
            }
        }
        return shared
    }

    /// The first of each source, then the second of each, each thing once and no more than one member has places.
    private static func inTurns<Content: Hashable>(_ sources: [[Content]]) -> [Content] {
        var (queue, known): ([Content], Set<Content>) = ([], [])
        for turn in 0..<lackedCountMax {
            for source in sources where turn < source.count && queue.count < lackedCountMax {
                if known.insert(source[turn]).inserted { queue.append(source[turn]) }
            }
        }
        return queue
    }

    /// Statements, and all that they rest upon, as far as they are known here.
    private func past(of names: [StatementID]) -> Set<StatementID> {
        var past: Set<StatementID> = []
        var rest = names
        while let name = rest.popLast() {
            guard let statement = state.statements[name], past.insert(name).inserted else { continue }
            rest.append(contentsOf: statement.statement.parents)
        }
        return past
    }

    private static func text(_ salt: [UInt8]) -> String {
        salt.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension MembershipRecord {
    /// The passphrases of the files of all epochs that can be opened here, by the salts of these files.
    func filePassphrases() -> SharedPassphrase.GroupSecrets {
        var passphrases: SharedPassphrase.GroupSecrets = [:]
        for epoch in keyring.opened {
            guard let key = keyring[epoch] else { continue }
            passphrases[epoch.fileSalt] = { try key.filePassphrase() }
        }
        return passphrases
    }
}

extension EpochKey {
    /// What seals the files of an epoch: the digits of a random key, so that it needs no costly derivation.
    fileprivate func filePassphrase() throws -> Secret {
        var digits = Data()
        defer { digits.resetBytes(in: digits.startIndex..<digits.endIndex) }
        subkey(for: "files").withUnsafeBytes { bytes in
            for byte in bytes {
                digits.append(contentsOf: [Self.digit(byte >> 4), Self.digit(byte & 15)])
            }
        }
        return Secret(try Passphrase(data: digits))
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }
}

extension StatementID {
    /// The salt of the files that are sealed in this epoch, by which readers find it.
    var fileSalt: [UInt8] { SharedPassphrase.exactSalt(of: Array(bytes.prefix(16))) }
}
