import SyncWire

/// The merge of two versions of a row: a pure function.
///
/// Per column, the last writer wins: the order is (timestamp, replica, value),
/// which is total, so that any two replicas that saw the same changes hold the
/// same row, whatever the order in which they came. A delete beats all edits of
/// the life that it ends; a later insert begins a new life.
///
/// A write of the whole row is one of every column: those that its writer's table does not have
/// are at their default from then on, wherever they are. So what a row holds does not depend on
/// whether a replica got a column before the write or after it.
enum Merge {
    /// Merges a peer's change into a row.
    ///
    /// - parameters:
    ///     - local: The row here, or nil when it was never seen.
    ///     - incoming: What the peer says.
    ///     - peer: What the peer knew: a value that it knew and replaced is no conflict.
    ///     - known: The vector before this bundle. A write it covers was merged earlier; its conflicts are already in
    ///       the journal.
    ///     - isRepair: Whether two values of one write are a conflict: one of them was damaged.
    ///     - separate: Columns of which a write of the whole row says nothing: the shares of counters.
    /// - returns: nil when the change is not valid: it begins a life without
    ///   the write that began it.
    static func plan(
        local: RowVersion?, incoming: RowChange, peer: VersionVector, known: VersionVector = VersionVector(),
        isRepair: Bool = false, separate: Set<Int> = []
    ) -> MergePlan? {
        func merge(_ local: RowVersion?) -> MergePlan? {
            guard let local else { return begin(incoming) }
            if incoming.life > local.life { return outlive(local, incoming, peer) }
            if incoming.life < local.life { return discard(local, incoming, known) }
            guard incoming.isAlive else { return mergeDeletes(local, incoming) }
            return mergeColumns(local, incoming, peer, known, isRepair, separate)
        }
        let plan = merge(local)
        plan?.assertInvariants(local: local, incoming: incoming)
        // Of a column whose value is not here, two stamps of one moment can say the same in two ways.
        assert(
            local?.cells.keys.allSatisfy { local?.values[$0] != nil } == false
                || plan.map { $0.result(of: local) }.map { merge($0)?.keepsVersions(of: $0) == true } ?? true,
            "a change that was merged changes versions when it comes again")
        return plan
    }

    /// A row that was never seen.
    private static func begin(_ incoming: RowChange) -> MergePlan? {
        guard let base = incoming.base else { return nil }
        var plan = MergePlan(life: incoming.life, base: base)
        if incoming.isAlive {
            plan.action = .insert
            plan.writes = incoming.writes.mapValues(\.value)
            plan.cells = incoming.writes.mapValues(\.stamp).filter { $0.value != base }
        }
        return plan
    }

    /// The peer knows a later life of the row.
    private static func outlive(
        _ local: RowVersion, _ incoming: RowChange, _ peer: VersionVector
    ) -> MergePlan? {
        guard var plan = begin(incoming) else { return nil }
        guard local.isAlive else { return plan }
        plan.action = incoming.isAlive ? .replace : .delete
        plan.lostLife = local.life
        // Who ends a life stamps that above all that it knows of the row: it did not know a
        // newer write, even if the peer, who only passes the end on, does by now.
        for (column, value) in local.values {
            let stamp = local.stamp(ofColumn: column)
            let isKnown = peer.contains(stamp) && !stamp.isNewer(than: plan.base)
            plan.conflicts.append(
                .init(
                    column: column, lost: value, lostStamp: stamp, winner: plan.base,
                    reason: isKnown ? .row : .deleted))
        }
        if plan.conflicts.allSatisfy({ $0.reason == .row }) { plan.conflicts = [] }
        return plan.sorted()
    }

    /// The peer speaks of a life that has ended here.
    private static func discard(
        _ local: RowVersion, _ incoming: RowChange, _ known: VersionVector
    ) -> MergePlan {
        var plan = MergePlan(life: local.life, base: local.base, cells: local.cells)
        plan.lostLife = incoming.life
        for (column, write) in incoming.writes where !known.contains(write.stamp) {
            plan.conflicts.append(
                .init(
                    column: column, lost: write.value, lostStamp: write.stamp, winner: local.base,
                    reason: .deleted))
        }
        return plan.sorted()
    }

    private static func mergeDeletes(_ local: RowVersion, _ incoming: RowChange) -> MergePlan {
        MergePlan(life: local.life, base: newest(local.base, incoming.base))
    }

    /// The newer of two stamps. Of one moment, which copies of one file can have twice, the
    /// greater sequence stands, so that the result is the same on both sides.
    private static func newest(_ stamp: Stamp, _ other: Stamp?) -> Stamp {
        guard let other else { return stamp }
        if other.isNewer(than: stamp) { return other }
        return !stamp.isNewer(than: other) && other.sequence > stamp.sequence ? other : stamp
    }

    private static func mergeColumns(
        _ local: RowVersion, _ incoming: RowChange, _ peer: VersionVector, _ known: VersionVector,
        _ isRepair: Bool, _ separate: Set<Int>
    ) -> MergePlan {
        let base = newest(local.base, incoming.base)
        var plan = MergePlan(life: local.life, base: base)
        plan.lostLife = local.life
        for column in Set(local.values.keys).union(local.cells.keys).union(incoming.writes.keys) {
            let own = local.stamp(ofColumn: column)
            let ownValue = local.values[column] ?? .null
            let isSeparate = separate.contains(column)
            guard let write = incoming.writes[column] else {
                // Values that are newer than a write of the whole row come with it, or are here.
                if !isSeparate, let base = incoming.base, base.isNewer(than: own) {
                    reset(column, local, to: base, peer, &plan)
                } else if own != base {
                    plan.cells[column] = own
                }
                continue
            }
            let order = write.value.compare(ownValue)
            let isUnknown = local.values[column] == nil && local.cells[column] == nil
            let isNewer =
                write.stamp.isNewer(than: own)
                || (isUnknown && (isSeparate || !own.isNewer(than: write.stamp)))
            let isSameMoment = !isNewer && !own.isNewer(than: write.stamp)
            let incomingWins = isNewer || (isSameMoment && order > 0)
            let winner =
                isSameMoment && order == 0 ? newest(own, write.stamp) : incomingWins ? write.stamp : own
            if winner != base { plan.cells[column] = winner }
            if incomingWins && (order != 0 || isUnknown) { plan.writes[column] = write.value }
            let isConcurrent = incomingWins ? !peer.contains(own) : !known.contains(write.stamp)
            let losesNothing = incomingWins && isUnknown
            // Two values of one write come from who says one thing to some and another to others.
            if order != 0, !losesNothing, isSameMoment ? !isUnknown : isConcurrent {
                plan.conflicts.append(
                    .init(
                        column: column, lost: incomingWins ? ownValue : write.value,
                        lostStamp: incomingWins ? own : write.stamp, winner: winner, reason: .newer))
            }
        }
        plan.action = plan.writes.isEmpty && plan.resets.isEmpty ? .keep : .update
        return plan.sorted()
    }

    /// A column that the writer of a newer whole row does not have.
    private static func reset(
        _ column: Int, _ local: RowVersion, to base: Stamp, _ peer: VersionVector, _ plan: inout MergePlan
    ) {
        guard let value = local.values[column] else { return }
        plan.resets.insert(column)
        let own = local.stamp(ofColumn: column)
        guard value.compare(.null) != 0, !peer.contains(own) else { return }
        plan.conflicts.append(
            .init(column: column, lost: value, lostStamp: own, winner: base, reason: .newer))
    }
}

extension MergePlan {
    /// The plan with its conflicts in the order of columns, so that equal input
    /// gives equal output.
    fileprivate func sorted() -> MergePlan {
        var plan = self
        plan.conflicts.sort { $0.column < $1.column }
        return plan
    }
}
