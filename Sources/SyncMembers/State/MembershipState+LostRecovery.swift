import SyncWire

extension MembershipState {
    /// Whether a device does not take part because another use of the recovery key counts in the place of the one by which it,
    /// or whoever let it in, became a member.
    ///
    /// - parameter device: The device.
    package func isLostToOtherRecovery(_ device: DeviceID) -> Bool {
        guard devices[device] == nil else { return false }
        return uncounted.keys.contains { name in
            guard let kind = statements[name]?.statement.kind else { return false }
            return evaluation.card(in: kind)?.id == device && restsUponLostRecovery(name)
        }
    }

    /// What a statement has its authority from came before it, so this ends.
    private func restsUponLostRecovery(_ name: StatementID) -> Bool {
        var next = name
        while let reason = uncounted[next] {
            switch reason {
            case .otherRecovery: return true
            case .authorityLost(let ground): next = ground
            default: return false
            }
        }
        return false
    }
}
