import CipherStore
import SyncWire

/// Columns that another program took away from a table, so that nobody saw their values go.
extension TableTracking {
    /// Notes that values of columns are not here any more. The log has to be folded.
    ///
    /// Peers have them still. The store stops to say that it knows the rows, or it would hand them on without these values,
    /// and others would believe it. It asks for all of them, as one does that held some rows only (``PartialTable``), and
    /// each brings what is missing here. Until then its own changes go to those who know what the rows here take into
    /// account, and what this replica itself had written to the columns.
    ///
    /// - parameters:
    ///     - columns: Columns that the table had.
    ///     - replaced: The versions from before the fold.
    /// - returns: The numbers of the columns that lost values.
    func loseValues(
        of columns: [SyncedTable.Column], in table: SyncedTable, _ replaced: ReplacedVersions
    ) throws -> [Int] {
        let separate = try SeparateColumns.loadAll(db)[table.number]
        // What policies keep is not in the table.
        let numbers = columns.map(\.number).filter { separate?.shown(for: $0) == nil }
        guard !numbers.isEmpty, let column = table.columns.map(\.number).min() else { return [] }
        let metadata = try StoreMetadata.require(db)
        let written = try LostColumns.lastWrites(
            db, of: numbers, in: table.number, own: metadata.selfNumber, upTo: replaced.folded,
            replaced: replaced)
        try DigestLedger.invalidate(db)
        try VersionTable.forgetCells(db, ofLost: numbers, in: table.number)
        // All rows came after what anybody can have: those who get them hear that they have no such value.
        guard !written.isEmpty else { return numbers }
        try LostColumns.note(db, numbers, of: table.number)
        try wantRows(of: table, column: column, metadata)
        try raiseDropped(to: written, in: table, metadata)
        return numbers
    }

    /// Has all rows of a table come again that are held here, with what is missing in them.
    private func wantRows(of table: SyncedTable, column: Int, _ metadata: StoreMetadata) throws {
        if let partial = try PartialTable.loadAll(db, metadata)[table.number] {
            return try partial.setValuesWanted(db)
        }
        let own = try metadata.replicaID()
        var known = try Coverage.load(db, metadata)[table.number].known
        // Own changes are those that nobody needs to have yet.
        known[own] = 0
        try PartialTable.beginAnew(
            db, table.number, column: column, own: VersionVector([own: metadata.vector[own]]))
        try PartialTable.loadAll(db, metadata)[table.number]?.raise(db, since: known, seen: known)
        try Coverage.remove(db, ofTable: table.number)
    }

    /// Writes that rows have no value in columns which lost it: nobody else has one that could come back. Where the table
    /// has such a column again, it is what the table shows.
    ///
    /// - parameters:
    ///     - columns: The numbers of the columns.
    ///     - condition: Which rows `r` of `_sync_row`, as SQL.
    func writeLost(_ columns: [Int], in table: SyncedTable, where condition: String) throws {
        let lost = table.columns.filter { columns.contains($0.number) }
        for column in lost {
            try log(
                table, ChangeLog.Operation.rewrite, of: column,
                where: """
                    \(table.keyAsBytes) IN (
                        SELECT r.pk FROM _sync_row AS r WHERE r.tbl = \(table.number) AND r.cl & 1 AND (\(condition))
                          AND \(LostColumns.isMissing(column.number)))
                    """)
        }
        try FoldedStore.fold(db, environment)
        try Parking.keepNothing(
            db, of: lost.filter { !$0.isPresent }.map(\.number), in: table.number)
    }

    /// Goes on without the lost values that this replica wrote itself, and that no other one is known to have. As long as
    /// others may have them, they are waited for.
    func abandonUnsentValues() throws {
        let metadata = try StoreMetadata.require(db)
        let own = try metadata.replicaID()
        for (number, partial) in try PartialTable.loadAll(db, metadata) {
            let columns = try LostColumns.numbers(db, of: number)
            guard !columns.isEmpty else { continue }
            let table = try SyncedTable.load(db, number: number)
            let sent = try lastSent(metadata)
            guard table.isTracked, partial.dropped[own] > sent else { continue }
            try writeLost(
                columns.sorted(), in: table, where: "r.sid = \(metadata.selfNumber) AND r.oseq > \(sent)")
            try PartialTable.lowerDropped(db, number, of: metadata.selfNumber, to: sent)
        }
    }
    /// Goes on without all values that are lost, because no replica has them any more: each row counts as written without
    /// them, and the table as held as a whole again.
    ///
    /// - returns: The names of the tables.
    func abandonLostValues() throws -> [String] {
        var names: [String] = []
        for number in try PartialTable.loadAll(db, StoreMetadata.require(db)).keys.sorted() {
            let columns = try LostColumns.numbers(db, of: number).sorted()
            guard !columns.isEmpty else { continue }
            let table = try SyncedTable.load(db, number: number)
            guard table.hasRows else { continue }
            try writeLost(columns, in: table, where: "1")
            try LostColumns.forget(db, of: number)
            try holdAgain(table)
            names.append(table.name)
        }
        return names
    }

    /// Holds a table as a whole again, as of what was known of it. That may be less than what is known of all tables by now,
    /// and so that is taken back, and goes on to hold of each of the others.
    private func holdAgain(_ table: SyncedTable) throws {
        let metadata = try StoreMetadata.require(db)
        let before = try Coverage.load(db, metadata)
        guard let partial = before.partials[table.number] else { return }
        guard partial.wantsEverything, partial.remote.isEmpty else {
            // The choice is the user's, and its rows come again.
            return try PartialTable.lowerDropped(
                db, table.number, of: metadata.selfNumber, to: lastSent(metadata))
        }
        let known = partial.known
        try PartialTable.remove(db, table.number)
        for replica in metadata.replicas where before.whole.known[replica.id] > known[replica.id] {
            try ReplicaRegister(db: db).setBack(replica.sid, to: known[replica.id])
            try Tombstones(db: db).setBackFloor(of: replica.sid, to: known[replica.id])
        }
        for other in try SyncedTable.loadAll(db)
        where other.number != table.number && before.partials[other.number] == nil {
            try Coverage.raise(db, other.number, to: before[other.number])
        }
        try Coverage.raise(
            db, table.number, to: Coverage.Part(known: known, floor: VersionVector()))
        try Coverage.normalize(db)
    }
}
