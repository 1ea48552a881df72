/// What has to hold of the content that a copy is made of, such as that a log is processed.
///
/// A writer can come between the change that makes it hold and the snapshot that is copied. So
/// the snapshot itself is looked at, and where it does not hold the change is made again.
public struct StorePreparation {
    let prepare: (Database) throws -> Void
    let isPrepared: (Database) throws -> Bool

    /// Makes a preparation.
    ///
    /// - parameters:
    ///     - prepare: Changes the source, in a transaction of its own. Nothing is changed when the
    ///       source is prepared already.
    ///     - isPrepared: Says whether it holds; it must not write.
    public init(
        prepare: @escaping (Database) throws -> Void, isPrepared: @escaping (Database) throws -> Bool
    ) {
        self.prepare = prepare
        self.isPrepared = isPrepared
    }

    /// The most times that other writers may come between.
    private static let attemptCountMax = 100

    /// Reads a snapshot for which it holds.
    static func read(
        _ source: Database, preparedBy preparation: StorePreparation?, _ body: () throws -> Void
    ) throws {
        for _ in 0..<attemptCountMax {
            var isDone = false
            try source.inTransaction(.deferred) {
                if let preparation, try !preparation.isPrepared(source) { return .rollback }
                try body()
                isDone = true
                return .commit
            }
            if isDone { return }
            guard source.canWrite else {
                throw StoreError(
                    .cannotWrite,
                    "it can't be written, and has edits that have to be noted in it before it can be copied",
                    path: source.path)
            }
            try source.inTransaction(.immediate) {
                try preparation?.prepare(source)
                return .commit
            }
        }
        throw StoreError(
            .busy, "other connections write to it without a pause; try again when there is less to do",
            path: source.path)
    }
}
