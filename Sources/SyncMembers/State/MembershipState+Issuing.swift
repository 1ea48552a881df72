import SyncWire

extension MembershipState {
    /// What came before the next statement of an issuer.
    ///
    /// - parameter kind: What it says; nil for an epoch.
    func nextPast(by issuer: DeviceID, saying kind: StatementKind? = nil) -> Past {
        evaluation.past(after: evaluation.nextParents(of: issuer, saying: kind))
    }

    /// The parents of the next statement of an issuer.
    private func nextParents(by issuer: DeviceID, saying kind: StatementKind) -> [StatementID] {
        evaluation.nextParents(of: issuer, saying: kind).map { evaluation.id($0) }.sorted()
    }

    /// The founding statement of a membership, by its first device.
    public static func found(
        _ store: StoreID, member: MemberID, name: MemberName, keys: MemberDeviceKeys, recovery: RecoveryCard
    ) throws(MembershipError) -> SignedStatement {
        let founding = Founding(member: member, name: name, device: keys.card, recovery: recovery)
        return try SignedStatement(
            Statement(store: store, issuer: .device(keys.card), parents: [], kind: .found(founding)), by: keys
        )
    }

    /// Makes a statement upon all that is known here.
    ///
    /// - throws: A ``MembershipError`` of code `notAllowed` when it would not count.
    public func statement(
        _ kind: StatementKind, by keys: MemberDeviceKeys
    ) throws(MembershipError) -> SignedStatement {
        let statement = try Statement(
            store: store, issuer: .device(keys.card), parents: nextParents(by: keys.card.id, saying: kind),
            kind: kind)
        return try allowed(SignedStatement(statement, by: keys))
    }

    /// Puts a device in as an admin, upon all that is known here.
    ///
    /// - throws: A ``MembershipError`` of code `notAllowed` when it would not count.
    public func recovering(
        _ recovery: Recovery, by key: MembershipRecoveryKey
    ) throws(MembershipError) -> SignedStatement {
        let kind = StatementKind.recover(recovery)
        let statement = try Statement(
            store: store, issuer: .recovery(key.card), parents: nextParents(by: key.card.id, saying: kind),
            kind: kind)
        return try allowed(SignedStatement(statement, by: key))
    }

    private func allowed(_ signed: SignedStatement) throws(MembershipError) -> SignedStatement {
        let past = nextPast(by: signed.statement.issuer.card.id, saying: signed.statement.kind)
        if let refusal = evaluation.judge(signed, in: past).refusal {
            throw MembershipError(.notAllowed, "the statement would not count: \(refusal)")
        }
        return signed
    }

    /// Whether another member may be invited: then there is room for removals, recoveries and their epochs still.
    package var hasRoomForMember: Bool {
        Self.hasRoomForMember(
            beside: statements.count, byteCount: statements.values.reduce(0) { $0 + $1.bytes.count })
    }

    static func hasRoomForMember(beside count: Int, byteCount: Int) -> Bool {
        count < MembershipLimits.statementCountMax - MembershipLimits.reservedStatementCount
            && byteCount < MembershipLimits.totalByteCountMax - MembershipLimits.reservedByteCount
    }

    /// Whether something may be said that takes nothing from anybody: then there is room for removals, recoveries and their epochs
    /// still. Half of what invitations leave is for those who have one, and for the replicas of members.
    package var hasRoomBesideRemovals: Bool {
        Self.hasRoomBesideRemovals(
            beside: statements.count, byteCount: statements.values.reduce(0) { $0 + $1.bytes.count })
    }

    static func hasRoomBesideRemovals(beside count: Int, byteCount: Int) -> Bool {
        count < MembershipLimits.statementCountMax - MembershipLimits.reservedStatementCount / 2
            && byteCount < MembershipLimits.totalByteCountMax - MembershipLimits.reservedByteCount / 2
    }

    /// Whether a statement would be a removal: it takes somebody's role, or some of it, or a device.
    package func isRemoval(_ kind: StatementKind) -> Bool {
        switch kind {
        case .removeMember, .removeDevice: true
        case .setRole(let change): members[change.member]?.role.map { change.role < $0 } ?? false
        default: false
        }
    }

    /// The last changes that a removal of a device names, so that what is known of its replicas counts and
    /// nothing later.
    public func cutOffs(ofDevice device: DeviceID, knowing vector: VersionVector) -> [ReplicaID: Int64] {
        cutOffs(knowing: vector) { $0.device == device }
    }

    /// The same for all devices of a member.
    public func cutOffs(ofMember member: MemberID, knowing vector: VersionVector) -> [ReplicaID: Int64] {
        cutOffs(knowing: vector) { $0.member == member }
    }

    private func cutOffs(
        knowing vector: VersionVector, where isMeant: (MemberReplica) -> Bool
    ) -> [ReplicaID: Int64] {
        var cutOffs: [ReplicaID: Int64] = [:]
        for (replica, standing) in replicas where isMeant(standing) {
            let last = min(vector[replica], standing.lastSequence)
            if last > 0 { cutOffs[replica] = last }
        }
        return cutOffs
    }
}
