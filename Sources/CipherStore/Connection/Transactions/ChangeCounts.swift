/// What SQLite counts of changes, as a statement has left it.
///
/// Who is told of a commit can write. When a statement was a transaction of its own, that comes before
/// whoever has run the statement can ask what it did.
struct ChangeCounts {
    /// The rowid of the last inserted row.
    let lastInsertedRowID: Int64

    /// The number of rows that the statement changed, without those that triggers did.
    let changes: Int

    /// The number of rows that were changed since the connection opened.
    let totalChanges: Int

    init(_ db: Database) {
        lastInsertedRowID = db.lastInsertedRowID
        changes = db.changesCount
        totalChanges = db.totalChangesCount
    }
}

extension Database {
    /// Forgets what earlier statements have left. To be called before a statement about which the
    /// properties below are asked.
    @inline(__always)
    func forgetChangeCounts() { transactionEnd.counts = nil }

    /// What the last statement has left, whatever was changed by those who were told of its commit.
    var changeCounts: ChangeCounts { transactionEnd.counts ?? ChangeCounts(self) }

    /// The rowid of the row that the last statement has inserted.
    @inline(__always)
    var writtenRowID: Int64 { transactionEnd.counts?.lastInsertedRowID ?? lastInsertedRowID }

    /// Begins to count the changes of a statement.
    ///
    /// - returns: The number of changes before it.
    func beginCountingChanges() -> Int {
        forgetChangeCounts()
        return totalChangesCount
    }
}
