import SyncMembers
import SyncWire

/// The rule as `Schemas/membership/v1.md` says it, over sets, without a thought for time.
final class PlainRule {
    typealias Names = Set<StatementID>

    let statements: [StatementID: Statement]
    private let founding: StatementID
    private var pasts: [StatementID: Names] = [:]
    private var allowances: [StatementID: Bool] = [:]
    private var takings: [StatementID: Names] = [:]
    private var counted: [Names: [StatementID: Bool]] = [:]

    init(_ all: [SignedStatement], founding: StatementID) {
        var statements: [StatementID: Statement] = [:]
        for signed in all { statements[signed.id] = signed.statement }
        self.statements = statements
        self.founding = founding
    }

    var whole: Names { Set(statements.keys) }

    func past(_ id: StatementID) -> Names {
        if let past = pasts[id] { return past }
        var past: Names = []
        for parent in statements[id]?.parents ?? [] { past.formUnion(self.past(parent).union([parent])) }
        pasts[id] = past
        return past
    }

    /// Whether a statement counts in a set that holds all that came before each of its statements.
    func counts(_ id: StatementID, _ set: Names) -> Bool {
        guard set.contains(id), isAllowed(id) else { return false }
        if let known = counted[set]?[id] { return known }
        let result =
            isRemoval(id) || (isRecoveryThatCounts(id, set) && isUntouched(id, set) && isGrounded(id, set))
        counted[set, default: [:]][id] = result
        return result
    }

    private func isRecoveryThatCounts(_ id: StatementID, _ set: Names) -> Bool {
        guard case .recover = statements[id]?.kind else { return true }
        var next = lastRecovery(set)
        while let recovery = next {
            if recovery == id { return true }
            next = lastRecovery(past(recovery))
        }
        return false
    }

    private func depth(_ recovery: StatementID) -> Int {
        (lastRecovery(past(recovery)).map { depth($0) } ?? 0) + 1
    }

    func lastRecovery(_ set: Names) -> StatementID? {
        set.filter { id in
            if case .recover = statements[id]?.kind { return isAllowed(id) }
            return false
        }.max { (depth($0), $0) < (depth($1), $1) }
    }

    /// No removal that counts takes the issuer's authority without knowing the statement.
    private func isUntouched(_ id: StatementID, _ set: Names) -> Bool {
        guard case .device(let card) = statements[id]?.issuer, id != founding,
            let device = homeAddition(card.id, past(id)),
            let member = memberAddition(device.member, need(id), past(id))
        else { return true }
        return !set.contains { removal in
            guard isRemoval(removal), isAllowed(removal), !past(id).contains(removal),
                !past(removal).contains(id)
            else { return false }
            switch statements[removal]?.kind {
            case .removeDevice: return taken(removal).contains(device.id)
            case .removeMember: return taken(removal).contains(member)
            case .setRole(let change): return change.role < need(id) && taken(removal).contains(member)
            default: return false
            }
        }
    }

    /// The additions that a removal takes.
    private func taken(_ removal: StatementID) -> Names {
        if let known = takings[removal] { return known }
        let set = past(removal)
        var taken: Names = []
        switch statements[removal]?.kind {
        case .removeDevice(let content):
            guard let issuer = statements[removal]?.issuer.card.id, let own = home(issuer, set) else { break }
            let isAdmin = role(own, set) == .admin
            taken = Set(additions(content.device, set).filter { isAdmin || $0.member == own }.map(\.id))
        case .removeMember(let content): taken = memberAdditions(content.member, set)
        case .setRole(let change): taken = memberAdditions(change.member, set)
        default: break
        }
        takings[removal] = taken
        return taken
    }

    private func memberAdditions(_ member: MemberID, _ set: Names) -> Names {
        set.filter { id in
            guard let added = added(id), added.role != nil, added.member == member else { return false }
            return counts(id, set)
        }
    }

    private func isGrounded(_ id: StatementID, _ set: Names) -> Bool {
        guard case .device(let card) = statements[id]?.issuer, id != founding,
            let device = homeAddition(card.id, past(id)),
            let member = memberAddition(device.member, need(id), past(id))
        else { return true }
        guard counts(device.id, set), counts(member, set) else { return false }
        return grants(device.member, need(id), past(id)).contains {
            addition(ofGrant: $0) == member && counts($0, set)
        }
    }

    private func added(_ id: StatementID) -> (member: MemberID, device: DeviceID, role: MemberRole?)? {
        switch statements[id]?.kind {
        case .found(let new): (new.member, new.device.id, .admin)
        case .addMember(let new): (new.member, new.device.id, new.role)
        case .recover(let new): (new.member, new.device.id, .admin)
        case .addDevice(let new): (new.member, new.device.id, nil)
        default: nil
        }
    }

    private func additions(_ device: DeviceID, _ set: Names) -> [(id: StatementID, member: MemberID)] {
        set.sorted().compactMap { id in
            guard let added = added(id), added.device == device, counts(id, set) else { return nil }
            return (id, added.member)
        }
    }

    func home(_ device: DeviceID, _ set: Names) -> MemberID? { homeAddition(device, set)?.member }

    /// Of several additions of a device, one upon which it has said something goes first, then one that adds the member,
    /// then the smallest name.
    private func homeAddition(_ device: DeviceID, _ set: Names) -> (id: StatementID, member: MemberID)? {
        let candidates = additions(device, set)
        guard candidates.count > 1 else { return candidates.first }
        var acknowledged: Names = []
        for id in set {
            guard case .device(let card) = statements[id]?.issuer, card.id == device, isAllowed(id),
                let home = homeAddition(device, past(id))
            else { continue }
            acknowledged.insert(home.id)
        }
        let spoken = candidates.filter { acknowledged.contains($0.id) }
        let first = spoken.isEmpty ? candidates : spoken
        return first.first { added($0.id)?.role != nil } ?? first.first
    }

    /// The addition of a member whose role a grant is.
    private func addition(ofGrant id: StatementID) -> StatementID? {
        guard case .setRole(let change) = statements[id]?.kind else { return id }
        return memberAddition(change.member, .reader, past(id))
    }

    /// Of the additions by which a member has a role, that with the smallest name.
    private func memberAddition(_ member: MemberID, _ need: MemberRole, _ set: Names) -> StatementID? {
        grants(member, need, set).compactMap { addition(ofGrant: $0) }.min()
    }

    /// The statements that give a member at least a role, which no removal has taken that they did not know.
    private func grants(_ member: MemberID, _ need: MemberRole, _ set: Names) -> [StatementID] {
        set.filter { id in
            var role: MemberRole?
            if let added = added(id), added.member == member { role = added.role }
            if case .setRole(let change) = statements[id]?.kind, change.member == member, !isRemoval(id) {
                role = change.role
            }
            guard let role, role >= need, counts(id, set), let addition = addition(ofGrant: id),
                counts(addition, set)
            else { return false }
            return !set.contains { limit in
                guard isRemoval(limit), counts(limit, set), !past(id).contains(limit) else { return false }
                switch statements[limit]?.kind {
                case .removeMember: return taken(limit).contains(addition)
                case .setRole(let change): return change.role < need && taken(limit).contains(addition)
                default: return false
                }
            }
        }
    }

    func role(_ member: MemberID, _ set: Names) -> MemberRole? {
        MemberRole.allCases.last { !grants(member, $0, set).isEmpty }
    }

    func isActive(_ device: DeviceID, _ set: Names) -> Bool {
        guard let home = homeAddition(device, set) else { return false }
        let isRemoved = set.contains { id in
            guard case .removeDevice = statements[id]?.kind, counts(id, set) else { return false }
            return taken(id).contains(home.id)
        }
        return !isRemoved && role(home.member, set) != nil
    }

    private func isRemoval(_ id: StatementID) -> Bool {
        switch statements[id]?.kind {
        case .removeMember, .removeDevice: true
        case .setRole(let change): role(change.member, past(id)).map { change.role < $0 } ?? false
        default: false
        }
    }

    private func need(_ id: StatementID) -> MemberRole {
        guard let statement = statements[id] else { return .admin }
        let own = home(statement.issuer.card.id, past(id))
        switch statement.kind {
        case .addDevice(let new): return new.member == own ? .reader : .admin
        case .removeDevice(let removal): return home(removal.device, past(id)) == own ? .reader : .admin
        case .bindReplica: return .reader
        case .epoch: return .writer
        default: return .admin
        }
    }

    func isAllowed(_ id: StatementID) -> Bool {
        if let known = allowances[id] { return known }
        let result = allows(id)
        allowances[id] = result
        return result
    }

    private func recoveryCard(_ set: Names) -> RecoveryCard? {
        if let recovery = lastRecovery(set), case .recover(let content) = statements[recovery]?.kind {
            return content.successor ?? recoveryCard(past(recovery))
        }
        guard set.contains(founding), case .found(let content) = statements[founding]?.kind else {
            return nil
        }
        return content.recovery
    }

    private func isNew(_ member: MemberID?, _ device: DeviceID, _ set: Names) -> Bool {
        !set.contains { id in
            guard let added = added(id), counts(id, set) else { return false }
            return added.device == device || (added.role != nil && added.member == member)
        }
    }

    private func allows(_ id: StatementID) -> Bool {
        guard let statement = statements[id] else { return false }
        let set = past(id)
        if case .found = statement.kind { return id == founding }
        if case .recover(let content) = statement.kind {
            return recoveryCard(set) == statement.issuer.card && isNew(content.member, content.device.id, set)
        }
        guard isActive(statement.issuer.card.id, set), let own = home(statement.issuer.card.id, set),
            let role = role(own, set), role >= need(id)
        else { return false }
        switch statement.kind {
        case .addMember(let new): return isNew(new.member, new.device.id, set)
        case .setRole(let change):
            let before = self.role(change.member, set)
            return before != nil && before != change.role
        case .removeMember(let removal):
            return set.contains {
                added($0)?.member == removal.member && added($0)?.role != nil && counts($0, set)
            }
        case .addDevice(let new): return self.role(new.member, set) != nil && isNew(nil, new.device.id, set)
        case .removeDevice(let removal): return home(removal.device, set) != nil
        case .bindReplica(let replica):
            return !set.contains { statements[$0]?.kind == .bindReplica(replica) && counts($0, set) }
        default: return false
        }
    }
}
