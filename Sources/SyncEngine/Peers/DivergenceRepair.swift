import SyncWire

/// Finds the rows in which two replicas differ that know the same, and makes them equal.
///
/// Both sides hash their rows into buckets; of the buckets that differ, they compare row by row.
/// What differs is sent as a whole and merged as ever, so both sides come to the same, and
/// every value that loses is kept in the journal.
struct DivergenceRepair {
    let local: any SyncPeer
    let remote: any SyncPeer
    /// The tables that are compared, each by its names; nil for all.
    var tables: [[String]]?
    /// Tables that one of the two does not hold all of, in lower case.
    var excluded: Set<String> = []
    /// Whether values are compared, and not only versions.
    var isDeep = false
    /// What it looks at before each question and each frame.
    var cancellation: SyncCancellation?

    /// So many rows, about, are compared in one answer.
    private static let rowCountMax: Int64 = 50_000

    /// What was found.
    struct Findings {
        var rows: [(rows: StateRows, known: VersionVector)] = []
        var tables: [Divergence.Table] = []
    }

    // MARK: Finding

    /// Finds the rows that differ.
    ///
    /// - throws: ``SyncError`` of code `changedMeanwhile` when the two don't know the same of a table.
    func find() throws -> Findings {
        guard let (own, other) = try states() else {
            throw SyncError(.notComparable, "the remote can't be compared: its program knows no digests")
        }
        let chosen = tables.map { Set($0.joined().map { $0.identifierKey }) }
        var findings = Findings()
        for table in StateComparison(own.digest, other.digest).tables {
            if let chosen, !table.names.contains(where: { chosen.contains($0.identifierKey) }) { continue }
            if table.names.contains(where: { excluded.contains($0.identifierKey) }) { continue }
            let known = own.known(of: table.names)
            guard known == other.known(of: table.names) else { throw SyncError.changedMeanwhile }
            guard isDeep || !table.isEqual else { continue }
            let keys = try differingKeys(table, known)
            guard !keys.isEmpty else { continue }
            findings.rows.append((StateRows(table: table.names, keys: keys), known))
            findings.tables.append(Divergence.Table(name: table.name, keys: keys))
        }
        assert(findings.rows.count == findings.tables.count)
        return findings
    }

    /// The digests of both sides, made anew.
    private func states() throws -> (ReplicaState, ReplicaState)? {
        guard let own = try local.state(.recomputed), let other = try remote.state(.recomputed) else {
            return nil
        }
        return (own, other)
    }

    private func differingKeys(_ table: StateComparison.Table, _ vector: VersionVector) throws
        -> [StateRowKey]
    {
        let (own, other) = try ask(table.question(isDeep: isDeep), vector)
        guard own.sums.count == StateHasher.bucketCount, other.sums.count == own.sums.count else {
            throw SyncError(.invalidBundle, "the remote gave no digests of rows")
        }
        var keys: [StateRowKey] = []
        var buckets: Set<UInt8> = []
        var count: Int64 = 0
        for bucket in 0..<StateHasher.bucketCount where own.sums[bucket] != other.sums[bucket] {
            buckets.insert(UInt8(bucket))
            count = count.addingSaturated(max(own.sums[bucket].count, other.sums[bucket].count))
            guard count > Self.rowCountMax else { continue }
            keys += try differingKeys(table, vector, buckets)
            buckets = []
            count = 0
        }
        if !buckets.isEmpty { keys += try differingKeys(table, vector, buckets) }
        return keys.sorted()
    }

    private func differingKeys(
        _ table: StateComparison.Table, _ vector: VersionVector, _ buckets: Set<UInt8>
    ) throws -> [StateRowKey] {
        let (own, other) = try ask(table.question(isDeep: isDeep, buckets: buckets), vector)
        return Set(own.rows.keys).union(other.rows.keys).filter { own.rows[$0] != other.rows[$0] }
    }

    private func ask(
        _ question: StateQuestion, _ vector: VersionVector
    ) throws -> (StateAnswer, StateAnswer) {
        try cancellation?.check()
        let answers = (try local.answer(question), try remote.answer(question))
        guard answers.0.vector == vector, answers.1.vector == vector else { throw SyncError.changedMeanwhile }
        return answers
    }

    // MARK: Repairing

    /// Finds what differs, and repairs it as far as the direction allows.
    ///
    /// What went before is committed on both sides, so that a remote that then answers wrongly is told with what was found, and
    /// the synchronization counts.
    func run(_ direction: SyncDirection) throws -> Divergence {
        var divergence = Divergence()
        do {
            let findings = try find()
            divergence.tables = findings.tables
            try repair(findings, direction, &divergence)
            let rest = try findings.rows.isEmpty ? findings : find()
            guard rest.rows.isEmpty else {
                throw SyncError(
                    .diverged,
                    direction == .both
                        ? Self.rest(rest.tables)
                        : "rows differ, which only a synchronization in both directions repairs")
            }
            divergence.isRepaired = true
        } catch let error as SyncError {
            divergence.failure = error
        } catch let error as WireError {
            divergence.failure = SyncError(
                .invalidBundle,
                error.isOfNewerVersion
                    ? "one of the two sent what only a newer program reads: \(error.message); update this one"
                    : "one of the two sent something that can't be right: \(error)")
        }
        return divergence
    }

    /// What a merge could not make equal, and what that comes from: both sides have the same versions, so one of them
    /// does not hold what is written to it.
    private static func rest(_ tables: [Divergence.Table]) -> String {
        let rows = tables.map { table in
            let key = table.keys.first.map { ", such as \($0)" } ?? ""
            return "\(table.keys.count) of table \(table.name)\(key)"
        }
        return """
            rows still differ after they were merged (\(rows.joined(separator: "; "))): one of the stores does not hold \
            what is written to it, because of a trigger that changes it, or its program is older and converts values by \
            the types of its columns; clone the replica that is right
            """
    }

    /// Sends the rows that differ both ways.
    private func repair(_ findings: Findings, _ direction: SyncDirection, _ divergence: inout Divergence)
        throws
    {
        // A bundle has one vector.
        for known in Set(findings.rows.map(\.known)) {
            let rows = findings.rows.filter { $0.known == known }.map(\.rows)
            if direction != .push { try transfer(rows, from: remote, to: local, &divergence) }
            if direction != .pull { try transfer(rows, from: local, to: remote, &divergence) }
        }
    }

    private func transfer(
        _ rows: [StateRows], from source: any SyncPeer, to target: any SyncPeer,
        _ divergence: inout Divergence
    ) throws {
        var portions = RepairPortions(rows)
        while let portion = portions.next() {
            do {
                try transferAtOnce(portion, from: source, to: target, &divergence)
            } catch let error as SyncError where error.code == .tooMuchAtOnce {
                guard portions.divide(for: target) else { throw error }
            }
        }
    }

    private func transferAtOnce(
        _ rows: [StateRows], from source: any SyncPeer, to target: any SyncPeer,
        _ divergence: inout Divergence
    ) throws {
        try source.prepareToSend(rows: rows)
        let applied = try target.receive { sink in
            try withoutActuallyEscaping(sink) { sink in
                _ = try source.send(rows: rows, to: cancellation.checking(sink))
            }
            try cancellation?.check()
        }
        divergence.conflictCount += applied.conflictCount
    }
}
