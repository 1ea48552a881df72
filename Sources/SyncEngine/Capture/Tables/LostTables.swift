import CipherStore
import SyncWire

/// Tables whose rows another program took away, so that nobody saw their values go.
extension TableTracking {
    /// Notes that neither a table nor the values of its rows are here any more.
    ///
    /// Peers have them still. The store stops to say that it knows the rows, or it would hand them on without their
    /// values, and others would believe it. It asks for all of them, as one does that held some rows only
    /// (``PartialTable``), and then they wait here until there is a table for them. The log has to be folded.
    func lose(_ table: SyncedTable) throws {
        try table.setElsewhere(db)
        // A row that is nothing but a key lost nothing.
        guard let column = table.columns.map(\.number).min() else { return }
        let metadata = try StoreMetadata.require(db)
        try DigestLedger.invalidate(db)
        try Parking.forget(db, rowsOf: table.number)
        try VersionTable.forgetRows(db, of: table.number)
        try Coverage.remove(db, ofTable: table.number)
        guard try PartialTable.loadAll(db, metadata)[table.number] == nil else {
            // The choice of rows is the user's, or what a server allows, and stays.
            return try PartialTable.setNothingHeld(db, table.number)
        }
        let own = try metadata.replicaID()
        try PartialTable.beginAnew(
            db, table.number, column: column, own: VersionVector([own: metadata.vector[own]]))
    }
}
