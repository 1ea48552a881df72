import CipherStore
import SyncWire

/// What the application of any bundle writes to and looks at, before anything is known of the bundle.
struct ApplyingStores {
    /// The store as it was before the bundle.
    let folded: FoldedStore
    /// What the sender may bring.
    let terms: UploadTerms
    let access: DeviceAccess?
    let uploads: UploadedRows?
    let versions: VersionTable
    let journal: ConflictJournal
    let parking: Parking
    let lastRows: LastRows
    let clock: ApplicationClock

    var db: Database { folded.db }
    var environment: SyncEnvironment { folded.environment }

    /// Opens them in the transaction of the application.
    init(_ store: FoldedStore, _ terms: UploadTerms) throws {
        let (db, environment) = (store.db, store.environment)
        folded = store
        self.terms = terms
        access = try terms.bounds.map { try DeviceAccess(db, $0) }
        uploads = try access.map { try UploadedRows(db, $0) }
        versions = try VersionTable(db)
        journal = try ConflictJournal(db, at: environment.milliseconds())
        parking = try Parking(db, now: environment.milliseconds())
        lastRows = LastRows(db)
        clock = ApplicationClock(terms)
    }
}
