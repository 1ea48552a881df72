import SyncEngine

extension Failure {
    /// The words for a failure of synchronization.
    ///
    /// - parameter name: The store of the command, as hints name it.
    init(_ error: SyncError, store name: String) {
        switch error.code {
        case .otherStore:
            self.init(
                error.message,
                hints: ["replicas of one database are made with: syncctl init <new> --clone \(name)"],
                status: .remoteRefused)
        case .sameReplica:
            self.init(
                error.message,
                hints: ["a copy that can be synchronized is made with: syncctl init <new> --clone \(name)"],
                status: .remoteRefused)
        case .retiredReplica:
            self.init(
                error.message,
                hints: ["give it a new identity with: syncctl replica renew \(name); nothing is lost"],
                status: .remoteRefused)
        case .forkedReplica:
            self.init(
                error.message, hints: ["or let both meet with: syncctl sync \(name)"], status: .remoteRefused)
        case .resyncRequired:
            self.init(
                error.message,
                hints: ["meet a replica with: syncctl sync \(name), or apply a bundle of everything"],
                status: .remoteRefused)
        case .noSuchReplica:
            self.init(error.message, hints: ["see: syncctl replica list \(name)"])
        case .notSynchronized:
            self.init(
                error.message,
                hints: ["stores are made with: syncctl init, replicas with: syncctl init --clone"],
                status: .versionMismatch)
        case .metadataTooNew:
            self.init(error.message, hints: ["use a newer syncctl"], status: .versionMismatch)
        case .damagedMetadata: self.init(error.message, status: .integrityFailed)
        case .missingChanges:
            self.init(
                error.message,
                hints: [
                    "say what is known here: syncctl bundle request \(name) --to <file>",
                    "the sender then makes one that fits: syncctl bundle create <its store> --known-by <file>, or one of everything with --since-nothing",
                ])
        case .scopeUnsupported:
            self.init(
                error.message,
                hints: [
                    "bring all tables and rows here with: syncctl sync \(name) --remote <remote> --all-tables --all-rows"
                ],
                status: .remoteRefused)
        case .outsideScope:
            self.init(
                error.message,
                hints: [
                    "choose what it may have: syncctl sync \(name) --tables <table>,… or --rows <table>.<column>=<value>,…",
                    "what a device may have is decided at the server: syncctl device scope <store> <device>",
                ],
                status: .remoteRefused)
        case .tooMuchAtOnce:
            self.init(
                error.message,
                hints: ["the server allows more with: syncctl serve <store> … --apply-seconds <seconds>"],
                status: .remoteRefused)
        case .snapshotMissing:
            self.init(
                error.message,
                hints: [
                    "a replica puts one there with: syncctl sync <store> --remote dir:<folder> --snapshot"
                ])
        case .unsuitableKey:
            self.init(
                error.message,
                hints: [
                    "a suitable table: CREATE TABLE t (id BLOB PRIMARY KEY, …) with 16-byte keys",
                    "integer and other keys are turned into UUIDs with: syncctl track \(name) <table> --convert-keys",
                ])
        case .keysNotConvertible:
            self.init(error.message, hints: ["what would change is shown by --dry-run; see docs/keys.md"])
        case .noSuchConflict, .conflictResolved:
            self.init(
                error.message, hints: ["conflicts are shown by: syncctl conflicts list \(name) --resolved"])
        case .unrestorable:
            self.init(
                "\(error.message); nothing was changed",
                hints: [
                    "the value stays in the journal, and is shown by: syncctl conflicts show \(name) <id>"
                ])
        case .incompleteRow:
            self.init(
                "\(error.message); nothing was changed",
                hints: [
                    "see there: syncctl conflicts list <its store>",
                    "what is known of it, with defaults in the other columns: add --partial",
                ])
        case .notComparable:
            self.init(error.message, hints: ["synchronize them with: syncctl sync \(name) --remote <remote>"])
        case .diverged: self.init(error.message, status: .integrityFailed)
        case .changedMeanwhile: self.init(error.message, status: .storeBusy)
        case .cancelled: self.init(error.message, status: .cancelled)
        default: self.init(error.message)
        }
    }
}
