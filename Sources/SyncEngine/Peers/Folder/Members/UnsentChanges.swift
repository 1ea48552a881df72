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
        case .someTables:
            """
            \(what): this replica has changes of other replicas in some tables only; it writes once their other changes have \
            come, or synchronize all tables with a store
            """
        }
    }
}
