import CipherStore
import SyncWire

/// Tables whose rows another program took away, so that nobody saw their values go.
extension TableTracking {
    /// Notes that neither a table nor the values of its rows are here any more.
    ///
    /// Peers have them still. The store stops to say that it knows the rows, or it would hand them on without their
    /// values, and others would believe it. It asks for all of them, as one does that held some rows only
    /// (``PartialTable``), and then they wait here until there is a table for them. The log has to be folded.
    ///
    /// Hidden rows that nobody else has are not lost, because all of their values are parked. They stay, and are sent.
    func lose(_ table: SyncedTable) throws {
        try table.setElsewhere(db)
        // A row that is nothing but a key lost nothing.
        guard let column = table.columns.map(\.number).min() else { return }
        let metadata = try StoreMetadata.require(db)
        try DigestLedger.invalidate(db)
        try VersionTable.forgetRows(
            db, of: table.number, keeping: hiddenRowsOfNobodyElse(in: table, metadata))
        try Parking.loseTable(db, table.number)
        try LostColumns.forget(db, of: table.number)
        try Coverage.remove(db, ofTable: table.number)
        guard try PartialTable.loadAll(db, metadata)[table.number] == nil else {
            // The choice of rows is the user's, or what a server allows, and stays.
            return try PartialTable.setNothingHeld(db, table.number)
        }
        let own = try metadata.replicaID()
        try PartialTable.beginAnew(
            db, table.number, column: column, own: VersionVector([own: metadata.vector[own]]))
    }

    /// The last change of this replica that another one is known to have. One may have more that was not heard of since.
    func lastSent(_ metadata: StoreMetadata) throws -> Int64 {
        let own = try metadata.replicaID()
        let known = try ReplicaRegister(db: db).knownOfHeldTables(metadata)
        let acknowledged = try Int64.fetchOne(db, sql: "SELECT max(acked) FROM _sync_peer") ?? 0
        return known.filter { $0.key != own }.reduce(acknowledged) { max($0, $1.value[own]) }
    }

    /// The numbers of hidden rows that this replica alone wrote, by changes that no other one is known to have.
    ///
    /// A row that somebody has comes back from there, as it is by then: it may have been deleted, and nobody may know so
    /// any more.
    private func hiddenRowsOfNobodyElse(
        in table: SyncedTable, _ metadata: StoreMetadata
    ) throws -> Set<Int64> {
        let sent = try lastSent(metadata)
        // A row without the time at which it was hidden is of a program of version 2, which left parts of such rows in the
        // table.
        return try Int64.fetchSet(
            db,
            sql: """
                SELECT r.r FROM _sync_hidden AS h JOIN _sync_row AS r ON r.tbl = h.tbl AND r.pk = h.pk
                WHERE h.tbl = :table AND h.since > 0 AND r.cl & 1 AND r.sid = :own AND r.oseq > :sent
                  AND NOT EXISTS (SELECT 1 FROM _sync_cell AS c WHERE c.r = r.r AND c.sid <> :own)
                """, arguments: ["table": table.number, "own": metadata.selfNumber, "sent": sent])
    }
}
