import CipherStore
import Foundation
import SyncMembers
import SyncWire

/// What a session with a mailbox knows of the members of its database: whose files it takes in, and what it may write.
struct FolderMembers {
    /// The members, and what this store can do among them.
    var record: MembershipRecord

    init(_ record: MembershipRecord) { self.record = record }

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

extension MembershipRecord {
    /// The passphrases of the files of all epochs that can be opened here, by the salts of these files.
    func filePassphrases() throws -> [[UInt8]: Secret] {
        var passphrases: [[UInt8]: Secret] = [:]
        for epoch in keyring.opened {
            guard let key = keyring[epoch] else { continue }
            passphrases[epoch.fileSalt] = try key.filePassphrase()
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
