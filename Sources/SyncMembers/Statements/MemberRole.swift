import SyncWire

/// The identity of a member: sixteen random bytes.
public typealias MemberID = Identifier128

/// What a member may do. A higher role may do all that a lower one may.
public enum MemberRole: UInt8, Sendable, Comparable, CaseIterable, CustomStringConvertible {
    /// Reads, and manages its own devices.
    case reader = 1
    /// Writes, too, and makes new content keys.
    case writer = 2
    /// Adds and removes members, too.
    case admin = 3

    /// Compares what two roles may do.
    public static func < (left: MemberRole, right: MemberRole) -> Bool { left.rawValue < right.rawValue }

    /// The role in a word.
    public var description: String {
        switch self {
        case .reader: "reader"
        case .writer: "writer"
        case .admin: "admin"
        }
    }
}
