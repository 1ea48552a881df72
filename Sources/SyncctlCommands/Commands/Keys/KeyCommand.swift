import ArgumentParser
import CipherStore

/// The key slots of a store.
struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Open a store with several passphrases, a recovery key or key files.",
        discussion: """
            The first "syncctl key add" gives a store a keyring: a file beside it, notes.db.keys, whose \
            slots each hold the store's random key. From then on the store opens with any of its slots, \
            and only with the keyring's file: back it up.

            EXAMPLES:
              syncctl key add notes.db --recovery
              syncctl key list notes.db
              syncctl key passwd notes.db
            """,
        subcommands: [
            KeyAddCommand.self, KeyListCommand.self, KeyRemoveCommand.self, KeyPasswdCommand.self,
            KeyBackupCommand.self, KeyIdentityCommand.self,
        ])
}

/// A slot in a JSON document.
struct SlotDocument: Encodable {
    let id: String
    let type: String
    let label: String
    let created: String
    let memoryMib: Int?

    init(_ slot: KeySlot) {
        id = slot.id.description
        type = slot.kind.name
        label = slot.label
        created = HumanFormat.timestamp(slot.createdMilliseconds)
        memoryMib = slot.cost.map { $0.memoryByteCount >> 20 }
    }
}

/// What trying a passphrase costs.
struct CostOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What trying the new passphrase costs: 14 (16 MiB) to 20 (1 GiB of memory), a step doubles time and memory (default: 17, or that of the passphrase that is changed).",
            valueName: "number"))
    var cost: Int?

    func validate() throws { try Self.validate(cost) }

    static func validate(_ cost: Int?) throws {
        guard let cost else { return }
        guard (ScryptCost.minimum.logN...ScryptCost.defaultLimit.logN).contains(cost) else {
            throw ValidationError(
                "--cost takes a number from \(ScryptCost.minimum.logN) to \(ScryptCost.defaultLimit.logN)")
        }
    }

    /// The cost, if the option is given.
    var scrypt: ScryptCost? { get throws { try cost.map { try ScryptCost(logN: $0) } } }
}

/// What trying the passphrase of a new archive, bundle or file in a folder costs.
struct FileCostOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What trying the passphrase of a file that this writes costs: 14 (16 MiB) to 20 (1 GiB of memory), a step doubles time and memory (default: 17).",
            valueName: "number"))
    var cost: Int?

    func validate() throws { try CostOptions.validate(cost) }

    /// The cost, or what is usual.
    var scrypt: ScryptCost { get throws { try cost.map { try ScryptCost(logN: $0) } ?? .standard } }
}

extension Keyring {
    /// Throws when a secret opens a slot already: who removes one of two such slots believes that it opens none.
    func requireUnused(_ secret: Secret) throws {
        let slot: KeySlot
        do {
            slot = try verify(secret)
        } catch let error as StoreError where error.code == .wrongPassphrase {
            return
        }
        throw Failure(
            "the new passphrase opens slot \(slot.id) already", hints: ["choose another passphrase"])
    }
}

extension CommandContext {
    /// The keyring of a store that has one.
    func keyring(of store: String) throws -> Keyring {
        noteSubject(store)
        try StoreFileCheck.requireExisting(store)
        let keyring = Keyring(store: store)
        let copy = keyring.path + ".bak"
        guard keyring.exists || FileContent(ofFile: copy) == .missing else {
            throw Failure.noKeyOpens(
                "\(keyring.path): the keyring is missing; nothing opens the store without it",
                hints: [
                    "a copy of it is there: cp \(CommandWords.path(copy)) \(CommandWords.path(keyring.path))"
                ])
        }
        guard keyring.exists else {
            // What is no store has no passphrase that could be its only key.
            try StoreFileCheck.requirePossibleStore(store)
            throw Failure(
                "\(store) has no key slots: there is no \(keyring.path), so its passphrase is its only key",
                hints: [
                    "give it some with: syncctl key add \(CommandWords.path(store)) --recovery",
                    "if it had some, put that file back: nothing opens the store without it",
                ])
        }
        return keyring
    }
}
