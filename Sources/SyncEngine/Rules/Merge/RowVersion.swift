import SyncWire

/// The versions of a row, as this replica has them.
struct RowVersion {
    /// Odd while the row exists, even once it is deleted.
    var life: Int64
    /// The last write of the whole row.
    var base: Stamp
    /// The writes of single columns after that.
    var cells: [Int: Stamp]
    /// The values by column; empty for a deleted row.
    var values: [Int: WireValue]

    var isAlive: Bool { life & 1 == 1 }

    /// Who wrote a column last.
    func stamp(ofColumn column: Int) -> Stamp { cells[column] ?? base }
}

/// What a peer says about a row: the parts that are new to this replica.
struct RowChange {
    /// A value and who wrote it.
    struct Write {
        let stamp: Stamp
        let value: WireValue
    }

    /// Odd while the row exists, even once it is deleted.
    var life: Int64
    /// The last write of the whole row, when it is new.
    var base: Stamp?
    /// The new values: those of the base, and those that were written after it.
    var writes: [Int: Write]

    var isAlive: Bool { life & 1 == 1 }
}

/// What to do with a row so that it holds the winner of each column.
struct MergePlan {
    /// What to do with the row of the user's table.
    enum Action: Equatable {
        /// Nothing.
        case keep
        /// Insert it.
        case insert
        /// Write some of its columns.
        case update
        /// Delete it.
        case delete
        /// Delete it and insert another one with the same key.
        case replace
    }

    /// A value that lost although its writer did not know the winner.
    struct Conflict {
        /// Why the value lost.
        enum Reason: String {
            /// Another write of the column is newer.
            case newer
            /// The row was deleted.
            case deleted
            /// Nothing: it is the rest of a row of which a delete discarded another
            /// value, kept so that the row can be restored.
            case row
        }

        let column: Int
        let lost: WireValue
        let lostStamp: Stamp
        let winner: Stamp
        let reason: Reason
    }

    var action = Action.keep
    /// The row's versions after the merge.
    var life: Int64
    var base: Stamp
    var cells: [Int: Stamp] = [:]
    /// The values to write.
    var writes: [Int: WireValue] = [:]
    /// The columns that go back to their default.
    var resets: Set<Int> = []
    var conflicts: [Conflict] = []
    /// The life of the row that the conflicts' values belong to.
    var lostLife: Int64 = 0

    /// Whether the row has the same versions after the merge.
    func keepsVersions(of version: RowVersion) -> Bool {
        life == version.life && base == version.base && cells == version.cells
    }

    /// How many edits lost against a deletion whose teller knew them by then: it journaled each of them, too.
    func sharedConflictCount(_ peer: VersionVector) -> Int64 {
        guard action == .delete || action == .replace else { return 0 }
        return Int64(conflicts.count(where: { $0.reason == .deleted && peer.contains($0.lostStamp) }))
    }
}
