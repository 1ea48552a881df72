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

    /// Whether a device that has these keys should make a new epoch: one is due, or it has keys from before
    /// the current epoch that this one does not bring. The epoch of a newcomer brings none, and others
    /// should mend that.
    public func isEpochDue(for keyring: EpochKeyring) -> Bool {
        guard !isEpochDue, let current = currentEpoch, let epoch = epoch(current),
            let node = evaluation.epochNodes[current]
        else { return true }
        let brought = Set(epoch.earlier)
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
        let past = nextPast
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
        let earlier = evaluation.epochs.filter { evaluation.counts($0, in: past) }.map { evaluation.id($0) }
            .filter { keyring[$0] != nil }.sorted()
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
        devices.keys.filter { isActive($0, in: past) }.sorted().compactMap { device in
            devices[device]?.additions.first.flatMap { card(in: graph.nodes[$0.node].statement.kind) }
        }
    }
}
