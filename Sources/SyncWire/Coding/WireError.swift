/// Bytes that are not what the format says.
public struct WireError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of failure. New kinds may be added.
    public enum Code: String, Sendable {
        /// The bytes end too early.
        case truncated
        /// A number is out of its range, or something is at the wrong place.
        case malformed
        /// A length is over the limit.
        case tooLarge
        /// A hash does not match.
        case corrupted
        /// A version, a codec, a flag, a tag or a type of frame is not known here.
        case unsupported
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong.
    public let message: String
    /// Whether the bytes say that they are of a later version than this program reads: a newer program reads
    /// them.
    public let isOfNewerVersion: Bool

    /// Makes an error.
    public init(_ code: Code, _ message: String, isOfNewerVersion: Bool = false) {
        self.code = code
        self.message = message
        self.isOfNewerVersion = isOfNewerVersion
    }

    /// The kind and the message.
    public var description: String { "\(code.rawValue) bundle: \(message)" }
}

/// The bounds that a decoder checks before it allocates.
public struct WireLimits: Sendable {
    /// The most bytes of a chunk's body.
    public var chunkByteCountMax = 1 << 20
    /// The most bytes of a row, which may span chunks. SQLite's own limit is 10⁹.
    public var rowByteCountMax = 1_000_000_000
    /// The most bytes of all chunks of a bundle, uncompressed.
    public var plainByteCountMax = Int64.max
    /// The most bytes of the header.
    public var headerByteCountMax = 16 << 20
    /// The most tables in a bundle.
    public var tableCountMax = 10_000
    /// The most columns of a table: SQLite's own limit.
    public var columnCountMax = 32_767
    /// The most columns of all tables together: an empty name takes one byte of the header, and
    /// sixteen of memory.
    public var columnTotalMax = 1 << 20
    /// The most replicas.
    public var replicaCountMax = 100_000
    /// The most bytes of a name.
    public var nameByteCountMax = 64 << 10
    /// The most sections of facts about replicas.
    public var sectionCountMax = 1000
    /// The values by which the rows of one table are chosen.
    public var scopeValueCountMax = 10_000
    /// The most points of a replica's chain.
    public var chainPointCountMax = 1000

    /// Makes the default limits.
    public init() {}
}
