import CipherStore
import SyncWire

/// Deletions that end a row of which their writer knew nothing: somebody else had made it under the same key, or had
/// got another identity, under which it told of the row anew.
///
/// A deletion is forgotten when everybody knows it. If it was, whoever did so takes such a row for a new one, and gives
/// it to others; whoever saw the deletion end it counts it as known, and never hears of it again. So the deletion is
/// told anew by whoever sees both: that one is not forgotten before everybody knows the row as well, and ends it
/// wherever it came to meanwhile.
struct HalfKnownDeletions {
    let edits: EngineEdits

    /// Tells a deletion anew if the row that it meets is one of an earlier life that its writer did not know.
    ///
    /// - parameters:
    ///     - change: What the bundle says: the row, or the deletion.
    ///     - local: What was here: the other one of the two.
    ///     - part: What is known of the table, by the sender and here.
    func note(
        _ change: RowChange, beside local: RowVersion, _ part: AppliedPart, _ table: Int64, _ key: RowKey
    ) throws {
        guard let base = change.base, change.isAlive ? change.life < local.life : change.life > local.life,
            !part.known.contains(base), !part.peer.contains(local.base)
        else { return }
        try edits.log(table, key, CaptureTriggers.Operation.delete)
    }
}
