import SyncWire

/// Who takes part in a database: a function of a set of statements, and of nothing else.
///
/// Whoever has the same statements has the same state, in whatever order they came.
/// `Schemas/membership/v1.md` has the rule.
public struct MembershipState: Equatable, Sendable {
    /// The database.
    public let store: StoreID
    /// The statement that founded the membership. An invitation names it, so that nobody can put another
    /// one in its place.
    public let founding: StatementID
    /// All statements, those that do not count too.
    public let statements: [StatementID: SignedStatement]
    /// Those who are or were members.
    public let members: [MemberID: Member]
    /// The devices that take part or did.
    public let devices: [DeviceID: MemberDevice]
    /// The replicas that devices write.
    public let replicas: [ReplicaID: MemberReplica]
    /// The epochs in the order of their generations, then names.
    public let epochs: [MemberEpoch]
    /// The epoch whose key is used for what is written; nil when a new one is needed first.
    public let currentEpoch: StatementID?
    /// Whether somebody who writes should make a new epoch: there is none that may be used, or a device can't
    /// open the current one.
    public let isEpochDue: Bool
    /// The recovery key that counts; nil before the founding statement is here.
    public let recovery: RecoveryCard?
    /// The statements that no other one names as a parent, in ascending order.
    public let heads: [StatementID]
    /// Statements that do not count because others before them are not here yet, in ascending order.
    public let waiting: [StatementID]
    /// The statements for which others wait, in ascending order.
    public let missing: [StatementID]
    /// Statements that do not count, and why.
    public let uncounted: [StatementID: UncountedReason]

    let evaluation: Evaluation

    /// Evaluates statements.
    ///
    /// - throws: A ``MembershipError``: a statement is of another database, or there are too many.
    public init(
        store: StoreID, founding: StatementID, statements: some Sequence<SignedStatement>
    ) throws(MembershipError) {
        var byID: [StatementID: SignedStatement] = [:]
        var byteCount = 0
        for statement in statements where byID[statement.id] == nil {
            guard statement.statement.store == store else {
                throw MembershipError(.otherStore, "\(statement) is of another database")
            }
            byteCount += statement.bytes.count
            guard byID.count < MembershipLimits.statementCountMax,
                byteCount <= MembershipLimits.totalByteCountMax
            else { throw MembershipError(.tooLarge, "there are too many statements") }
            byID[statement.id] = statement
        }
        self.init(store, byID, Evaluation(StatementGraph(byID), founding: founding))
    }

    private init(_ store: StoreID, _ statements: [StatementID: SignedStatement], _ evaluation: Evaluation) {
        self.store = store
        founding = evaluation.founding
        self.statements = statements
        self.evaluation = evaluation
        members = evaluation.memberList()
        let devices = evaluation.deviceList()
        self.devices = devices
        replicas = evaluation.replicaList()
        let epochs = evaluation.epochList()
        self.epochs = epochs
        let current = evaluation.currentEpoch()
        currentEpoch = current.map { evaluation.graph.nodes[$0].id }
        let recipients = current.flatMap { evaluation.epoch($0)?.recipients.count } ?? 0
        isEpochDue = current == nil || devices.values.reduce(0) { $0 + ($1.isActive ? 1 : 0) } > recipients
        recovery = evaluation.recoveryCard(in: evaluation.whole)
        heads = evaluation.graph.heads.map { evaluation.graph.nodes[$0].id }.sorted()
        waiting = evaluation.graph.waiting
        missing = evaluation.graph.missing
        uncounted = evaluation.uncounted()
    }

    /// The state with more statements.
    ///
    /// Of those that were made upon all that is known here, one after the other, nothing else is judged again.
    public func adding(_ more: some Sequence<SignedStatement>) throws(MembershipError) -> MembershipState {
        let more = Array(more)
        if let state = try adding(line: more.filter { statements[$0.id] == nil }) { return state }
        return try MembershipState(
            store: store, founding: founding, statements: Array(statements.values) + more)
    }

    /// The state with a few statements that go on from it in a line; nil for others.
    private func adding(line: [SignedStatement]) throws(MembershipError) -> MembershipState? {
        guard line.count <= Self.lineCountMax, line.allSatisfy({ $0.statement.store == store }) else {
            return nil
        }
        var (evaluation, statements, rest) = (evaluation, statements, line)
        while let place = rest.firstIndex(where: { evaluation.graph.ends(with: $0) }) {
            let next = rest.remove(at: place)
            evaluation.add(next)
            statements[next.id] = next
        }
        guard rest.isEmpty else { return nil }
        guard statements.count <= MembershipLimits.statementCountMax,
            statements.values.reduce(0, { $0 + $1.bytes.count }) <= MembershipLimits.totalByteCountMax
        else { throw MembershipError(.tooLarge, "there are too many statements") }
        return MembershipState(store, statements, evaluation)
    }

    private static let lineCountMax = 64

    /// Whether a change of a replica counts.
    ///
    /// It does when a device of a writer or admin writes the replica, up to the last change that a removal
    /// names.
    public func mayWrite(_ replica: ReplicaID, _ sequence: Int64) -> Bool {
        guard sequence > 0, let standing = replicas[replica] else { return false }
        return sequence <= standing.lastSequence
    }

    /// The statements by those who were nobody here when they made them. They never count, and nobody who belongs to the
    /// database rests anything upon them. Of statements that wait for others, that is not known.
    package var strange: Set<StatementID> {
        var strange: Set<StatementID> = []
        for (node, verdict) in evaluation.verdicts.enumerated() {
            switch verdict.refusal {
            case .issuerUnknown, .foundedElsewhere, .recoveryKeyWrong:
                strange.insert(evaluation.graph.nodes[node].id)
            default: break
            }
        }
        return strange
    }

    /// The public halves of a device's keys; nil for one that was never added.
    package func card(of device: DeviceID) -> DeviceCard? { devices[device]?.card }

    /// The role of a device's member; nil when the device does not take part.
    public func role(of device: DeviceID) -> MemberRole? {
        guard let device = devices[device], device.isActive else { return nil }
        return members[device.member]?.role
    }

    /// Compares the statements: everything else follows from them.
    public static func == (left: MembershipState, right: MembershipState) -> Bool {
        left.founding == right.founding && left.statements == right.statements
            && left.members == right.members && left.devices == right.devices
            && left.replicas == right.replicas
            && left.epochs == right.epochs && left.currentEpoch == right.currentEpoch
            && left.isEpochDue == right.isEpochDue && left.recovery == right.recovery
            && left.heads == right.heads && left.waiting == right.waiting && left.missing == right.missing
            && left.uncounted == right.uncounted
    }
}
