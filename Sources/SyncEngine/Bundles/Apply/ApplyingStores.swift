import CipherStore
import SyncWire

/// What the application of any bundle writes to and looks at, before anything is known of the bundle.
struct ApplyingStores {
    let db: Database
    let environment: SyncEnvironment
    /// What the sender may bring.
    let terms: UploadTerms
    let access: DeviceAccess?
    let uploads: UploadedRows?
    let versions: VersionTable
    let journal: ConflictJournal
    let parking: Parking
    let lastRows: LastRows
    private let isOverdue: @Sendable () -> Bool

    /// Opens them in the transaction of the application. The log is folded.
    init(_ db: Database, _ environment: SyncEnvironment, _ terms: UploadTerms) throws {
        self.db = db
        self.environment = environment
        self.terms = terms
        access = try terms.bounds.map { try DeviceAccess(db, $0) }
        uploads = try access.map { try UploadedRows(db, $0) }
        versions = try VersionTable(db)
        journal = try ConflictJournal(db, at: environment.milliseconds())
        parking = try Parking(db, now: environment.milliseconds())
        lastRows = LastRows(db)
        // The fold came before it: that was others' work.
        isOverdue = terms.startClock()
    }

    /// - throws: ``SyncError`` of code `tooMuchAtOnce` when the bundle has taken the time that it may take.
    func requireTime() throws {
        guard isOverdue() else { return }
        throw SyncError(
            .tooMuchAtOnce,
            """
            the bundle takes longer to apply than others are to wait; nothing of it was applied; send less at once, or \
            have the server allow more time
            """)
    }
}
