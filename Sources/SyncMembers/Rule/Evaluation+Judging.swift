import SyncWire

extension Evaluation {
    /// What a statement asks of its issuer, and what is wrong with what it says.
    private struct Demand {
        var need: MemberRole
        var isRemoval = false
        var refusal: UncountedReason?
    }

    /// Judges a statement by what came before it.
    func judge(_ signed: SignedStatement, in past: Past) -> Verdict {
        var verdict = Verdict()
        switch (signed.statement.kind, signed.statement.issuer) {
        case (.found, _): verdict.refusal = signed.id == founding ? nil : .foundedElsewhere
        case (.recover(let recovery), let issuer):
            verdict.refusal = judge(recovery, by: issuer.card, in: past)
        case (let kind, let issuer): judge(kind, by: issuer.card, in: past, &verdict)
        }
        return verdict
    }

    private func judge(_ recovery: Recovery, by card: RecoveryCard, in past: Past) -> UncountedReason? {
        guard recoveryCard(in: past) == card else { return .recoveryKeyWrong }
        guard !exists(recovery.member, in: past), !existsDevice(recovery.device.id, in: past) else {
            return .alreadyThere
        }
        return nil
    }

    private func judge(_ kind: StatementKind, by card: DeviceCard, in past: Past, _ verdict: inout Verdict) {
        guard let home = home(of: card.id, in: past), !isRemoved(home, in: past),
            has(home.member, .reader, in: past)
        else {
            verdict.refusal = .issuerUnknown
            return
        }
        let demand = demand(of: kind, by: home.member, in: past)
        verdict.need = demand.need
        verdict.isRemoval = demand.isRemoval
        verdict.member = home.member
        verdict.deviceGround = home.node
        guard let grounds = grounds(of: home.member, demand.need, in: past) else {
            verdict.refusal = .roleTooLow(demand.need)
            return
        }
        verdict.memberGround = members[home.member]?.additions[grounds.addition].node
        verdict.roleGrounds = grounds.grants
        verdict.refusal = demand.refusal
    }

    private func demand(of kind: StatementKind, by member: MemberID, in past: Past) -> Demand {
        switch kind {
        case .addMember(let new):
            return Demand(need: .admin, refusal: refusal(of: new.member, new.device.id, in: past))
        case .setRole(let change): return demand(of: change, in: past)
        case .removeMember(let removal):
            let isThere = exists(removal.member, in: past)
            return Demand(need: .admin, isRemoval: true, refusal: isThere ? nil : .targetUnknown)
        case .addDevice(let new):
            return Demand(need: need(for: new.member, by: member), refusal: refusal(of: new, in: past))
        case .removeDevice(let removal):
            guard let owner = home(of: removal.device, in: past)?.member else {
                return Demand(need: .admin, refusal: .targetUnknown)
            }
            return Demand(need: need(for: owner, by: member), isRemoval: true)
        case .bindReplica(let replica):
            let isClaimed = claims[replica]?.contains { counts($0, in: past) } == true
            return Demand(need: .reader, refusal: isClaimed ? .alreadyThere : nil)
        case .epoch(let epoch):
            return Demand(need: .writer, refusal: isNext(epoch, in: past) ? nil : .epochWrong)
        case .found, .recover: return Demand(need: .admin, refusal: .issuerUnknown)
        }
    }

    /// A member manages its own devices. Admins manage all.
    private func need(for owner: MemberID, by member: MemberID) -> MemberRole {
        owner == member ? .reader : .admin
    }

    private func demand(of change: RoleChange, in past: Past) -> Demand {
        guard let role = role(of: change.member, in: past) else {
            return Demand(need: .admin, refusal: .targetUnknown)
        }
        return Demand(
            need: .admin, isRemoval: change.role < role, refusal: change.role == role ? .alreadyThere : nil)
    }

    private func refusal(of member: MemberID, _ device: DeviceID, in past: Past) -> UncountedReason? {
        if exists(member, in: past) || existsDevice(device, in: past) { return .alreadyThere }
        if members.count >= MembershipLimits.memberCountMax,
            activeMemberCount(in: past) >= MembershipLimits.memberCountMax
        {
            return .full
        }
        return hasRoomForDevice(past) ? nil : .full
    }

    private func refusal(of new: NewDevice, in past: Past) -> UncountedReason? {
        guard has(new.member, .reader, in: past) else { return .targetUnknown }
        guard !existsDevice(new.device.id, in: past) else { return .alreadyThere }
        return hasRoomForDevice(past) ? nil : .full
    }

    private func hasRoomForDevice(_ past: Past) -> Bool {
        devices.count < MembershipLimits.deviceCountMax
            || activeDeviceCount(in: past) < MembershipLimits.deviceCountMax
    }

    /// Whether an epoch is the next one, for exactly those who take part.
    private func isNext(_ next: Epoch, in past: Past) -> Bool {
        guard next.generation == generation(in: past) + 1,
            next.recovery.recipient == recoveryCard(in: past)?.id,
            areActive(next.recipients, in: past)
        else { return false }
        return next.earlier.allSatisfy { name in epochNodes[name].map { counts($0, in: past) } == true }
    }
}
