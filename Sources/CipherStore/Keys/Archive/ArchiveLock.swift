/// Who can open an archive.
public struct ArchiveLock: Sendable {
    enum Kind: Sendable {
        case passphrase(Secret, ScryptCost)
        case recipient(ArchiveRecipient)
        case shared(SharedPassphrase, salt: [UInt8])
    }

    let kind: Kind

    /// Who knows a passphrase.
    public init(passphrase: borrowing Passphrase, cost: ScryptCost = .standard) {
        kind = .passphrase(Secret(passphrase), cost)
    }

    /// Who has the identity of a recipient. Whoever makes the archive needs no secret for it.
    public init(recipient: ArchiveRecipient) { kind = .recipient(recipient) }

    /// Who knows a passphrase that many files share.
    ///
    /// - parameter passphrase: The passphrase that the files share.
    /// - parameter group: What the files have in common, such as the identifier of a database.
    ///   All files of a group have one salt, so that the passphrase is derived once for them.
    public init(_ passphrase: SharedPassphrase, group: [UInt8]) {
        kind = .shared(passphrase, salt: SharedPassphrase.salt(of: group))
    }

    /// Who knows a passphrase that a group has for its own.
    ///
    /// - parameter passphrase: What has it.
    /// - parameter salt: The ``SharedPassphrase/exactSalt(of:)`` of the group.
    package init(_ passphrase: SharedPassphrase, salt: [UInt8]) { kind = .shared(passphrase, salt: salt) }
}

/// What opens an archive.
public struct ArchiveSecret: Sendable {
    enum Kind: Sendable {
        case passphrase(Secret)
        case identity(ArchiveIdentity)
        case shared(SharedPassphrase)
    }

    let kind: Kind

    /// The passphrase.
    public init(_ passphrase: borrowing Passphrase) { kind = .passphrase(Secret(passphrase)) }

    /// The identity of the recipient.
    public init(_ identity: ArchiveIdentity) { kind = .identity(identity) }

    /// The passphrase that many files share.
    public init(_ passphrase: SharedPassphrase) { kind = .shared(passphrase) }
}
