/// What a replica says of itself when a synchronization begins.
public struct Greeting: Equatable, Sendable {
    /// The database that it is a replica of.
    public let store: StoreID
    /// The replica.
    public let replica: ReplicaID
    /// What it knows.
    public let vector: VersionVector
    /// The last of its own changes that had a number before this greeting gave
    /// numbers to what was new. A peer that knows more has seen changes that
    /// this file lost: it was restored from an older copy.
    public let ownSequence: Int64
    /// What it says about replicas.
    public let facts: ReplicaFacts

    /// Makes a greeting.
    public init(
        store: StoreID, replica: ReplicaID, vector: VersionVector, ownSequence: Int64,
        facts: ReplicaFacts = ReplicaFacts()
    ) {
        self.store = store
        self.replica = replica
        self.vector = vector
        self.ownSequence = ownSequence
        self.facts = facts
    }

    /// The version of the coding.
    public static let version: UInt64 = 1

    /// The type of the frame that holds a greeting.
    public static let frameType: UInt8 = 16

    /// The first bytes of each greeting.
    private static let magic = Array("CSHI".utf8)

    /// The greeting as a frame.
    public func encode() -> [UInt8] {
        var payload = WireWriter(capacity: 1024)
        payload.raw(Self.magic)
        payload.unsigned(Self.version)
        payload.raw(store.bytes)
        payload.raw(replica.bytes)
        payload.unsigned(UInt64(bitPattern: max(0, ownSequence)))
        vector.encode(to: &payload)
        facts.encode(to: &payload)
        var frame = WireWriter(capacity: payload.count + Frame.prefixByteCount)
        frame.byte(Self.frameType)
        frame.fixed32(UInt32(payload.count))
        frame.raw(payload.bytes)
        return Array(frame.bytes)
    }

    /// Reads a frame that is complete.
    ///
    /// - throws: ``WireError``.
    public init(frame: UnsafeRawBufferPointer, limits: WireLimits = WireLimits()) throws(WireError) {
        var prefix = WireReader(frame)
        let type = try prefix.byte()
        guard type == Self.frameType else { throw WireError(.unsupported, "frame type \(type)") }
        let length = Int(try prefix.fixed32())
        guard length == prefix.remaining else {
            throw WireError(.truncated, "a frame announces \(length) bytes and has \(prefix.remaining)")
        }
        guard length <= limits.headerByteCountMax else {
            throw WireError(.tooLarge, "the greeting has \(length) bytes")
        }
        var reader = WireReader(try prefix.raw(length))
        guard Array(try reader.raw(4)) == Self.magic else {
            throw WireError(.malformed, "this is not a greeting")
        }
        let version = try reader.unsigned()
        guard version == Self.version else {
            throw WireError(
                .unsupported, "a greeting of version \(version); this program reads version \(Self.version)")
        }
        store = try reader.identifier()
        replica = try reader.identifier()
        let sequence = try reader.unsigned()
        guard sequence <= UInt64(Int64.max) else {
            throw WireError(.malformed, "\(sequence) is not the number of a change")
        }
        ownSequence = Int64(sequence)
        vector = try VersionVector(from: &reader, limits: limits)
        facts = try ReplicaFacts(from: &reader, limits: limits)
        guard reader.isAtEnd else { throw WireError(.malformed, "the greeting has trailing bytes") }
    }
}
