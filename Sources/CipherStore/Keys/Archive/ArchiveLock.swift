/// Who can open an archive.
public struct ArchiveLock: Sendable {
    enum Kind: Sendable {
        case passphrase(SecretBytes, ScryptCost)
        case recipient(ArchiveRecipient)
    }

    let kind: Kind

    /// Who knows a passphrase.
    public init(passphrase: borrowing Passphrase, cost: ScryptCost = .standard) {
        kind = .passphrase(passphrase.bytes, cost)
    }

    /// Who has the identity of a recipient. Whoever makes the archive needs no secret for it.
    public init(recipient: ArchiveRecipient) { kind = .recipient(recipient) }
}

/// What opens an archive.
public struct ArchiveSecret: Sendable {
    enum Kind: Sendable {
        case passphrase(SecretBytes)
        case identity(ArchiveIdentity)
    }

    let kind: Kind

    /// The passphrase.
    public init(_ passphrase: borrowing Passphrase) { kind = .passphrase(passphrase.bytes) }

    /// The identity of the recipient.
    public init(_ identity: ArchiveIdentity) { kind = .identity(identity) }
}
