import ArgumentParser
import CipherStore
import Foundation
import SyncEngine
import SyncWire

extension Failure {
    /// Turns any error into words for the user and an exit code. The one place
    /// where errors of the libraries get their exit codes.
    package init(explaining error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as StoreError: self.init(error)
        case let error as SyncError: self.init(error)
        case let error as DatabaseError: self.init(error)
        case let error as CSVError:
            self.init(error.description, hints: error.hint.map { [$0] } ?? [])
        case let error as WireError:
            self.init("the remote sent something that can't be right: \(error)")
        case let error as ValidationError:
            self = .usage(error.message)
        case let error as CocoaError:
            // Its description is a dump of its user info.
            self.init(error.localizedDescription)
        default:
            self = NetworkSupport.access?.failure(explaining: error) ?? Failure("\(error)")
        }
    }

    private init(_ error: StoreError) {
        let text = error.description
        switch error.code {
        case .missing:
            self.init(
                text, hints: ["make a store with: syncctl init \(error.path ?? "<store>")"],
                status: .storeMissing)
        case .empty:
            self.init(
                text,
                hints: ["remove the file, then make a store with: syncctl init \(error.path ?? "<store>")"],
                status: .storeMissing)
        case .busy: self.init(text, status: .storeBusy)
        case .replaced: self.init(text, status: .storeBusy)
        case .wrongPassphrase, .keyRequired:
            self.init(
                text,
                hints: [
                    "each store has a passphrase of its own; a remote's is given by --remote-passphrase-file, that of a store to clone by --clone-passphrase-file"
                ],
                status: .noKeyOpens)
        case .plaintext:
            self.init(
                text,
                hints: [
                    "encrypt it into a new store with: syncctl init <store> --from \(error.path ?? "<file>")"
                ],
                status: .noKeyOpens)
        case .damaged: self.init(text, status: .integrityFailed)
        case .formatTooNew: self.init(text, hints: ["install SQLCipher 4"], status: .versionMismatch)
        case .full: self.init(text, hints: ["free some space and try again"])
        case .exists: self.init(text, hints: ["choose another name, or remove the file"])
        case .keyringMissing, .keyringMismatch:
            self.init(
                text,
                hints: [
                    "put the keyring's file that belongs to the store beside it, such as one made by: syncctl key backup"
                ],
                status: .noKeyOpens)
        case .keyringDamaged, .archiveDamaged: self.init(text, status: .integrityFailed)
        case .otherSlots: self.init(text, hints: ["add --end-other-slots to remove them"])
        case .lastSlot, .slotInUse:
            self.init(text, hints: ["add another slot with: syncctl key add"])
        case .emptyPassphrase, .passphraseTooLong: self = .usage(text)
        case .cancelled: self.init(text, status: .cancelled)
        default: self.init(text)
        }
    }

    private init(_ error: SyncError) {
        switch error.code {
        case .otherStore:
            self.init(
                error.message,
                hints: ["replicas of one database are made with: syncctl init <new> --clone <store>"],
                status: .remoteRefused)
        case .sameReplica:
            self.init(
                error.message,
                hints: ["a copy that can be synchronized is made with: syncctl init <new> --clone <store>"],
                status: .remoteRefused)
        case .retiredReplica:
            self.init(
                error.message,
                hints: ["give it a new identity with: syncctl replica renew <store>; nothing is lost"],
                status: .remoteRefused)
        case .forkedReplica:
            self.init(
                error.message, hints: ["or let both meet with: syncctl sync"], status: .remoteRefused)
        case .resyncRequired:
            self.init(
                error.message, hints: ["meet a replica with: syncctl sync, or apply a bundle of everything"],
                status: .remoteRefused)
        case .noSuchReplica:
            self.init(error.message, hints: ["see: syncctl replica list <store>"])
        case .notSynchronized:
            self.init(
                error.message,
                hints: ["stores are made with: syncctl init, replicas with: syncctl init --clone"],
                status: .versionMismatch)
        case .metadataTooNew:
            self.init(error.message, hints: ["install a newer syncctl"], status: .versionMismatch)
        case .damagedMetadata: self.init(error.message, status: .integrityFailed)
        case .missingChanges:
            self.init(
                error.message,
                hints: [
                    "say what is known here: syncctl bundle request <store> --to <file>",
                    "the sender then makes one that fits: syncctl bundle create <store> --known-by <file>, or one of everything with --since-nothing",
                ])
        case .scopeUnsupported:
            self.init(
                error.message,
                hints: [
                    "bring all tables and rows here with: syncctl sync <store> --remote <store> --all-tables --all-rows"
                ],
                status: .remoteRefused)
        case .outsideScope:
            self.init(
                error.message,
                hints: [
                    "choose what it may have: syncctl sync <store> --tables <table>,… or --rows <table>.<column>=<value>,…",
                    "what a device may have is decided at the server: syncctl device scope <store> <device>",
                ],
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
                    "integer and other keys are turned into UUIDs with: syncctl track --convert-keys",
                ])
        case .keysNotConvertible:
            self.init(error.message, hints: ["what would change is shown by --dry-run; see docs/keys.md"])
        case .noSuchConflict, .conflictResolved:
            self.init(
                error.message, hints: ["conflicts are shown by: syncctl conflicts list <store> --resolved"])
        case .unrestorable:
            self.init(
                "\(error.message); nothing was changed",
                hints: ["the value stays in the journal, and is shown by: syncctl conflicts show"])
        case .notComparable:
            self.init(error.message, hints: ["synchronize them with: syncctl sync"])
        case .diverged: self.init(error.message, status: .integrityFailed)
        case .changedMeanwhile: self.init(error.message, status: .storeBusy)
        case .cancelled: self.init(error.message, status: .cancelled)
        default: self.init(error.message)
        }
    }

    private init(_ error: DatabaseError) {
        if let storeError = error.storeError {
            self.init(storeError)
            return
        }
        if error.saysDiskIsFull {
            self.init(
                "the disk is full; what was not finished was undone", hints: ["free some space and try again"]
            )
            return
        }
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(
                "the store is in use by another process", hints: ["try again when it is done"],
                status: .storeBusy)
        case .SQLITE_NOTADB: self.init(error.message ?? "not a database", status: .noKeyOpens)
        case .SQLITE_CORRUPT:
            self.init("the store is damaged: \(error.message ?? "")", status: .integrityFailed)
        case .SQLITE_INTERRUPT: self = .cancelled
        default: self.init(error.description)
        }
    }
}
