import SyncWire

/// The time that a bundle may take to apply, while nobody else can write.
///
/// What its sender can divide is measured: the rows of a bundle, and what follows from them. What it can't divide is not:
/// it would be refused for ever, with all that its sender writes later.
final class ApplicationClock {
    /// The rows that a bundle may bring, which can't be divided any further, before its time counts. A portion ends where the
    /// chain of its replica has a point: after 256 changes, or after more where points were left out.
    private static let indivisibleRowCount = 1024

    private let isOverdue: @Sendable () -> Bool
    private let isIndivisible: Bool
    private var rowCount = 0

    /// Starts the clock.
    init(_ terms: UploadTerms) {
        isIndivisible = terms.isIndivisible
        isOverdue = terms.startClock()
    }

    /// Counts a row of the bundle that is about to be applied.
    ///
    /// - throws: ``SyncError`` of code `tooMuchAtOnce` when the bundle has taken the time that it may take. The first row
    ///   always may come: no bundle can bring less. So may the first thousand of one that can't be divided.
    func beginRow() throws {
        rowCount += 1
        if rowCount > (isIndivisible ? Self.indivisibleRowCount : 1) { try requireTime() }
    }

    /// Asks for time for a row that changes because of those of the bundle, such as one whose parent is gone.
    ///
    /// - throws: As above, unless the bundle can't be divided.
    func requireTimeForOthers() throws {
        guard rowCount > 1, !isIndivisible else { return }
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
