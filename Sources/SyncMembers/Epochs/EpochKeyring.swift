import SyncWire

/// The content keys that a device, or the holder of the recovery key, can open.
///
/// A key is taken only if it is the one that its epoch's statement promises, so everybody who opens an
/// epoch has the same.
public struct EpochKeyring: Sendable, CustomStringConvertible {
    private var keys: [StatementID: EpochKey] = [:]
    private var kept: Set<StatementID> = []

    /// The epochs that count and that can't be opened, and why: they are from before the device was added
    /// and no later epoch has brought their keys, or their issuer has wrapped something else.
    ///
    /// When the current epoch is among them, the device should make a new one.
    public private(set) var closed: [StatementID: MembershipError] = [:]

    /// Makes a ring without keys.
    public init() {}

    /// The names of the epochs whose keys are here.
    public var opened: Set<StatementID> { Set(keys.keys) }

    /// The key of an epoch, if it was opened.
    public subscript(_ epoch: StatementID) -> EpochKey? { keys[epoch] }

    /// The epochs whose keys are here and are not those that their statements promise. Those that were opened are, so somebody
    /// has changed what was kept.
    package func falsified(in state: MembershipState) -> [StatementID] {
        opened.sorted().filter { id in
            guard let epoch = state.epoch(id), let key = keys[id] else { return false }
            return key.commitment(in: state.store) != epoch.commitment
        }
    }

    /// Takes a key that was opened before, and kept.
    package mutating func take(_ key: EpochKey, of epoch: StatementID) {
        keys[epoch] = key
        kept.insert(epoch)
    }

    /// The epochs whose keys were opened since those that were kept were taken.
    package var unkept: Set<StatementID> { opened.subtracting(kept) }

    /// Opens what a device can. What was opened before is kept.
    public mutating func open(_ state: MembershipState, with keys: MemberDeviceKeys) {
        open(state, keys, as: .device)
    }

    /// Opens what the recovery key can. What was opened before is kept.
    public mutating func open(_ state: MembershipState, with key: MembershipRecoveryKey) {
        open(state, key.keys, as: .recovery)
    }

    private mutating func open(
        _ state: MembershipState, _ owner: MemberDeviceKeys, as recipient: EpochSeal.Recipient
    ) {
        // An epoch brings the keys of those before it, so most are opened without asking for them.
        for standing in state.epochs.reversed() {
            guard let epoch = state.epoch(standing.id) else { continue }
            let seal = state.seal(of: epoch)
            if keys[standing.id] == nil {
                do { keys[standing.id] = try Self.key(of: epoch, seal, owner, recipient) } catch {
                    closed[standing.id] = error
                    continue
                }
            }
            takeEarlier(epoch, seal, standing.id, state)
        }
        closed = closed.filter { keys[$0.key] == nil }
        let counting = Set(state.epochs.lazy.filter(\.counts).map(\.id))
        closed = closed.filter { counting.contains($0.key) }
    }

    private static func key(
        of epoch: Epoch, _ seal: EpochSeal, _ owner: MemberDeviceKeys, _ recipient: EpochSeal.Recipient
    ) throws(MembershipError) -> EpochKey {
        let wrapped: Epoch.WrappedKey? =
            switch recipient {
            case .device: epoch.recipients.key(for: owner.card.id)
            case .recovery: epoch.recovery.recipient == owner.card.id ? epoch.recovery : nil
            }
        guard let wrapped else {
            throw MembershipError(.cannotOpen, "the epoch is not for \(owner.card)")
        }
        return try seal.unwrap(wrapped, with: owner, as: recipient)
    }

    /// Takes the keys that an epoch brings, and of these only the right ones.
    private mutating func takeEarlier(
        _ epoch: Epoch, _ seal: EpochSeal, _ id: StatementID, _ state: MembershipState
    ) {
        guard epoch.earlier.contains(where: { keys[$0] == nil }), let key = keys[id],
            let earlier = try? seal.open(epoch, under: key)
        else { return }
        for (name, key) in earlier where keys[name] == nil {
            guard let epoch = state.epoch(name), let key = try? state.seal(of: epoch).checked(key) else {
                continue
            }
            keys[name] = key
        }
    }

    /// How many keys there are, and no key.
    public var description: String { "\(keys.count) keys of epochs" }
}
