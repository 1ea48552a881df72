import SyncWire

/// The time that a bundle may take to apply, while nobody else can write.
///
/// It counts while the rows of a bundle come, but for the first one, and while others change because of them. Those are not
/// counted where the sender says that it can't divide the bundle: it would be refused for ever, with all that its sender
/// writes later.
final class ApplicationClock {
    private let terms: UploadTerms
    private var isOverdue: @Sendable () -> Bool = { false }
    private var rowCount = 0

    /// Makes a clock that does not run yet.
    init(_ terms: UploadTerms) { self.terms = terms }

    /// Starts the clock: what comes from now on is the bundle's.
    func start() {
        assert(rowCount == 0, "the time of a bundle begins before its rows")
        isOverdue = terms.startClock()
    }

    /// Counts a row of the bundle that is about to be applied.
    ///
    /// - throws: ``SyncError`` of code `tooMuchAtOnce` when the bundle has taken the time that it may take. The first row
    ///   always may come: no bundle can bring less.
    func beginRow() throws {
        rowCount += 1
        if rowCount > 1 { try requireTime() }
    }

    /// Asks for time for a row that changes because of those of the bundle, such as one whose parent is gone.
    ///
    /// - throws: As above, unless the bundle can't be divided.
    func requireTimeForOthers() throws {
        guard rowCount > 1, !terms.isIndivisible else { return }
        try requireTime()
    }

    private func requireTime() throws {
        guard isOverdue() else { return }
        throw SyncError(
            .tooMuchAtOnce,
            """
            the bundle takes longer to apply than others are to wait; nothing of it was applied; send less at once, or \
            have the server allow more time
            """)
    }
}
