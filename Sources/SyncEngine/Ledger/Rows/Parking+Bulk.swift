import CipherStore
import SyncWire

/// What happens to parked values, and to the list of hidden rows, by statements of their own, most of them for many rows.
extension Parking {

    // MARK: Writes of this replica

    /// The parked values that local writes replace, as SQL, while a fold lists them in `temp._sync_fold` and
    /// `temp._sync_written`.
    ///
    /// `INSERT OR REPLACE` writes the columns that are here: what peers have in
    /// others stays, as part of the new row.
    static let isReplacedByFold = """
        (EXISTS (
            SELECT 1 FROM temp._sync_fold AS f
            WHERE f.tbl = _sync_shadow.tbl AND f.pk = _sync_shadow.pk AND f.turns > 0
              AND NOT (f.alive AND f.cl & 1 AND EXISTS (
                SELECT 1 FROM _sync_column AS a
                WHERE a.tbl = f.tbl AND a.col = _sync_shadow.col AND a.present <> 1)))
        OR EXISTS (
            SELECT 1 FROM temp._sync_written AS w
            WHERE w.tbl = _sync_shadow.tbl AND w.pk = _sync_shadow.pk AND w.col = _sync_shadow.col))
        """
}
