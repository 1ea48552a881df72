import SyncWire

/// A statement about who takes part in a database, by one of those who do.
public struct Statement: Hashable, Sendable {
    /// Who says it.
    public enum Issuer: Hashable, Sendable {
        /// A device of a member.
        case device(DeviceCard)
        /// Whoever has the recovery key.
        case recovery(RecoveryCard)

        /// The public keys.
        public var card: DeviceCard {
            switch self {
            case .device(let card), .recovery(let card): card
            }
        }
    }

    /// The database.
    public let store: StoreID
    /// Who says it.
    public let issuer: Issuer
    /// The last statements that the issuer knew, in ascending order. What came before them is known, too.
    public let parents: [StatementID]
    /// What is said.
    public let kind: StatementKind

    /// Makes a statement.
    ///
    /// - throws: A ``MembershipError`` of code `malformed`, `tooLarge` or `keyInvalid`: no program would read it.
    public init(
        store: StoreID, issuer: Issuer, parents: [StatementID], kind: StatementKind
    ) throws(MembershipError) {
        self.store = store
        self.issuer = issuer
        self.parents = parents.sorted()
        self.kind = kind
        try check()
    }

    /// Takes a statement whose parents are in the order in which they were read.
    init(
        store: StoreID, issuer: Issuer, readParents: [StatementID], kind: StatementKind
    ) throws(MembershipError) {
        self.store = store
        self.issuer = issuer
        parents = readParents
        self.kind = kind
        try check()
    }

    private func check() throws(MembershipError) {
        guard parents.count <= MembershipLimits.parentCountMax else {
            throw MembershipError(
                .tooLarge, "a statement has at most \(MembershipLimits.parentCountMax) parents")
        }
        guard zip(parents, parents.dropFirst()).allSatisfy({ $0 < $1 }) else {
            throw MembershipError(.malformed, "the parents are not in ascending order")
        }
        if case .found(let founding) = kind {
            guard parents.isEmpty else {
                throw MembershipError(.malformed, "the founding statement has parents")
            }
            guard issuer == .device(founding.device) else {
                throw MembershipError(.malformed, "the founding statement is by another device")
            }
        } else if parents.isEmpty {
            throw MembershipError(.malformed, "a statement has no parents")
        }
        switch (kind, issuer) {
        case (.recover, .device), (.addMember, .recovery), (.setRole, .recovery), (.removeMember, .recovery),
            (.addDevice, .recovery), (.removeDevice, .recovery), (.bindReplica, .recovery),
            (.epoch, .recovery):
            throw MembershipError(.malformed, "a recovery, and nothing else, is by the recovery key")
        default: break
        }
        try kind.check()
    }
}

extension StatementKind {
    /// Checks what no state is needed for.
    fileprivate func check() throws(MembershipError) {
        switch self {
        case .found(let founding):
            try founding.device.checkAgreement()
            try founding.recovery.checkAgreement()
        case .addMember(let new): try new.device.checkAgreement()
        case .setRole(let change):
            guard change.role < .writer || change.cutOffs.isEmpty else {
                throw MembershipError(.malformed, "who may write has no last change that counts")
            }
            try Self.check(change.cutOffs)
        case .removeMember(let removal): try Self.check(removal.cutOffs)
        case .addDevice(let new): try new.device.checkAgreement()
        case .removeDevice(let removal): try Self.check(removal.cutOffs)
        case .bindReplica: break
        case .epoch(let epoch): try epoch.check()
        case .recover(let recovery):
            try recovery.device.checkAgreement()
            try recovery.successor?.checkAgreement()
        }
    }

    private static func check(_ cutOffs: [ReplicaID: Int64]) throws(MembershipError) {
        guard cutOffs.count <= MembershipLimits.cutOffCountMax else {
            throw MembershipError(
                .tooLarge, "a removal names at most \(MembershipLimits.cutOffCountMax) replicas")
        }
        guard cutOffs.values.allSatisfy({ $0 > 0 }) else {
            throw MembershipError(.malformed, "changes are numbered from 1")
        }
    }
}

extension Epoch {
    /// Checks what no state is needed for.
    fileprivate func check() throws(MembershipError) {
        guard generation > 0 else { throw MembershipError(.malformed, "epochs are numbered from 1") }
        guard recipients.count <= MembershipLimits.recipientCountMax, earlier.count <= Self.earlierCountMax
        else {
            throw MembershipError(.tooLarge, "an epoch has too many recipients or keys")
        }
        guard commitment.count == Self.keyByteCount,
            recipients.areWhole, recovery.bytes.count == WrappedKey.byteCount,
            sealedKeys.count == Self.sealedByteCount(of: earlier.count)
        else { throw MembershipError(.malformed, "a wrapped key has another length") }
        guard recipients.areAscending,
            zip(earlier, earlier.dropFirst()).allSatisfy({ $0 < $1 })
        else {
            throw MembershipError(.malformed, "the recipients or keys of an epoch are not in ascending order")
        }
    }
}
