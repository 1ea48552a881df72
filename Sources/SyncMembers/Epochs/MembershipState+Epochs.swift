import SyncWire

extension MembershipState {
    /// What an epoch's statement says.
    func epoch(_ id: StatementID) -> Epoch? {
        guard case .epoch(let epoch) = statements[id]?.statement.kind else { return nil }
        return epoch
    }

    func seal(of epoch: Epoch) -> EpochSeal {
        EpochSeal(store: store, generation: epoch.generation, commitment: epoch.commitment)
    }

    /// The epochs whose keys whoever has that of an epoch gets, too: those that it brings, those that these bring, and so on.
    ///
    /// - parameter keyring: Whoever makes an epoch may seal other keys than it says. What one of these keys opens is believed
    ///   only where it is the key that is here; nil to believe the statements.
    package func brought(by id: StatementID, checkedBy keyring: EpochKeyring? = nil) -> Set<StatementID> {
        var found: Set<StatementID> = []
        var next = [id]
        while let id = next.popLast() {
            for name in names(broughtBy: id, keyring) where found.insert(name).inserted { next.append(name) }
        }
        return found
    }

    private func names(broughtBy id: StatementID, _ keyring: EpochKeyring?) -> [StatementID] {
        guard let epoch = epoch(id) else { return [] }
        guard let keyring, let key = keyring[id] else { return epoch.earlier }
        guard let opened = try? seal(of: epoch).open(epoch, under: key) else { return [] }
        return epoch.earlier.filter { name in
            keyring[name].map { $0.bytes == opened[name]?.bytes } ?? false
        }
    }

    /// Those of some epochs, all of whose keys are here, that no other one of them brings. An epoch that brings them brings all,
    /// and does not grow with each one before it.
    private func unbrought(_ epochs: [StatementID], _ keyring: EpochKeyring) -> [StatementID] {
        var rest = Set(epochs)
        let order = epochs.sorted { (epoch($1)?.generation ?? 0, $1) < (epoch($0)?.generation ?? 0, $0) }
        for id in order where rest.contains(id) { rest.subtract(brought(by: id, checkedBy: keyring)) }
        return rest.sorted()
    }

    /// Whether a device that has these keys should make a new epoch: one is due, or it has keys from before
    /// the current epoch that this one does not bring. The epoch of a newcomer brings none, and others
    /// should mend that.
    public func isEpochDue(for keyring: EpochKeyring) -> Bool {
        guard !isEpochDue, let current = currentEpoch, let node = evaluation.epochNodes[current] else {
            return true
        }
        let brought = brought(by: current, checkedBy: keyring)
        return evaluation.epochs.contains { other in
            let id = evaluation.id(other)
            return evaluation.counts(other, in: evaluation.pasts[node]) && keyring[id] != nil
                && !brought.contains(id)
        }
    }

    /// Makes a new content key for all who take part, upon all that is known here.
    ///
    /// - parameters:
    ///     - keyring: The keys that the device could open. They are sealed under the new one, so that whoever comes
    ///       later reads what was written before.
    /// - throws: A ``MembershipError`` of code `notAllowed` when the device may not write, or of code `tooLarge`.
    public func nextEpoch(
        by keys: MemberDeviceKeys, keyring: EpochKeyring
    ) throws(MembershipError) -> SignedStatement {
        try nextEpoch(by: keys, keyring: keyring, key: EpochKey())
    }

    func nextEpoch(
        by keys: MemberDeviceKeys, keyring: EpochKeyring, key: EpochKey
    ) throws(MembershipError) -> SignedStatement {
        let past = nextPast(by: keys.card.id)
        guard let recovery = evaluation.recoveryCard(in: past) else {
            throw MembershipError(.notAllowed, "the founding statement is not here")
        }
        let (generation, isOver) = evaluation.generation(in: past).addingReportingOverflow(1)
        guard !isOver else { throw MembershipError(.tooLarge, "there are too many epochs") }
        let seal = EpochSeal(store: store, generation: generation, commitment: key.commitment(in: store))
        var recipients: [Epoch.WrappedKey] = []
        for card in evaluation.activeCards(in: past) {
            recipients.append(try seal.wrap(key, for: card, as: .device))
        }
        let opened = evaluation.epochs.filter { evaluation.counts($0, in: past) }.map { evaluation.id($0) }
            .filter { keyring[$0] != nil }
        let earlier = unbrought(opened, keyring)
        let epoch = Epoch(
            generation: generation, commitment: seal.commitment, recipients: recipients,
            recovery: try seal.wrap(key, for: recovery, as: .recovery), earlier: earlier,
            sealedKeys: try seal.seal(earlier.compactMap { keyring[$0] }, named: earlier, under: key))
        return try statement(.epoch(epoch), by: keys)
    }
}

extension Evaluation {
    /// The public keys of the active devices, in the order of their identifiers.
    fileprivate func activeCards(in past: Past) -> [DeviceCard] {
        activeDevices(in: past).compactMap { device in
            devices[device]?.additions.first.flatMap { card(in: graph.nodes[$0.node].statement.kind) }
        }
    }
}
