import SyncWire

extension Evaluation {
    /// To which member a device was added, and by which statement that counts, removed or not.
    ///
    /// Of additions that did not know each other, one upon which the device itself has said something goes before
    /// one upon which it has not: whoever reads the statements can name the card of any device, but only who has
    /// its key speaks as it. Then one that adds the member, too, goes before one that does not: invitations do, and any
    /// member can say the other. Of several such, the one with the smallest name counts.
    func home(of device: DeviceID, in past: Past) -> DeviceAddition? {
        devices.number(of: device).flatMap { home(ofNumber: $0, in: past) }
    }

    private func home(ofNumber number: Int, in past: Past) -> DeviceAddition? {
        let additions = devices.entries[number].additions
        if additions.count == 1 { return counts(additions[0].node, in: past) ? additions[0] : nil }
        return additions.filter { counts($0.node, in: past) }.min { left, right in
            let isLeft = left.acknowledged.intersects(past.statements)
            let isRight = right.acknowledged.intersects(past.statements)
            if isLeft != isRight { return isLeft }
            if left.addsMember != right.addsMember { return left.addsMember }
            return graph.nodes[left.node].id < graph.nodes[right.node].id
        }
    }

    /// Whether a device was removed by itself, not with its member.
    func isRemoved(_ home: DeviceAddition, in past: Past) -> Bool {
        home.removed.intersects(past.removals)
    }

    /// Whether a device is one, of a member that is one.
    func isActive(_ device: DeviceID, in past: Past) -> Bool {
        devices.number(of: device).map { isActive(number: $0, in: past) } ?? false
    }

    private func isActive(number: Int, in past: Past) -> Bool {
        guard let home = home(ofNumber: number, in: past), !isRemoved(home, in: past) else { return false }
        return has(number: home.memberNumber, .reader, in: past)
    }

    /// Whether some devices are all that are active.
    ///
    /// - parameter recipients: Those for whom a key is wrapped, in ascending order.
    func areActive(_ recipients: WrappedKeys, in past: Past) -> Bool {
        var position = recipients.startIndex
        for number in devices.order where isActive(number: number, in: past) {
            guard position < recipients.endIndex,
                recipients.recipient(at: position) == devices.keys[number]
            else { return false }
            position += 1
        }
        return position == recipients.endIndex
    }

    /// The active devices, in the order of their identifiers.
    func activeDevices(in past: Past) -> [DeviceID] {
        devices.order.filter { isActive(number: $0, in: past) }.map { devices.keys[$0] }
    }

    /// Whether a grant gives a role to a member that one is, and no removal has taken it which did not come before.
    private func supports(
        _ grant: RoleGrant, of additions: [MemberAddition], _ need: MemberRole, _ past: Past
    ) -> Bool {
        guard grant.role >= need, counts(grant.node, in: past) else { return false }
        let addition = additions[grant.addition]
        return counts(addition.node, in: past)
            && !addition.denied(need).intersects(past.removals, outside: pasts[grant.node].removals)
    }

    /// Whether a member has at least a role.
    func has(_ member: MemberID, _ need: MemberRole, in past: Past) -> Bool {
        members.number(of: member).map { has(number: $0, need, in: past) } ?? false
    }

    private func has(number: Int, _ need: MemberRole, in past: Past) -> Bool {
        let (grants, additions) = (members.entries[number].grants, members.entries[number].additions)
        return grants.reversed().contains { supports($0, of: additions, need, past) }
    }

    /// The statements that give a member at least a role, and the place of the addition whose role it is.
    ///
    /// Of several additions, they are those of the one with the smallest name.
    func grounds(
        of member: MemberID, _ need: MemberRole, in past: Past
    ) -> (addition: Int, grants: [Int32])? {
        guard let entry = members[member] else { return nil }
        let grants = entry.grants.filter { supports($0, of: entry.additions, need, past) }
        guard let first = grants.first else { return nil }
        if entry.additions.count == 1 { return (0, grants.map { Int32($0.node) }) }
        func name(_ grant: RoleGrant) -> StatementID { graph.nodes[entry.additions[grant.addition].node].id }
        let addition = grants.reduce(first) { name($1) < name($0) ? $1 : $0 }.addition
        return (addition, grants.filter { $0.addition == addition }.map { Int32($0.node) })
    }

    /// The role of a member; nil when it is none.
    func role(of member: MemberID, in past: Past) -> MemberRole? {
        MemberRole.allCases.last { has(member, $0, in: past) }
    }

    /// Whether a member was added, removed or not.
    func exists(_ member: MemberID, in past: Past) -> Bool {
        members[member]?.additions.contains { counts($0.node, in: past) } == true
    }

    /// Whether a device was added, removed or not.
    func existsDevice(_ device: DeviceID, in past: Past) -> Bool {
        devices[device]?.additions.contains { counts($0.node, in: past) } == true
    }

    /// How many devices are active.
    func activeDeviceCount(in past: Past) -> Int {
        devices.order.reduce(0) { $0 + (isActive(number: $1, in: past) ? 1 : 0) }
    }

    /// How many members are active.
    func activeMemberCount(in past: Past) -> Int {
        members.order.reduce(0) { $0 + (has(number: $1, .reader, in: past) ? 1 : 0) }
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
