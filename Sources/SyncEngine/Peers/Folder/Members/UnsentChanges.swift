import SyncMembers

/// Changes of a replica that stay where they are, because it may not or can't write.
public struct UnsentChanges: Equatable, Sendable, CustomStringConvertible {
    /// Why a store may not or can't write. New reasons may be added.
    public enum Reason: Equatable, Sendable {
        /// Its member is a reader.
        case role(MemberRole)
        /// Its device or its member was removed.
        case removed
        /// Its member came by a use of the recovery key, in whose place another use counts that did not know it.
        case otherRecovery
        /// It is no device of a member.
        case noDevice
        /// There is no content key that may be used, and it may not make one, or can't.
        case noEpoch
        /// The content key that the members use is wrapped for it, and what was wrapped is another one: by whose device, where
        /// that is known. Nothing new can be read either, until somebody else makes the next key.
        case keyWrong(by: MemberName?)
        /// It has changes of other replicas in some tables only, and what it writes says the same of all.
        case someTables
    }

    /// How many changes there are.
    public let count: Int64
    /// Why they are not sent.
    public let reason: Reason

    /// How many, and why.
    public var description: String {
        let what =
            switch count {
            case 0: "nothing is sent"
            case 1: "1 change is not sent"
            default: "\(count) changes are not sent"
            }
        return switch reason {
        case .role(let role): "\(what): your role is \(role)"
        case .removed: "\(what): this store's member or device was removed"
        case .otherRecovery:
            """
            \(what): another use of the recovery key counts in the place of the one by which this store's member came; use the key \
            again, now that both are known, or ask an admin for an invitation
            """
        case .noDevice: "\(what): this store is no device of a member; ask an admin for an invitation"
        case .noEpoch: "\(what): there is no key to write with until somebody who may write has synchronized"
        case .keyWrong(let maker):
            """
            \(what), and nothing new can be read: the key that the members use was not wrapped for this store as it should be, by \
            \(maker.map { "\($0)" } ?? "somebody"); ask an admin, whose next invitation, removal or lowered role brings another key
            """
        case .someTables:
            """
            \(what): this replica has changes of other replicas in some tables only; it writes once their other changes have \
            come, or synchronize all tables with a store
            """
        }
    }
}

extension MembershipRecord {
    /// Why this store has no key to write with, and may make none.
    var reasonOfMissingKey: UnsentChanges.Reason {
        guard let current = state.currentEpoch, keyring[current] == nil, let device,
            let statement = state.statements[current]?.statement, case .epoch(let epoch) = statement.kind,
            epoch.recipients.recipients.contains(device.card.id)
        else { return .noEpoch }
        let maker = state.devices[statement.issuer.card.id].flatMap { state.members[$0.member]?.name }
        return .keyWrong(by: maker)
    }
}
