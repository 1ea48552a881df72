import SyncEngine

extension Failure {
    /// The words for a failure of synchronization.
    ///
    /// - parameter name: The store of the command, as hints name it.
    init(_ error: SyncError, store name: String) {
        let isUndone = [.unrestorable, .incompleteRow, .parkedRow].contains(error.code)
        self.init(
            isUndone ? "\(error.message); nothing was changed" : error.message,
            hints: error.isOfSender || error.isOfRemote
                ? [Self.renewalHint(store: nil)] : Self.hints(error.code, store: name),
            status: Self.status(error.code))
    }

    /// What to do about a replica that was retired.
    ///
    /// - parameter name: Its store, as commands take it; nil for one of which only its own user knows where it is.
    static func renewalHint(store name: String?) -> String {
        guard let name else {
            return
                "where its store is, give it a new identity with: syncctl replica renew <its store>; nothing is lost"
        }
        return "give it a new identity with: syncctl replica renew \(name); nothing is lost"
    }

    private static func status(_ code: SyncError.Code) -> ExitStatus {
        switch code {
        case .otherStore,
            .sameReplica,
            .retiredReplica,
            .forkedReplica,
            .resyncRequired,
            .scopeUnsupported,
            .outsideScope,
            .notMember,
            .tooMuchAtOnce:
            .remoteRefused
        case .notSynchronized, .metadataTooNew: .versionMismatch
        case .damagedMetadata, .diverged: .integrityFailed
        case .changedMeanwhile: .storeBusy
        case .cancelled: .cancelled
        default: .failure
        }
    }

    /// What to do about a failure, one step each.
    private static func hints(_ code: SyncError.Code, store name: String) -> [String] {
        switch code {
        case .otherStore:
            ["replicas of one database are made with: syncctl init <new> --clone \(name)"]
        case .sameReplica:
            ["a copy that can be synchronized is made with: syncctl init <new> --clone \(name)"]
        case .retiredReplica:
            [renewalHint(store: name)]
        case .notMember:
            ["see who takes part: syncctl member list \(name)"]
        case .forkedReplica:
            ["or let both meet with: syncctl sync \(name)"]
        case .resyncRequired:
            ["meet a replica with: syncctl sync \(name), or apply a bundle of everything"]
        case .noSuchReplica:
            ["see: syncctl replica list \(name)"]
        case .notSynchronized:
            ["stores are made with: syncctl init, replicas with: syncctl init --clone"]
        case .metadataTooNew:
            ["use a newer syncctl"]
        case .missingChanges:
            [
                "say what is known here: syncctl bundle request \(name) --to <file>",
                "the sender then makes one that fits: syncctl bundle create <its store> --known-by <file>, or one of everything with --since-nothing",
            ]
        case .scopeUnsupported:
            [
                "bring all tables and rows here with: syncctl sync \(name) --remote <remote> --all-tables --all-rows"
            ]
        case .outsideScope:
            [
                "choose what it may have: syncctl sync \(name) --tables <table>,… or --rows <table>.<column>=<value>,…",
                "what a device may have is decided at the server: syncctl device scope <store> <device>",
            ]
        case .tooMuchAtOnce:
            ["the server allows more with: syncctl serve <store> … --apply-seconds <seconds>"]
        case .snapshotMissing:
            ["a replica puts one there with: syncctl sync <store> --remote dir:<folder> --snapshot"]
        case .unsuitableKey:
            [
                "a suitable table: CREATE TABLE t (id BLOB PRIMARY KEY, …) with 16-byte keys",
                "integer and other keys are turned into UUIDs with: syncctl track \(name) <table> --convert-keys",
            ]
        case .keysNotConvertible:
            ["what would change is shown by --dry-run; see docs/keys.md"]
        case .unsafeSchema:
            ["if the file is somebody else's, begin with that of another one; see docs/threat-model.md"]
        case .notComparable:
            ["synchronize them with: syncctl sync \(name) --remote <remote>"]
        default: conflictHints(code, store: name)
        }
    }

    /// What to do about a failure that is about conflicts.
    private static func conflictHints(_ code: SyncError.Code, store name: String) -> [String] {
        switch code {
        case .noSuchConflict, .conflictResolved:
            ["conflicts are shown by: syncctl conflicts list \(name) --resolved"]
        case .unrestorable:
            ["the value stays in the journal, and is shown by: syncctl conflicts show \(name) <id>"]
        case .incompleteRow:
            [
                "see there: syncctl conflicts list <its store>",
                "what is known of it, with defaults in the other columns: add --partial",
            ]
        case .parkedRow:
            [
                "see it, and the row that stands against it: syncctl parked show \(name) <key>",
                "when nothing stands against it any more: syncctl parked retry \(name), then restore again",
                "or leave the value as it is: syncctl conflicts resolve \(name) <id> ... --keep",
            ]
        default: []
        }
    }
}
