import CipherStore
import SyncMembers
import SyncWire

/// The members of a database, as one transaction of a store knows them, with what the store can do among them.
struct MembershipRecord {
    /// What follows from the statements.
    private(set) var state: MembershipState
    /// The keys of this file's device; nil while it is none.
    private(set) var device: MemberDeviceKeys?
    /// The content keys that can be opened here.
    private(set) var keyring: EpochKeyring

    /// Makes one of a state that no store holds yet.
    init(_ state: MembershipState, device: MemberDeviceKeys?) {
        (self.state, self.device, keyring) = (state, device, EpochKeyring())
        open()
    }

    private init(_ state: MembershipState, device: MemberDeviceKeys?, keyring: EpochKeyring) {
        (self.state, self.device, self.keyring) = (state, device, keyring)
        open()
    }

    /// Reads what a store knows.
    ///
    /// - returns: nil when it has no members.
    /// - throws: ``SyncError`` of code `damagedMetadata`.
    static func load(_ db: Database, _ store: StoreID) throws -> MembershipRecord? {
        guard let founding = try StatementLedger.founding(db) else { return nil }
        do {
            let state = try StatementLedger.state(db, store, founding: founding)
            let keyring = try MemberSecrets.epochs(db)
            if let epoch = keyring.falsified(in: state).first {
                throw SyncError(
                    .damagedMetadata,
                    """
                    the content key that this store keeps of epoch \(epoch.shortDescription) is another one than its statement \
                    promises, so nobody else could read what is sealed with it: another program has changed the store; put a \
                    backup in its place, or make it anew as a clone of another replica and accept an invitation
                    """)
            }
            return MembershipRecord(state, device: try MemberSecrets.device(db), keyring: keyring)
        } catch let error as MembershipError {
            throw SyncError(
                .damagedMetadata, "the statements about members are damaged: \(error.message)")
        }
    }

    /// What this file's device may do; nil when it is none, or was removed.
    var role: MemberRole? { device.flatMap { state.role(of: $0.card.id) } }

    /// The member whose device this file is, removed or not.
    var member: Member? {
        device.flatMap { state.devices[$0.card.id] }.flatMap { state.members[$0.member] }
    }

    /// Whether this store should make a new epoch, and may.
    var makesEpoch: Bool {
        guard let role, role >= .writer else { return false }
        guard !state.isEpochDue(for: keyring), let current = state.currentEpoch else { return true }
        // Whoever can't open what everybody should use finds that its maker has wrapped something else.
        return keyring[current] == nil || leavesOut(current)
    }

    /// Whether the current epoch does not bring the key of one that others made at the same time, which somebody can't open
    /// who came meanwhile. This store has that key.
    private func leavesOut(_ current: StatementID) -> Bool {
        let brought = state.brought(by: current, checkedBy: keyring)
        let active = Set(state.devices.values.lazy.filter(\.isActive).map(\.card.id))
        return state.epochs.contains { other in
            guard other.counts, other.id != current, !brought.contains(other.id), keyring[other.id] != nil,
                let epoch = epoch(other.id)
            else { return false }
            return !active.isSubset(of: epoch.recipients.recipients)
        }
    }

    private func epoch(_ id: StatementID) -> Epoch? {
        guard case .epoch(let epoch) = state.statements[id]?.statement.kind else { return nil }
        return epoch
    }

    /// The epochs whose keys everybody has who takes part, and everybody gets who comes.
    var shared: Set<StatementID> {
        guard let current = state.currentEpoch else { return [] }
        return state.brought(by: current).union([current])
    }

    /// The epoch under which this store writes, with its key; nil while there is none.
    var current: (epoch: StatementID, key: EpochKey)? {
        guard let epoch = state.currentEpoch, let key = keyring[epoch] else { return nil }
        return (epoch, key)
    }

    private mutating func open() {
        if let device { keyring.open(state, with: device) }
    }

    /// Opens what the recovery key can.
    mutating func open(with key: MembershipRecoveryKey) { keyring.open(state, with: key) }

    // MARK: Changes

    /// Makes this file a device.
    mutating func use(_ device: MemberDeviceKeys) {
        self.device = device
        open()
    }

    /// Takes statements in that others made. Those that wait for others are left out, and those by strangers, who could
    /// leave no room for any other.
    ///
    /// - returns: Those that are new here, and those that never count, because strangers made them.
    /// - throws: A `MembershipError` of code `tooLarge` when there would be too many; nothing is taken then.
    mutating func take(
        _ statements: [SignedStatement]
    ) throws(MembershipError) -> (fresh: [SignedStatement], strange: Set<StatementID>) {
        var fresh = KnownIssuers(state).statements(of: statements)
        var strange: Set<StatementID> = []
        // What rests upon a statement that is left out waits for it, and is left out, too.
        while !fresh.isEmpty {
            let all = try state.adding(fresh)
            strange.formUnion(all.strange)
            let left = strange.union(all.waiting)
            let rest = fresh.filter { !left.contains($0.id) }
            guard rest.count < fresh.count else {
                state = all
                open()
                break
            }
            fresh = rest
        }
        return (fresh, strange)
    }

    /// Takes in what was made here.
    mutating func add(_ statement: SignedStatement) throws(MembershipError) {
        state = try state.adding([statement])
        open()
    }

    /// Says something as this file's device.
    ///
    /// - throws: ``SyncError`` of code `notMember`; a `MembershipError` of code `notAllowed` or `tooLarge`.
    mutating func say(_ kind: StatementKind) throws -> SignedStatement {
        guard state.isRemoval(kind) || state.hasRoomBesideRemovals else {
            throw MembershipError(
                .tooLarge, "so much was said about members that what is left is for removals and recoveries")
        }
        let statement = try state.statement(kind, by: keys())
        try add(statement)
        return statement
    }

    /// Makes the next epoch.
    ///
    /// - throws: As ``say(_:)``.
    mutating func sayEpoch() throws -> SignedStatement {
        let statement = try state.nextEpoch(by: keys(), keyring: keyring)
        try add(statement)
        return statement
    }

    /// How many epochs one change or synchronization makes, while nobody else can write. Each takes 63 heads together, and judges
    /// all statements anew.
    private static let epochCountMax = 16

    /// Makes epochs until one can be used: it has to know all removals, and each knows those of 64 heads. Somebody who was
    /// removed can leave thousands, and many who come at once leave one each.
    ///
    /// - returns: One at least.
    /// - throws: As ``say(_:)``, when not even one can be made.
    mutating func sayEpochs() throws -> [SignedStatement] {
        var said: [SignedStatement] = []
        repeat {
            let knowsAll = state.heads.count <= MembershipLimits.parentCountMax
            do { said.append(try sayEpoch()) } catch let error as MembershipError {
                guard !said.isEmpty else { throw error }
                break
            }
            // Another one would know no more.
            if knowsAll { break }
            // The rest of the room is for removals and recoveries.
        } while makesEpoch && said.count < Self.epochCountMax && state.hasRoomBesideRemovals
        return said
    }

    /// Makes epochs after a removal or a recovery, if there is room for one. What they are for counts without them, too:
    /// nothing is written then, and nothing new can be read by somebody who was removed.
    ///
    /// - throws: ``SyncError`` of code `notMember`; a `MembershipError` of code `notAllowed`.
    mutating func sayEpochWhereThereIsRoom() throws -> [SignedStatement] {
        do { return try sayEpochs() } catch let error as MembershipError where error.code == .tooLarge {
            return []
        }
    }

    /// Checks that there is room for another member.
    ///
    /// - throws: A `MembershipError` of code `tooLarge`.
    func requireRoomForMember() throws(MembershipError) {
        guard state.hasRoomForMember else {
            throw MembershipError(
                .tooLarge, "there is no room for another member: what is left is for removals and recoveries")
        }
    }

    private func keys() throws -> MemberDeviceKeys {
        guard let device else {
            throw SyncError(
                .notMember, "this store is no device of a member; ask an admin for an invitation")
        }
        return device
    }

    /// Keeps all statements that it has, and no others, and the keys that they open.
    func saveAll(_ db: Database, at milliseconds: Int64) throws {
        try StatementLedger.replaceAll(db, with: Array(state.statements.values), at: milliseconds)
        try MemberSecrets.keep(db, keyring, all: true)
    }

    /// Keeps statements that are new, and the keys that they open.
    func save(_ db: Database, _ fresh: [SignedStatement], at milliseconds: Int64) throws {
        try StatementLedger.add(db, fresh, at: milliseconds)
        try MemberSecrets.keep(db, keyring)
    }
}

/// Finds the statements by those who are or were devices, or may have become some by other statements that are new.
///
/// Anybody who has the passphrase of a mailbox can leave statements there. Without this, those of strangers would count
/// towards the bounds.
private struct KnownIssuers {
    private var issuers: Set<DeviceID> = []
    private let known: MembershipState

    init(_ state: MembershipState) {
        known = state
        for statement in state.statements.values {
            for card in Self.introduced(statement) { issuers.insert(card.id) }
        }
    }

    /// Those whose issuers are known, each once, that are new.
    func statements(of all: [SignedStatement]) -> [SignedStatement] {
        var waiting: [DeviceID: [SignedStatement]] = [:]
        var seen: Set<StatementID> = []
        for statement in all where known.statements[statement.id] == nil && seen.insert(statement.id).inserted
        {
            guard statement.statement.store == known.store else { continue }
            waiting[statement.statement.issuer.card.id, default: []].append(statement)
        }
        var found: [SignedStatement] = []
        var next = issuers.filter { waiting[$0] != nil }
        if let founding = waiting.values.joined().first(where: { $0.id == known.founding }) {
            next.insert(founding.statement.issuer.card.id)
        }
        while let issuer = next.popFirst() {
            for statement in waiting.removeValue(forKey: issuer) ?? [] {
                found.append(statement)
                for card in Self.introduced(statement) where waiting[card.id] != nil { next.insert(card.id) }
            }
        }
        return found
    }

    /// The devices and recovery keys that may say something because of a statement.
    private static func introduced(_ statement: SignedStatement) -> [DeviceCard] {
        switch statement.statement.kind {
        case .found(let founding): [founding.device, founding.recovery]
        case .addMember(let new): [new.device]
        case .addDevice(let new): [new.device]
        case .recover(let recovery): [recovery.device] + (recovery.successor.map { [$0] } ?? [])
        default: []
        }
    }
}
