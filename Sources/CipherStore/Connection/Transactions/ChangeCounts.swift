/// What SQLite counts of changes, as a statement has left it.
///
/// Who is told of a commit can write, and that comes before whoever has run the statement, or has ended the
/// transaction, can ask what it did.
struct ChangeCounts {
    /// What SQLite itself says now.
    private struct Said: Equatable {
        let rowID: Int64
        let changes: Int
        let totalChanges: Int

        init(_ db: Database) {
            // Who is told can close the connection.
            rowID = db.isClosed ? 0 : SQLiteHandle.lastInsertedRowID(db.handle)
            changes = db.isClosed ? 0 : SQLiteHandle.changesCount(db.handle)
            totalChanges = db.totalChangesCount
        }
    }

    /// The rowid of the last inserted row.
    let lastInsertedRowID: Int64

    /// The number of rows that the statement changed, without those that triggers did.
    let changes: Int

    /// The number of rows that were changed since the connection opened.
    let totalChanges: Int

    /// What SQLite said once all had been told; nil until then.
    private var onceTold: Said?

    /// Whether the statement was run as several ones, of which SQLite knows the last.
    private let isOfSeveral: Bool

    init(_ db: Database) {
        lastInsertedRowID = db.lastInsertedRowID
        changes = db.changesCount
        totalChanges = db.totalChangesCount
        isOfSeveral = false
    }

    /// What a statement has left that was run as several ones.
    ///
    /// - parameter changes: The number of rows that all of them changed.
    init(_ db: Database, ofSeveral changes: Int) {
        lastInsertedRowID = db.lastInsertedRowID
        self.changes = changes
        totalChanges = db.totalChangesCount
        isOfSeveral = true
    }

    /// The same, once all have been told.
    func told(_ db: Database) -> ChangeCounts {
        var counts = self
        counts.onceTold = Said(db)
        return counts
    }

    /// The rowid of the last row that was inserted; nil when that is for SQLite to say.
    func rowIDOfLastInsertion(_ db: Database) -> Int64? { isLast(in: db) ? lastInsertedRowID : nil }

    /// The number of rows that the last statement changed; nil when that is for SQLite to say. Where it says zero, a
    /// statement by the C API may have changed nothing since, which leaves no other trace.
    func changesOfLastStatement(_ db: Database) -> Int? {
        (isOfSeveral || onceTold?.changes != 0) && isLast(in: db) ? changes : nil
    }

    /// Whether no statement has written since all were told. Those of the library forget this when they begin
    /// (``Database/willRunWatched(_:)``), and those by the C API show in what SQLite says: while they run, they are busy.
    private func isLast(in db: Database) -> Bool {
        onceTold == Said(db) && !SQLiteHandle.isWriting(db.handle)
    }
}

extension Database {
    /// Forgets what earlier statements have left. To be called before a statement about which the
    /// properties below are asked.
    @inline(__always)
    func forgetChangeCounts() { transactionEnd.counts = nil }

    /// Notes how many rows a statement changed that was run as several ones. SQLite would say that of the last one.
    package func noteChanges(_ count: Int) {
        guard !isClosed, count != changesCount else { return }
        transactionEnd.counts = ChangeCounts(self, ofSeveral: count).told(self)
        watch.keepsCounts = true
    }

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
