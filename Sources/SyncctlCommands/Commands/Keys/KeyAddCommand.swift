import ArgumentParser
import CipherStore
import Foundation

/// Adds a slot, and makes the keyring when there is none.
struct KeyAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a passphrase, a recovery key or a key file.",
        usage: "syncctl key add <store> [--recovery | --new-key-file <file>] [--label <text>] [<options>]",
        discussion: """
            A store that has no key slots yet is copied under a random key, and its passphrase becomes \
            its first slot. Nobody else may have the store open then.

            EXAMPLES:
              A second passphrase:
                syncctl key add notes.db --label phone --new-passphrase-file pw2
              A recovery key, printed once:
                syncctl key add notes.db --recovery --label safe
              A key file, for a server or a USB stick (not FAT, where all can read it):
                syncctl key add notes.db --new-key-file /media/usb/notes.key
            """)

    @OptionGroup var options: StoreOptions

    @Flag(help: "Add a recovery key, and print it once.")
    var recovery = false

    @Option(
        help: ArgumentHelp("Add a key file, and write it here.", valueName: "file"), completion: .file())
    var newKeyFile: String?

    @OptionGroup(title: "New passphrase")
    var newPassphrase: NewPassphraseOptions

    @Option(help: ArgumentHelp("What the slot is called; it is not encrypted.", valueName: "text"))
    var label = ""

    @OptionGroup var cost: CostOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        let kinds = [recovery, newKeyFile != nil, newPassphrase.isPassphraseGiven].filter { $0 }
        if kinds.count > 1 {
            throw ValidationError("--recovery, --new-key-file and a new passphrase exclude each other")
        }
    }

    private struct Document: Encodable {
        let store: String
        let slot: SlotDocument
        let recoveryKey: String?
    }

    func run() throws {
        try CommandContext.run(global) { context in
            try StoreFileCheck.requireStore(options.store)
            let known = try context.storeSecret(options)
            let keyring = Keyring(store: options.store)
            if try isUsed(keyring, known) { _ = try keyring.verify(known) }
            if recovery {
                try addRecoveryKey(keyring, known, context)
            } else if let newKeyFile {
                try StoreFileCheck.requirePlace(of: newKeyFile)
                let secret = try Secret.makeKeyFile(at: newKeyFile)
                let slot: KeySlot
                do {
                    slot = try add(secret, keyring, known, context)
                } catch {
                    // It opens nothing.
                    unlink(newKeyFile)
                    throw error
                }
                try print(slot, context)
                context.note("whoever reads \(newKeyFile) opens the store; keep it away from it")
            } else {
                guard let passphrase = try context.passphrase(newPassphrase, for: options.store) else {
                    throw Failure.usage("no new passphrase", hints: ["use --new-passphrase-file"])
                }
                try requireUnused(passphrase, keyring, known)
                let slot = try add(Secret(passphrase), keyring, known, context)
                try print(slot, context)
            }
            return .success
        }
    }

    /// Whether there is a keyring, and not one of another file that is set aside: that takes the store's passphrase.
    private func isUsed(_ keyring: Keyring, _ known: Secret) throws -> Bool {
        guard keyring.exists else { return false }
        return try known.kind != .passphrase || keyring.belongsToStore()
    }

    private func requireUnused(
        _ passphrase: borrowing Passphrase, _ keyring: Keyring, _ known: Secret
    ) throws {
        if try isUsed(keyring, known) { return try keyring.requireUnused(Secret(passphrase)) }
        guard known.matches(Secret(passphrase)) else { return }
        throw Failure(
            "the new passphrase is the one that opens \(options.store) already",
            hints: ["choose another passphrase"])
    }

    private func add(
        _ secret: Secret, _ keyring: Keyring, _ known: Secret, _ context: CommandContext
    ) throws -> KeySlot {
        try makeKeyring(unless: keyring, known, context)
        return try keyring.add(secret, label: label, cost: cost.scrypt ?? .standard, unlockingWith: known)
    }

    /// Makes the keyring of a store that has none.
    private func makeKeyring(unless keyring: Keyring, _ known: Secret, _ context: CommandContext) throws {
        Interruption.listen()
        guard try !isUsed(keyring, known) else { return }
        guard known.kind == .passphrase else {
            throw Failure.usage("\(options.store) has no key slots, so no key file opens it")
        }
        let isSetAside = [keyring.path, keyring.path + ".bak"].contains {
            FileManager.default.fileExists(atPath: $0)
        }
        let progress = context.progress("copying", unit: .items("pages"))
        try StoreRekey.makeKeyring(path: options.store, from: known, cost: cost.scrypt ?? .standard) {
            try progress.update(Int64($0.completedPageCount), Int64($0.totalPageCount))
        }
        progress.finish()
        if isSetAside {
            context.note(
                "the keyring that was there belongs to another file; it was renamed to \(keyring.path).stale-…"
            )
        }
        context.note(
            "made \(options.store)\(Keyring.suffix); without that file nothing opens the store: back it up with \"syncctl key backup\""
        )
    }

    /// Adds a recovery key, which is printed before its slot counts: one that nobody has seen would be of use to nobody.
    private func addRecoveryKey(_ keyring: Keyring, _ known: Secret, _ context: CommandContext) throws {
        let key = try RecoveryKey.generate()
        // The one place where a secret is printed: it is what was asked for.
        let text = try key.withText { String(decoding: $0, as: UTF8.self) }
        let secret = Secret(key)
        try makeKeyring(unless: keyring, known, context)
        var shown: KeySlot?
        do {
            _ = try keyring.add(
                secret, label: label, cost: cost.scrypt ?? .standard, unlockingWith: known
            ) { slot in
                let document = Document(
                    store: options.store, slot: SlotDocument(slot), recoveryKey: text)
                try context.print(document, text: text)
                try context.terminal.flushOutput()
                shown = slot
            }
        } catch {
            var failure = Failure(explaining: error, store: options.store)
            failure.hints.append(outcome(of: shown, keyring))
            throw failure
        }
        let name = shown.map { " \($0.id)" } ?? ""
        context.note(
            "added slot\(name); this is the only time that the recovery key is shown: print it, and keep it with the keyring's backup away from the store"
        )
    }

    /// What became of a slot that could not be added, or not as a whole.
    private func outcome(of slot: KeySlot?, _ keyring: Keyring) -> String {
        guard let slot else { return "no slot was added" }
        let slots = try? keyring.information().slots
        if let slots, !slots.contains(where: { $0.id == slot.id }) {
            return "the recovery key that was shown does not count: no slot was added"
        }
        return
            "see whether slot \(slot.id), of the recovery key that was shown, was added: syncctl key list \(CommandWords.path(options.store))"
    }

    private func print(_ slot: KeySlot, _ context: CommandContext) throws {
        try context.print(
            Document(store: options.store, slot: SlotDocument(slot), recoveryKey: nil),
            text: "added slot \(slot.id)  (\(slot.kind.name))")
    }
}
