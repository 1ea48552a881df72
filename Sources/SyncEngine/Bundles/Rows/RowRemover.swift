import CipherStore
import SyncWire

/// Takes rows out of this replica that are no longer among those that it holds: with their versions and
/// all that waits of them, and without a deletion. Capture is muted while it works.
struct RowRemover {
    let db: Database
    let versions: VersionTable
    let parking: Parking
    let settlement: Settlement

    /// Takes a row out.
    func remove(
        _ local: (row: Int64, version: RowVersion), _ table: AppliedTable, _ key: RowKey,
        _ partial: PartialTable
    ) throws {
        assert(local.version.isAlive, "a deletion is not taken out")
        let number = table.table.number
        assert(partial.number == number)
        var dropped = VersionVector()
        for stamp in local.version.stamps where partial.own[stamp.replica] >= stamp.sequence {
            dropped[stamp.replica] = max(dropped[stamp.replica], stamp.sequence)
        }
        assert(partial.own.covers(dropped), "somebody else's changes are not dropped here")
        if !partial.dropped.covers(dropped) { try partial.raise(db, dropped: dropped) }
        try partial.setIncomplete(db)
        try settlement.touch(number, key)
        try versions.remove(local.version, row: local.row, number, key)
        try parking.remove(number, key)
        try table.delete(key)
        try unmark(number, key)
    }

    /// Marks a row that left, and waits.
    func mark(_ table: Int64, _ key: RowKey) throws {
        try PartialTable.markLeft(db, table, key)
    }

    /// Takes the mark away.
    func unmark(_ table: Int64, _ key: RowKey) throws {
        try PartialTable.unmarkLeft(db, table, key)
    }
}
