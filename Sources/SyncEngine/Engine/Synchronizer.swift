import CipherStore
import Dispatch
import SyncWire

/// Tracks the tables of a store and synchronizes it with others.
///
/// ```swift
/// let synchronizer = try Synchronizer(dbQueue, tables: ["note", "tag"])
/// let report = try await synchronizer.sync(with: StoreTransport(path: "stick/notes.db", configuration: other))
/// print(report.pulled?.rowCount ?? 0, "rows came")
/// ```
///
/// Tracking is done by triggers in the file, so it goes on whoever writes to it.
public final class Synchronizer: Sendable {
    let database: any DatabaseWriter
    let environment: SyncEnvironment
    let mergePolicies = MergePolicies()

    /// Prepares a database for synchronization. The first time, it becomes a
    /// new store with a replica id of its own.
    ///
    /// - parameters:
    ///     - database: An encrypted database.
    ///     - tables: Tables to track, which have one UUID column as their key.
    ///     - policies: What becomes of concurrent values of columns; the later write
    ///       stands in all others. See ``setPolicies(_:)``.
    ///     - environment: Where time and randomness come from.
    /// - throws: ``SyncError``, for a table that can't be tracked; ``DatabaseError``.
    public init(
        _ database: any DatabaseWriter, tables: [String] = [], policies: [ColumnPolicy] = [],
        environment: SyncEnvironment = .system
    ) throws {
        self.database = database
        self.environment = environment
        try database.write { db in
            if try StoreMetadata.load(db) == nil {
                try MetadataSchema.create(
                    db, store: environment.identifier(), replica: environment.identifier())
            }
            db.use(schemaTracker: TrackedSchema(environment: environment))
            try db.withoutReportingSchemaChanges {
                let tracking = TableTracking(db: db, environment: environment)
                try MetadataSchema.upgrade(db)
                try StoreFence(db: db, environment: environment).check()
                try tracking.refresh()
                try tracking.track(tables)
            }
            try setPolicies(policies, in: db)
        }
    }

    /// Opens a store that is prepared already.
    ///
    /// - throws: ``SyncError`` of code `notSynchronized` when it is not.
    public init(existing database: any DatabaseWriter, environment: SyncEnvironment = .system) throws {
        self.database = database
        self.environment = environment
        // A read, so that a store can be looked at while another process writes to it.
        _ = try database.read { try StoreMetadata.require($0) }
    }

    /// Tracks tables. Rows that are there already count as inserted now.
    ///
    /// - parameter policies: What becomes of concurrent values, see ``setPolicies(_:)``.
    /// - throws: ``SyncError`` for a table that can't be tracked, or a policy that a column
    ///   can't have; no table is tracked then.
    public func track(_ tables: [String], policies: [ColumnPolicy] = []) throws {
        try database.write { db in
            try TableTracking(db: db, environment: environment).track(tables)
            try setPolicies(policies, in: db)
        }
    }

    /// Tracks tables in the transaction that is open, so that a table can be
    /// made, filled and tracked as one step.
    ///
    /// - throws: As ``track(_:)``.
    public func track(_ tables: [String], in db: Database) throws {
        try TableTracking(db: db, environment: environment).track(tables)
    }

    /// Brings changes here from a remote, and sends ours to it.
    ///
    /// - throws: ``SyncError``, ``DatabaseError``, ``StoreError``, ``WireError``. Each
    ///   direction is applied as a whole or not at all.
    public func sync(with transport: any Transport) async throws -> SyncReport {
        try await detached(.both, transport)
    }

    /// Brings changes here from a remote.
    ///
    /// - throws: As ``sync(with:)``.
    public func pull(from transport: any Transport) async throws -> SyncReport {
        try await detached(.pull, transport)
    }

    /// Sends our changes to a remote.
    ///
    /// - throws: As ``sync(with:)``.
    public func push(to transport: any Transport) async throws -> SyncReport {
        try await detached(.push, transport)
    }

    /// This store, as one side of a synchronization.
    var peer: StorePeer { StorePeer(database, environment, closes: false, policies: mergePolicies) }

    /// The work blocks its thread, so it has one of its own.
    private func detached(_ direction: SyncDirection, _ transport: any Transport) async throws -> SyncReport {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try self.run(direction, transport) })
            }
        }
    }

    /// Synchronizes and waits for the result.
    ///
    /// - parameter progress: Called with the direction, the rows that were sent
    ///   and their number. An error that it throws cancels.
    /// - throws: As ``sync(with:)``, or the error of `progress`.
    public func run(
        _ direction: SyncDirection, _ transport: any Transport,
        progress: ((SyncProgress) throws -> Void)? = nil
    ) throws -> SyncReport {
        try SyncObservation(synchronizer: self, direction: direction, remote: transport.name).run {
            let remote = try transport.connect(environment)
            defer { remote.close() }
            let direction = try remote.adapt(self, direction)
            let tables = try database.read { try ScopeStore(db: $0).tableNames(of: transport.name) }
            return try SessionDriver(
                local: peer, remote: remote, remoteName: transport.name, tables: tables, progress: progress
            ).run(direction)
        }
    }
}

/// Carries out the actions of a ``SyncSession``.
struct SessionDriver {
    let local: any SyncPeer
    let remote: any SyncPeer
    let remoteName: String
    /// The tables that are exchanged, each by its names; nil for all.
    var tables: [[String]]?
    let progress: ((SyncProgress) throws -> Void)?

    func run(_ direction: SyncDirection) throws -> SyncReport {
        var session = SyncSession(direction, tables: tables)
        var action = session.start
        var greetings: (local: Greeting, remote: Greeting)?
        var pulled: SyncReport.Transfer?
        var pushed: SyncReport.Transfer?
        var renewed: [SyncSession.Side] = []
        var divergence: Divergence?
        var refusal: SyncError?
        while true {
            switch action {
            case .greet:
                let met = (local: try local.greet(), remote: try remote.greet())
                greetings = met
                let forks = try local.meet(met.remote) + remote.meet(met.local)
                action = session.handle(.greeted(local: met.local, remote: met.remote, forks: forks))
            case .renew(let side, let forks):
                let isRenewed = try renew(side, forks, greetings)
                if isRenewed { renewed.append(side) }
                action = session.handle(isRenewed ? .renewed(side) : .stayed(side))
            case .pull(let vector):
                var request = request(since: vector, greetings?.local)
                request.ask(session.rows, try local.rowRequests())
                pulled = try transfer(.pull, from: remote, to: local, request)
                action = session.handle(.pulled)
            case .push(let vector):
                var request = request(since: vector, greetings?.remote)
                request.leftOut = session.rows?.remoteTables ?? []
                let push = try self.push(request, direction)
                (pushed, refusal) = (push.transfer, push.refusal)
                action = refusal == nil ? session.handle(.pushed) : .finish
            case .compare:
                action = session.handle(
                    .compared(local: try local.state(.kept), remote: try remote.state(.kept)))
            case .repair(let differing):
                let repair = DivergenceRepair(local: local, remote: remote, tables: differing)
                divergence = try repair.run(direction)
                action = session.handle(.repaired)
            case .refuse(let error):
                throw error
            case .finish:
                guard let greetings else { throw SyncError(.invalidBundle, "the remote did not greet") }
                var report = SyncReport(
                    local: greetings.local.replica, remote: greetings.remote.replica, pulled: pulled,
                    pushed: pushed)
                report.divergence = divergence
                report.refusal = refusal
                // Where rows were held back, the remote does not know all that was here.
                let isSent = pushed != nil && refusal == nil
                report.waitingTables = try takeOutRows(session.rows, greetings, pushed: isSent)
                report.renewedReplicas = newReplicas(renewed, greetings)
                do {
                    try remember(
                        greetings, pulled: pulled != nil, pushed: isSent,
                        hasWaitingTables: !report.waitingTables.isEmpty)
                } catch {
                    // The changes are committed on both sides: that must not read as a failure.
                    report.unrecordedReason = "\(error)"
                }
                return report
            }
        }
    }

    private static let pushCountMax = 100

    /// Sends what the remote takes. Of both directions, what came is here, which must not read as a failure; what did
    /// not go, goes another time.
    private func push(
        _ request: TransferRequest, _ direction: SyncDirection
    ) throws -> (transfer: SyncReport.Transfer?, refusal: SyncError?) {
        var request = request
        var refusal: SyncError?
        var held: Set<StateRows> = []
        // A server names up to 1,000 rows at once, and one that makes them up would have everything sent for ever.
        pushes: for _ in 0..<Self.pushCountMax {
            do {
                return (try transfer(.push, from: local, to: remote, request), refusal)
            } catch let error as SyncError where error.code == .outsideScope {
                let named = Set(
                    error.rows.flatMap { rows in rows.keys.map { StateRows(table: rows.table, keys: [$0]) } })
                var first = refusal ?? error
                let isNew = local is StorePeer && !named.isSubset(of: held)
                held.formUnion(named)
                request.heldBack = Array(held)
                first.rows = request.heldBack
                refusal = first
                guard isNew else { break pushes }
            }
        }
        refusal?.rows = []
        if let refusal, direction != .both { throw refusal }
        return (nil, refusal)
    }

    /// Gives a side a new identity, unless what it said of itself was out of date.
    private func renew(
        _ side: SyncSession.Side, _ forks: [Fork], _ greetings: (local: Greeting, remote: Greeting)?
    ) throws -> Bool {
        guard let greetings else { throw SyncError(.invalidBundle, "the remote did not greet") }
        return switch side {
        case .local:
            try local.renewIdentity(forks, shownBy: greetings.remote, to: greetings.local.replica)
        case .remote:
            try remote.renewIdentity(forks, shownBy: greetings.local, to: greetings.remote.replica)
        }
    }

    private func request(since vector: VersionVector, _ greeting: Greeting?) -> TransferRequest {
        TransferRequest(base: vector, parts: greeting?.facts.parts ?? [], tables: tables)
    }

    /// The ids of the sides that got a new one, now or because their file turned out to be a copy.
    private func newReplicas(
        _ renewed: [SyncSession.Side], _ greetings: (local: Greeting, remote: Greeting)
    ) -> [ReplicaID] {
        let sides = [
            (peer: local, side: SyncSession.Side.local, replica: greetings.local.replica),
            (peer: remote, side: .remote, replica: greetings.remote.replica),
        ]
        return sides.filter { renewed.contains($0.side) || ($0.peer as? StorePeer)?.formerReplica != nil }
            .map(\.replica)
    }

    private func transfer(
        _ direction: SyncDirection, from source: any SyncPeer, to target: any SyncPeer,
        _ request: TransferRequest
    ) throws -> SyncReport.Transfer {
        let report = progress.map { progress in
            { (completed: Int64, total: Int64) in
                try progress(
                    SyncProgress(direction: direction, completedRowCount: completed, totalRowCount: total))
            }
        }
        var sent = TransferSummary(rowCount: 0, byteCount: 0)
        func apply() throws -> ApplySummary {
            try source.prepareToSend(request, progress: report)
            return try target.receive { sink in
                // The sink is used only until `send` returns.
                try withoutActuallyEscaping(sink) { sink in
                    sent = try source.send(request, progress: report, to: sink)
                }
            }
        }
        let applied: ApplySummary
        do {
            applied = try apply()
        } catch is SourceStalled {
            // Nothing was applied. Now the source waits until it has everything.
            applied = try apply()
        }
        // What comes may not have been counted when it began to. What goes may be there already.
        let rowCount = direction == .pull ? applied.rowCount : sent.rowCount
        return SyncReport.Transfer(rowCount: rowCount, byteCount: sent.byteCount, applied: applied)
    }

    /// Takes out rows of tables that are held in part, and says which of these wait.
    private func takeOutRows(
        _ rows: RowExchange?, _ greetings: (local: Greeting, remote: Greeting), pushed: Bool
    ) throws -> [SyncReport.WaitingTable] {
        guard let rows, !rows.tables.isEmpty else { return [] }
        try local.takeOutRows(
            acknowledged: rows.tables.filter { $0.obstacle == nil }.map { table in
                var known = greetings.remote.known(of: table.names)
                if pushed, let partial = greetings.local.facts.partials.find(table.names) {
                    known.join(partial.own)
                }
                return (names: table.names, known: known)
            })
        return rows.tables.compactMap { table in
            table.obstacle.map { SyncReport.WaitingTable(name: table.names.first ?? "", reason: $0) }
        }
    }

    /// Each side notes what the other knows now.
    private func remember(
        _ greetings: (local: Greeting, remote: Greeting), pulled: Bool, pushed: Bool, hasWaitingTables: Bool
    ) throws {
        var remoteKnows = greetings.remote.vector
        var localKnows = greetings.local.vector
        // Of some tables only, nobody knows more of all tables.
        let isWhole =
            tables == nil && greetings.local.facts.partials.isEmpty && greetings.remote.facts.partials.isEmpty
        if pushed && isWhole { remoteKnows.join(greetings.local.vector) }
        if pulled && isWhole { localKnows.join(greetings.remote.vector) }
        try local.remember(greetings.remote.replica, name: remoteName, knowing: remoteKnows)
        try remote.remember(greetings.local.replica, name: "", knowing: localKnows)
        guard let peer = local as? StorePeer else { return }
        let own = greetings.local.replica
        guard let tables else {
            // Of tables that are held in part, all changes of this replica were sent that the remote is to have.
            guard pushed, !isWhole, !hasWaitingTables else { return }
            return try peer.noteAcknowledged(greetings.local.vector[own], by: greetings.remote.replica)
        }
        let known = tables.map { greetings.remote.known(of: $0)[own] }.min() ?? 0
        try peer.noteAcknowledged(
            pushed ? greetings.local.vector[own] : known, by: greetings.remote.replica)
    }
}
