import SyncWire

/// What a statement says of a new content key: who can open it, and how to tell that it is the right one.
public struct Epoch: Hashable, Sendable {
    /// A content key, wrapped for one device.
    public struct WrappedKey: Hashable, Sendable {
        static let byteCount = 80

        /// The device, or the recovery key.
        public let recipient: DeviceID
        /// The encapsulated key (32 bytes), the ciphertext (32) and its tag (16).
        public let bytes: [UInt8]
    }

    static let tagByteCount = 16
    static let keyByteCount = 32

    /// One more than the largest of the epochs that count before it; the first is 1.
    public let generation: Int64
    /// A hash that only the content key has.
    public let commitment: [UInt8]
    /// The content key for each active device, in the order of their identifiers.
    public let recipients: WrappedKeys
    /// The content key for the recovery key.
    public let recovery: WrappedKey
    /// Epochs before this one whose keys its key opens, in their order.
    public let earlier: [StatementID]
    /// The keys of these epochs, one after another, sealed under this one's; empty without any.
    public let sealedKeys: [UInt8]

    init(
        generation: Int64, commitment: [UInt8], recipients: some Sequence<WrappedKey>, recovery: WrappedKey,
        earlier: [StatementID], sealedKeys: [UInt8]
    ) {
        self.generation = generation
        self.commitment = commitment
        self.recipients = (recipients as? WrappedKeys) ?? WrappedKeys(recipients)
        self.recovery = recovery
        self.earlier = earlier
        self.sealedKeys = sealedKeys
    }

    /// How many bytes seal the keys of so many epochs.
    static func sealedByteCount(of count: Int) -> Int { count == 0 ? 0 : count * keyByteCount + tagByteCount }

    /// The most earlier epochs: what fits into a statement.
    static let earlierCountMax =
        MembershipLimits.statementByteCountMax / (StatementID.byteCount + keyByteCount)
}
