import SyncWire

/// Why a statement does not count.
public enum UncountedReason: Hashable, Sendable, CustomStringConvertible {
    /// Another statement founded this membership.
    case foundedElsewhere
    /// The issuer was no device of a member where it said this.
    case issuerUnknown
    /// The issuer's member has not the role that it takes.
    case roleTooLow(MemberRole)
    /// There is no such member or device.
    case targetUnknown
    /// The member or device is or was one before, the replica has a device, or the role is the same.
    case alreadyThere
    /// There are as many members or devices as there may be.
    case full
    /// The epoch is not the next one, is not wrapped for exactly those who read, or names epochs that are
    /// none.
    case epochWrong
    /// The recovery key is not the one that counts.
    case recoveryKeyWrong
    /// The issuer was removed, or its role lowered, by a statement that did not know this one.
    case issuerRemoved(by: StatementID)
    /// What made the issuer a device, or gave it its role, does not count.
    case authorityLost(through: StatementID)
    /// Another recovery came later, or at the same time and counts before this one.
    case otherRecovery(StatementID)

    /// The reason in words.
    public var description: String {
        switch self {
        case .foundedElsewhere: "it founds another membership"
        case .issuerUnknown: "its issuer was no active device"
        case .roleTooLow(let role): "its issuer was no \(role)"
        case .targetUnknown: "there was no such member or device"
        case .alreadyThere: "it says nothing new, or uses an identity that was used"
        case .full: "there are too many members or devices"
        case .epochWrong: "it is not the next epoch for those who take part"
        case .recoveryKeyWrong: "it is not by the recovery key that counts"
        case .issuerRemoved(let removal): "its issuer was removed meanwhile (\(removal.shortDescription))"
        case .authorityLost(let ground):
            "its issuer had its role from a statement that does not count (\(ground.shortDescription))"
        case .otherRecovery(let other): "another recovery counts (\(other.shortDescription))"
        }
    }
}
