import ArgumentParser
import CipherStore

/// Changes the key of a store.
struct RekeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Change the passphrase of a store, and encrypt it anew.",
        usage: "syncctl rekey <store> [--data-key [--end-other-slots]] [<options>]",
        discussion: """
            The store is copied under the new key, the copy is checked, and then takes the old \
            file's place. Whatever happens meanwhile, the store opens with the old or with the new \
            passphrase. Nobody else may have the store open.

            In a store with key slots, "syncctl key passwd" changes a passphrase at once. With \
            --data-key the store is encrypted anew and the slot that is used stays as it is; slots \
            that are not opened can't have the new key, and end if --end-other-slots says so.

            EXAMPLES:
              syncctl rekey notes.db --passphrase-file pw --new-passphrase-file pw2
              syncctl rekey notes.db --data-key --end-other-slots
            """)

    @OptionGroup var options: StoreOptions

    @OptionGroup(title: "New passphrase")
    var newPassphrase: NewPassphraseOptions

    @Flag(help: "Change the random key of a store with key slots; no new passphrase is needed.")
    var dataKey = false

    @Flag(help: "Remove the slots that can't have the new key.")
    var endOtherSlots = false

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if dataKey && newPassphrase.isPassphraseGiven {
            throw ValidationError("--data-key keeps the passphrase; leave the new one away")
        }
        if endOtherSlots && !dataKey { throw ValidationError("--end-other-slots needs --data-key") }
    }

    private struct Document: Encodable {
        let store: String
        let rekeyed: Bool
        let endedSlots: [SlotDocument]?
    }

    func run() throws {
        try CommandContext.run(global) { context in
            try StoreFileCheck.requireStore(options.store)
            try dataKey ? rotate(context) : changePassphrase(context)
            return .success
        }
    }

    private func rotate(_ context: CommandContext) throws {
        _ = try context.keyring(of: options.store)
        let secret = try context.storeSecret(options)
        Interruption.listen()
        let progress = PageProgress(context)
        let ended = try StoreRekey.rotateDataKey(
            path: options.store, keeping: [secret], endsOtherSlots: endOtherSlots, progress: progress.update)
        progress.finish()
        try context.print(
            Document(store: options.store, rekeyed: true, endedSlots: ended.map { SlotDocument($0) }),
            text: "\(options.store) has a new data key now"
                + (ended.isEmpty ? "" : "; \(HumanFormat.count(ended.count, "slot")) ended"))
    }

    private func changePassphrase(_ context: CommandContext) throws {
        guard options.keyFile == nil else {
            throw Failure.usage("--key-file goes with --data-key: a key file has no passphrase")
        }
        let current = try context.storePassphrase(options, for: options.store)
        guard let new = try context.passphrase(newPassphrase, for: options.store) else {
            throw Failure.usage("no new passphrase", hints: ["use --new-passphrase-file"])
        }
        guard try !StoreRekey.keepsPassphrase(path: options.store, from: current, to: new) else {
            throw Failure.usage("the new passphrase is the old one")
        }
        Interruption.listen()
        let progress = PageProgress(context)
        let left = try StoreRekey.run(path: options.store, from: current, to: new, progress: progress.update)
        progress.finish()
        if let left { context.note("the keyring of another store is still beside this one: \(left)") }
        try context.print(
            Document(store: options.store, rekeyed: true, endedSlots: nil),
            text: "\(options.store) opens with the new passphrase now")
    }
}

/// Shows how far copying and then checking have come.
package final class PageProgress {
    private let context: CommandContext
    private var line: StepProgress
    private var phase = StoreProgress.Phase.copying

    package init(_ context: CommandContext) {
        self.context = context
        line = context.progress("copying", unit: .items("pages"))
    }

    package func update(_ step: StoreProgress) throws {
        if step.phase != phase {
            phase = step.phase
            line.finish()
            line = context.progress("checking", unit: .items("pages"))
        }
        try line.update(Int64(step.completedPageCount), Int64(step.totalPageCount))
    }

    package func finish() { line.finish() }
}
