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
    ///
    /// - parameter replaced: The versions from before the fold.
    func lose(_ table: SyncedTable, _ replaced: ReplacedVersions) throws {
        try table.setElsewhere(db)
        // A row that is nothing but a key lost nothing.
        guard let column = table.columns.map(\.number).min() else { return }
        let metadata = try StoreMetadata.require(db)
        let sent = try lastSent(metadata)
        let written = try lastWrites(ofLost: table, metadata, sent: sent, replaced)
        try DigestLedger.invalidate(db)
        try VersionTable.forgetRows(
            db, of: table.number, keeping: hiddenRowsOfNobodyElse(in: table, metadata, sent: sent))
        try Parking.loseTable(db, table.number)
        try LostColumns.forget(db, of: table.number)
        try Coverage.remove(db, ofTable: table.number)
        if try PartialTable.loadAll(db, metadata)[table.number] == nil {
            let own = try metadata.replicaID()
            try PartialTable.beginAnew(
                db, table.number, column: column, own: VersionVector([own: metadata.vector[own]]))
        } else {
            // The choice of rows is the user's, or what a server allows, and stays.
            try PartialTable.setNothingHeld(db, table.number)
        }
        try raiseDropped(to: written, in: table, metadata)
    }

    /// Notes up to where changes of this replica, and of its former identities, were in what is gone. Who does not know them
    /// gets nothing of the table from here: they would count as known there, and nobody would send them any more.
    func raiseDropped(
        to written: [(sid: Int64, sequence: Int64)], in table: SyncedTable, _ metadata: StoreMetadata
    ) throws {
        guard let partial = try PartialTable.loadAll(db, metadata)[table.number] else { return }
        var dropped = VersionVector()
        for replica in metadata.replicas where partial.own[replica.id] > 0 {
            guard let last = written.first(where: { $0.sid == replica.sid }) else { continue }
            dropped[replica.id] = min(last.sequence, partial.own[replica.id])
        }
        try partial.raise(db, dropped: dropped)
    }

    /// The last change of each replica, by its number, that wrote a row that is about to be forgotten, and that anybody else
    /// can have.
    ///
    /// What this replica wrote after the last fold is nowhere any more. But it may have replaced what others have, and that
    /// has to be named in its place: no later change, because nobody could ever have one that other tables took.
    private func lastWrites(
        ofLost table: SyncedTable, _ metadata: StoreMetadata, sent: Int64, _ replaced: ReplacedVersions
    ) throws -> [(sid: Int64, sequence: Int64)] {
        let isForgotten = "l.tbl = :table AND l.cl & 1 AND l.r NOT IN (\(Self.hiddenRowsOfNobodyElse))"
        return try Row.fetchAll(
            db,
            sql: """
                SELECT sid, max(oseq) FROM (
                    SELECT l.sid AS sid, l.oseq AS oseq FROM _sync_row AS l WHERE \(isForgotten)
                    UNION ALL
                    SELECT w.sid, w.oseq FROM _sync_row AS l CROSS JOIN _sync_cell AS w ON w.r = l.r WHERE \(isForgotten)
                    UNION ALL
                    SELECT v.sid, v.oseq FROM \(replaced.source) AS v CROSS JOIN _sync_row AS l ON l.r = v.r
                    WHERE \(isForgotten))
                WHERE sid <> :own OR oseq <= :folded GROUP BY sid
                """,
            arguments: [
                "table": table.number, "own": metadata.selfNumber, "sent": sent, "folded": replaced.folded,
            ]
        ).map { (sid: try $0.decode(atIndex: 0), sequence: try $0.decode(atIndex: 1)) }
    }

    /// The last change of this replica that another one is known to have. One may have more that was not heard of since.
    func lastSent(_ metadata: StoreMetadata) throws -> Int64 {
        let own = try metadata.replicaID()
        let known = try ReplicaRegister(db: db).knownOfHeldTables(metadata)
        let acknowledged = try Int64.fetchOne(db, sql: "SELECT max(acked) FROM _sync_peer") ?? 0
        return known.filter { $0.key != own }.reduce(acknowledged) { max($0, $1.value[own]) }
    }

    /// Selects the hidden rows that this replica alone wrote, by changes that no other one is known to have.
    ///
    /// A row without the time at which it was hidden is of a program of version 2, which left parts of such rows in the
    /// table.
    private static let hiddenRowsOfNobodyElse = """
        SELECT r.r FROM _sync_hidden AS h CROSS JOIN _sync_row AS r ON r.tbl = h.tbl AND r.pk = h.pk
        WHERE h.tbl = :table AND h.since > 0 AND r.cl & 1 AND r.sid = :own AND r.oseq > :sent
          AND NOT EXISTS (SELECT 1 FROM _sync_cell AS c WHERE c.r = r.r AND c.sid <> :own)
        """

    /// The numbers of such rows.
    ///
    /// A row that somebody has comes back from there, as it is by then: it may have been deleted, and nobody may know so
    /// any more.
    private func hiddenRowsOfNobodyElse(
        in table: SyncedTable, _ metadata: StoreMetadata, sent: Int64
    ) throws -> Set<Int64> {
        try Int64.fetchSet(
            db, sql: Self.hiddenRowsOfNobodyElse,
            arguments: ["table": table.number, "own": metadata.selfNumber, "sent": sent])
    }
}
