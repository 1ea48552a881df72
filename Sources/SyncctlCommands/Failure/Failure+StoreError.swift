import CipherStore
import Foundation

extension Failure {
    /// The words for what is wrong with a file or its key.
    ///
    /// - parameter name: The store of the command, as hints name it.
    init(_ error: StoreError, store name: String) {
        let text = error.description
        let path = error.path.map(CommandWords.path)
        switch error.code {
        case .missing:
            self.init(
                text, hints: ["make a store with: syncctl init \(path ?? "<store>")"],
                status: .storeMissing)
        case .empty:
            self.init(
                text,
                hints: ["remove the file, then make a store with: syncctl init \(path ?? "<store>")"],
                status: .storeMissing)
        case .busy: self.init(text, status: .storeBusy)
        case .replaced: self.init(text, status: .storeBusy)
        case .wrongPassphrase, .keyRequired:
            self.init(
                text,
                hints: [
                    "each store has a passphrase of its own; a remote's is given by --remote-passphrase-file, that of a store to clone by --clone-passphrase-file"
                ] + Self.hints(forKeyringOf: error.path), status: .noKeyOpens)
        case .plaintext:
            self.init(
                text,
                hints: [
                    "encrypt it into a new store with: syncctl init <store> --from \(path ?? "<file>")"
                ],
                status: .noKeyOpens)
        case .damaged:
            self.init(text, hints: Self.hints(forDamaged: path ?? name), status: .integrityFailed)
        case .formatTooNew:
            self.init(
                text, hints: [error.needsNewerLibrary ? "use a newer syncctl" : "install SQLCipher 4"],
                status: .versionMismatch)
        case .full: self = Self.elsewhere(full: error) ?? .full(error.path, "nothing was changed")
        case .exists:
            self.init(
                text,
                hints: [(["choose another name"] + Self.riddance(of: error.path)).joined(separator: ", or ")])
        case .keyringMissing, .keyringMismatch:
            // The one that is there may be all that opens another file.
            let aside = error.code == .keyringMismatch ? "rename the keyring that is there, and " : ""
            self.init(
                text,
                hints: [
                    "\(aside)put the keyring's file that belongs to the store beside it, such as one made by: syncctl key backup"
                ],
                status: .noKeyOpens)
        case .keyringDamaged, .archiveDamaged: self.init(text, status: .integrityFailed)
        case .otherSlots: self.init(text, hints: ["add --end-other-slots to remove them"])
        case .lastSlot, .slotInUse:
            self.init(text, hints: ["add another slot with: syncctl key add \(name)"])
        case .emptyPassphrase, .passphraseTooLong: self = .usage(text)
        case .cancelled: self.init(text, status: .cancelled)
        case .cannotRead, .cannotWrite:
            let obstacle = error.path.flatMap { FileObstacle.find($0, mayBeMissing: true) }
            let limit = error.code == .cannotWrite ? FileSizeLimit.current : nil
            self.init(text, hints: (obstacle?.hint ?? limit?.hint).map { [$0] } ?? [])
        default: self.init(text)
        }
    }

    /// The words for a bucket or a relay that takes no more, which the disk here has nothing to do with; nil for files here.
    private static func elsewhere(full error: StoreError) -> Failure? {
        guard let path = error.path else { return nil }
        // What a relay's mailbox says names the relay.
        if path.hasPrefix("https://") || path.hasPrefix("http://") {
            return Failure(error.message, hints: [relayRoomHint])
        }
        return path.hasPrefix("s3://") ? Failure(error.description) : nil
    }

    /// What helps where a relay has no room.
    package static var relayRoomHint: String {
        "whoever runs the relay gives more room: syncctl relay --quota"
    }

    /// How a file makes room: a keyring may open a copy of the store that was there, and a WAL or a journal may hold
    /// the latest changes of one that was moved. Nobody is told to remove a folder.
    private static func riddance(of path: String?) -> [String] {
        if let path, FileContent(ofFile: path) == .notRegular { return [] }
        let folded = path?.foldedIdentifier
        let isKeyring = [Keyring.suffix, Keyring.suffix + ".bak"].contains { folded?.hasSuffix($0) == true }
        let isNeeded = isKeyring || path.map(FileReplacement.mayHoldChanges) == true
        return [isNeeded ? "move the file away" : "remove the file"]
    }

    /// A store whose keyring is missing looks like one that the passphrase does not open.
    private static func hints(forKeyringOf store: String?) -> [String] {
        guard let store, FileContent(ofFile: store) != .sealed else { return [] }
        let keyring = Keyring(store: store)
        guard !keyring.exists else { return [] }
        let backup = keyring.path + ".bak"
        guard FileContent(ofFile: backup) != .missing else { return [] }
        return [
            "its keyring is missing, and a copy of it is there: cp \(CommandWords.path(backup)) \(CommandWords.path(keyring.path))"
        ]
    }
}
