import SyncMembers
import SyncWire

/// The files of a replica that were not taken in, because of who wrote them.
///
/// What they hold counts as missing: members who know the changes write them again.
public struct RefusedFiles: Equatable, Sendable, CustomStringConvertible {
    /// Why they were not taken in. New reasons may be added.
    public enum Reason: String, Sendable {
        /// No device has signed what the replica says about its files.
        case unsigned
        /// The signature is not by the device that is named.
        case signatureWrong
        /// The device was never added, or the statement that adds it is not here yet.
        case deviceUnknown
        /// The device or its member was removed.
        case removed
        /// The member may not write.
        case roleTooLow
        /// No device has said that it writes the replica, or that is not known here yet.
        case replicaUnknown
        /// Another device writes the replica.
        case otherDevice
        /// The files are sealed with a key that this store does not have.
        case keyMissing
        /// A file is another one than the replica has signed.
        case digestWrong
    }

    /// The replica.
    public let replica: ReplicaID
    /// The member that has signed for it; nil when that is not known.
    public let member: MemberName?
    /// Why they were not taken in.
    public let reason: Reason

    /// Who, and why, in a sentence.
    public var description: String {
        let files = "the files of replica \(replica.shortDescription) are not taken in"
        let whom = member.map { "\($0)" } ?? "somebody"
        return switch reason {
        case .unsigned: "\(files): no member has signed them"
        case .signatureWrong: "\(files): the signature is wrong"
        case .deviceUnknown: "\(files): no such device is known here"
        case .removed: "\(files): \(whom) was removed"
        case .roleTooLow: "\(files): \(whom) may not write"
        case .replicaUnknown: "\(files): \(whom) has not said to write it"
        case .otherDevice: "\(files): \(whom) signs for what another device writes"
        case .keyMissing: "\(files): this store has no key that opens them"
        case .digestWrong:
            "files of replica \(replica.shortDescription) are not those that \(whom) has signed"
        }
    }
}
