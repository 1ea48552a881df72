import SyncWire

extension Evaluation {
    /// To which member a device was added, and by which statements that count, removed or not.
    ///
    /// Of additions to several members that did not know each other, the one with the smallest name counts.
    func home(of device: DeviceID, in past: Past) -> (member: MemberID, grounds: [Int32])? {
        let additions = (devices[device]?.additions ?? []).filter { counts($0.node, in: past) }
        guard let first = additions.min(by: { graph.nodes[$0.node].id < graph.nodes[$1.node].id }) else {
            return nil
        }
        return (first.member, additions.filter { $0.member == first.member }.map { Int32($0.node) })
    }

    /// Whether a device was removed by itself, not with its member.
    func isRemoved(_ device: DeviceID, in past: Past) -> Bool {
        devices[device]?.removed.intersects(past.removals) == true
    }

    /// Whether a device is one, of a member that is one.
    func isActive(_ device: DeviceID, in past: Past) -> Bool {
        guard !isRemoved(device, in: past), let home = home(of: device, in: past) else { return false }
        return has(home.member, .reader, in: past)
    }

    /// Whether a grant gives a role that no removal has taken which did not come before it.
    private func supports(_ grant: RoleGrant, _ need: MemberRole, _ denied: BitRow, _ past: Past) -> Bool {
        grant.role >= need && counts(grant.node, in: past)
            && !denied.intersects(past.removals, outside: pasts[grant.node].removals)
    }

    /// Whether a member has at least a role.
    func has(_ member: MemberID, _ need: MemberRole, in past: Past) -> Bool {
        guard let entry = members[member] else { return false }
        let denied = entry.denied(need)
        return entry.grants.reversed().contains { supports($0, need, denied, past) }
    }

    /// The statements that give a member at least a role.
    func grounds(of member: MemberID, _ need: MemberRole, in past: Past) -> [Int32] {
        guard let entry = members[member] else { return [] }
        let denied = entry.denied(need)
        return entry.grants.filter { supports($0, need, denied, past) }.map { Int32($0.node) }
    }

    /// The role of a member; nil when it is none.
    func role(of member: MemberID, in past: Past) -> MemberRole? {
        MemberRole.allCases.last { has(member, $0, in: past) }
    }

    /// Whether a member was added, removed or not.
    func exists(_ member: MemberID, in past: Past) -> Bool {
        members[member]?.additions.contains { counts($0, in: past) } == true
    }

    /// Whether a device was added, removed or not.
    func existsDevice(_ device: DeviceID, in past: Past) -> Bool {
        devices[device]?.additions.contains { counts($0.node, in: past) } == true
    }

    /// How many devices are active.
    func activeDeviceCount(in past: Past) -> Int {
        devices.keys.reduce(0) { $0 + (isActive($1, in: past) ? 1 : 0) }
    }

    /// How many members are active.
    func activeMemberCount(in past: Past) -> Int {
        members.keys.reduce(0) { $0 + (has($1, .reader, in: past) ? 1 : 0) }
    }

    /// The recovery key that counts.
    func recoveryCard(in past: Past) -> RecoveryCard? {
        if let recovery = past.recovery { return recoveryCards[recovery] }
        guard let node = foundingNode, past.statements.contains(node),
            case .found(let founding) = graph.nodes[node].statement.kind
        else { return nil }
        return founding.recovery
    }

    /// The epoch that a statement is.
    func epoch(_ node: Int) -> Epoch? {
        guard case .epoch(let epoch) = graph.nodes[node].statement.kind else { return nil }
        return epoch
    }

    /// The largest generation of the epochs that count; 0 without one.
    func generation(in past: Past) -> Int64 {
        zip(epochs, generations).reduce(0) { most, epoch in
            epoch.1 > most && counts(epoch.0, in: past) ? epoch.1 : most
        }
    }
}
