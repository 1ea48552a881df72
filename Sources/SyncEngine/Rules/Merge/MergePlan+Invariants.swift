import SyncWire

/// What holds of each plan, whatever was merged.
extension MergePlan {
    /// Checks what the plan says against what it was made of.
    func assertInvariants(local: RowVersion?, incoming: RowChange) {
        let isAlive = life & 1 == 1
        let isDiscarded = incoming.life < local?.life ?? incoming.life
        assert(life == max(local?.life ?? incoming.life, incoming.life), "the later life stands")
        assert(
            incoming.life != life || incoming.base?.isNewer(than: base) != true,
            "the newest write of the whole row stands")
        // What is discarded leaves the row as it was, which any program may have written.
        assert(isDiscarded || !cells.values.contains(base), "a cell says what the base says already")
        assert(isDiscarded || isAlive || cells.isEmpty, "a deleted row has no cells")
        assert(isDiscarded || lostLife <= life)
        assertActionInvariants(local: local, isAlive: isAlive)
        assert(writes.keys.allSatisfy { incoming.writes[$0] != nil }, "only what came is written")
        assert(resets.isDisjoint(with: writes.keys), "a column is written, or goes back to its default")
        assert(resets.allSatisfy { local?.values[$0] != nil }, "only what is here goes back to its default")
        assert(hasOrderedConflicts)
        assert(
            !conflicts.contains { $0.reason == .row } || conflicts.contains { $0.reason == .deleted },
            "the rest of a row is kept beside a value that a delete discarded")
    }

    private func assertActionInvariants(local: RowVersion?, isAlive: Bool) {
        switch action {
        case .keep: break
        case .insert: assert(isAlive && local?.isAlive != true, "a row that is here can't be inserted")
        case .update: assert(isAlive && local?.isAlive == true && local?.life == life)
        case .delete: assert(!isAlive && local?.isAlive == true, "only a row that is here is deleted")
        case .replace: assert(isAlive && local?.isAlive == true && lostLife < life)
        }
        assert(writesRow || writes.isEmpty, "there are values, and no row that gets them")
        assert(action == .update || resets.isEmpty)
    }

    /// Whether values are written to the user's table.
    var writesRow: Bool { action == .insert || action == .update || action == .replace }

    /// Whether there is at most one conflict of each column, in the order of these.
    var hasOrderedConflicts: Bool { conflicts.isOrdered { $0.column < $1.column } }

    /// The row after the plan was carried out, with defaults for values that are not known.
    func result(of local: RowVersion?) -> RowVersion {
        var values = local?.life == life ? local?.values ?? [:] : [:]
        for column in resets { values[column] = nil }
        values.merge(writes) { _, new in new }
        return RowVersion(life: life, base: base, cells: cells, values: values)
    }
}
