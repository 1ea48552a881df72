import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The change of a store's passphrase, by copy, verify and replace.
///
/// SQLite's own `rekey` reports success when it failed, and the next write then
/// destroys the database. Here the file is copied under the new key beside the
/// old one, checked page by page, and renamed over it: a kill at any moment
/// leaves a file that opens with the old passphrase or with the new one.
///
/// The invariants, in order:
/// 1. Nobody else can read or write the store from the first page copied until
///    the rename is done: the connection holds SQLite's exclusive lock.
/// 2. The old file stands alone (no WAL, no journal) before the rename, because
///    a WAL of the old file would be replayed over the new one.
/// 3. The copy is complete on the disk before the rename.
/// 4. Where a keyring has the key, it is on the disk before the rename, with its name. A folder that can't be written
///    to the disk orders nothing, so no data key is changed there.
/// 5. A process that still has the old file open gets an error at its next
///    access, not a write that nobody will see: the old file's first page is
///    overwritten before the lock is released. (Where a folder can't be written
///    to the disk, it is not: after a loss of power the name may lead to it.)
public enum StoreRekey {
    /// Changes the passphrase of a store that nobody has open, and with it the key of the file.
    ///
    /// In a store with a ``Keyring`` the passphrase's slot gets the new passphrase, and the data
    /// key is changed too. That ends the other slots, so it is refused while there are some: see
    /// ``rotateDataKey(path:keeping:endsOtherSlots:progress:)``. To change a slot's passphrase only, see
    /// ``Keyring/changePassphrase(from:to:cost:)``. A keyring that is not that of the store, which its passphrase opens
    /// by itself, is set aside under another name once the new passphrase is in effect.
    ///
    /// - parameters:
    ///     - path: The path of the database file.
    ///     - current: The passphrase that opens the store.
    ///     - new: The passphrase that is to open it.
    ///     - progress: Called with how far it is; an error that it throws ends the whole.
    /// - returns: Why a keyring that is not that of the store is still where it was; nil when there is none. The new passphrase is in
    ///   effect, and opens the store beside that keyring, too.
    /// - throws: A ``StoreError``: `busy` when another connection or process has
    ///   the store open, `wrongPassphrase`, `otherSlots`, `slotInUse` when a recovery key was given for the
    ///   passphrase, `full`, … The store is then as it was.
    @discardableResult
    public static func run(
        path: String, from current: borrowing Passphrase, to new: borrowing Passphrase,
        progress: StoreProgressHandler? = nil
    ) throws -> StoreError? {
        let keyring = Keyring(store: path)
        let isForeign = try keyring.exists && !keyring.belongsToStore()
        let foreign = try isForeign ? keyring.content() : nil
        if keyring.exists && !isForeign {
            // What can't be done at the end is not begun.
            try keyring.requirePassphraseSlot(Secret(current))
            try rotateDataKey(path: path, keeping: [Secret(current)], progress: progress)
            try keyring.changePassphrase(from: current, to: new)
            return nil
        }
        let (current, new) = (Secret(current), Secret(new))
        return try explainingErrors(path) { file -> StoreError? in
            if isForeign { try keyring.storage.requireOwnBackup() }
            let source = try Database.openExisting(path: file, secret: current)
            defer { source.dispose() }
            let settings = try encryption(of: source)
            let key = try KeyDerivation.derive(
                passphrase: new.bytes, salt: KeyDerivation.newSalt(), settings: settings)
            try StoreReplacement(source: source, path: file, key: key, progress: progress).run()
            // Not before: what fails leaves it where it was.
            return foreign.flatMap { setAside(keyring, ifContent: $0) }
        }
    }

    /// Sets a keyring of another store aside, unless the store has another one by now.
    ///
    /// - returns: Why it is still there.
    private static func setAside(_ keyring: Keyring, ifContent content: [UInt8]) -> StoreError? {
        do {
            guard try keyring.storage.read() == content else { return nil }
            try keyring.storage.setAside(ifContent: content)
            return nil
        } catch {
            // The new passphrase stands, and opens the store with it there, too.
            return error as? StoreError
                ?? StoreError(.cannotWrite, "cannot rename the keyring: \(error)", path: keyring.path)
        }
    }

    /// Whether a change of the passphrase would leave it as it is.
    ///
    /// To a file that another program made with text in another form, the normalised text is another passphrase.
    ///
    /// - throws: As ``run(path:from:to:progress:)``.
    package static func keepsPassphrase(
        path: String, from current: borrowing Passphrase, to new: borrowing Passphrase
    ) throws -> Bool {
        guard current.matches(new) else { return false }
        let keyring = Keyring(store: path)
        // A slot is that of the normalised bytes.
        guard current.givenBytes != nil, try !keyring.exists || !keyring.belongsToStore() else { return true }
        let normalized = Secret(kind: .passphrase, bytes: current.bytes)
        do {
            try explainingErrors(path) { try Database.openExisting(path: $0, secret: normalized).dispose() }
            return true
        } catch let error as StoreError where error.code == .wrongPassphrase {
            return false
        }
    }

    /// Gives a store with a ``Keyring`` another data key. Nobody else may have the store open.
    ///
    /// Somebody who has an old copy of the keyring and a passphrase of that time can't open the
    /// store any more. Only slots whose secrets are given can get the new key; the others end.
    ///
    /// The rotation can be stopped at any moment: the keyring holds both data keys before the new
    /// file takes the old one's place, and the next one who opens the store, or changes the
    /// keyring, finishes what was begun. Both keys stay until the name of the new file is on the disk.
    ///
    /// - parameters:
    ///     - path: The path of the database file.
    ///     - secrets: What opens the slots that are kept, one at least.
    ///     - endsOtherSlots: Whether slots that none of the secrets opens may end.
    ///     - progress: Called with how far it is; an error that it throws ends the whole.
    /// - returns: The slots that ended.
    /// - throws: A ``StoreError``: `otherSlots` when there are slots that would end,
    ///   `wrongPassphrase` when one of the secrets opens no slot, `busy`, `keyringMissing`, `keyringMismatch` when the
    ///   keyring is not that of the store, `cannotWrite` when the folder can't be written to the disk, `full`, …
    ///   The store is then as it was.
    @discardableResult
    public static func rotateDataKey(
        path: String, keeping secrets: [Secret], endsOtherSlots: Bool = false,
        progress: StoreProgressHandler? = nil
    ) throws -> [KeySlot] {
        let keyring = Keyring(store: path)
        guard let first = secrets.first else {
            throw StoreError(.keyRequired, "a rotation needs what opens a slot", path: path)
        }
        return try explainingErrors(path) { file in
            try keyring.storage.withLock { access in
                try keyring.storage.requireOwnBackup()
                try keyring.storage.requireSynchronizedFolder()
                let content = access.bytes
                var opened = try keyring.unlock(access.bytes, first)
                let keys = try opened.slotKeys(
                    of: Array(secrets.dropFirst()), limit: keyring.limit, path: keyring.path)
                let ending = opened.file.slots.filter { keys[$0.id] == nil }
                let unknown = opened.file.unknownSlots
                guard ending.isEmpty && unknown.isEmpty || endsOtherSlots else {
                    throw Self.otherSlots(ending, unknown, path: path)
                }
                let next = try DataKey.random()
                let settings = opened.file.settings
                let source = try Database.openExisting(
                    path: file, key: opened.active.encryptionKey(settings, slotID: opened.slotID))
                defer { source.dispose() }
                try opened.begin(rotationTo: next, keeping: keys)
                let isOnDisk: Bool
                do {
                    isOnDisk = try StoreReplacement(
                        source: source, path: file,
                        key: next.encryptionKey(settings, slotID: opened.slotID), progress: progress
                    ).run {
                        let hasKeys = try access.replace(with: opened.encodedNext(path: keyring.path))
                        guard hasKeys else { throw keyring.storage.folderError }
                    }
                } catch {
                    // Where this fails, both keys stay, for whoever opens the keyring next.
                    if access.bytes != content { try? settle(opened, keyring, &access) }
                    throw error
                }
                // The new file stands: what isn't done now is done at the next opening.
                guard isOnDisk else { return ending }
                opened.finishRotation()
                _ = try? access.replace(with: opened.encodedNext(path: keyring.path))
                return ending
            }
        }
    }

    /// Ends a rotation that failed, as the file says.
    private static func settle(
        _ opened: UnlockedKeyring, _ keyring: Keyring, _ access: inout KeyringAccess
    ) throws {
        var settled = opened
        try keyring.settleRotation(of: &settled)
        try access.replace(with: settled.encodedNext(path: keyring.path))
    }

    private static func otherSlots(
        _ slots: [KeySlot], _ unknown: [UnknownKeySlot], path: String
    ) -> StoreError {
        let names =
            slots.map { $0.label.isEmpty ? "\($0.id)" : "\($0.id) (\($0.label))" }
            + unknown.map { "\($0.id) (of a newer program)" }
        return StoreError(
            .otherSlots,
            "slots would end that were not opened: \(names.joined(separator: ", ")); give what opens them, or end them",
            path: path)
    }

    /// Gives a store that a passphrase opens a ``Keyring``, and with it a random data key.
    ///
    /// The file is copied under the new key, as by ``run(path:from:to:progress:)``. Nobody else may
    /// have the store open. A keyring of another store, or a copy of one, is set aside under another name.
    ///
    /// - parameters:
    ///     - path: The path of the database file.
    ///     - passphrase: What opens the store now.
    ///     - secret: What opens the first slot; the passphrase when nil.
    ///     - label: What people call the slot; it is not encrypted.
    ///     - cost: What trying one passphrase costs.
    ///     - progress: Called with how far it is; an error that it throws ends the whole.
    /// - throws: A ``StoreError``: `exists` when the store has a keyring, `busy`, `wrongPassphrase`, `cannotWrite` when the
    ///   folder can't be written to the disk, `full`, … The store is then as it was.
    public static func makeKeyring(
        path: String, from passphrase: borrowing Passphrase, slot secret: Secret? = nil,
        label: String = "", cost: ScryptCost = .standard, progress: StoreProgressHandler? = nil
    ) throws {
        try makeKeyring(
            path: path, from: Secret(passphrase), slot: secret, label: label, cost: cost, progress: progress)
    }

    /// Gives a store a ``Keyring``, see
    /// ``makeKeyring(path:from:slot:label:cost:progress:)-(_,Passphrase,_,_,_,_)``.
    ///
    /// - throws: As that one; a ``StoreError`` of code `keyringMissing` when the secret is no passphrase.
    package static func makeKeyring(
        path: String, from known: Secret, slot secret: Secret? = nil,
        label: String = "", cost: ScryptCost = .standard, progress: StoreProgressHandler? = nil
    ) throws {
        let keyring = Keyring(store: path)
        try explainingErrors(path) { file in
            let stale = try keyring.staleContent()
            try keyring.storage.requireOwnBackup()
            try keyring.storage.requireSynchronizedFolder()
            let source = try Database.openExisting(path: file, secret: known)
            defer { source.dispose() }
            let settings = try encryption(of: source)
            let key = try DataKey.random()
            var content = UnlockedKeyring(creating: key, settings: settings)
            try content.add(secret ?? known, label: label, cost: cost, now: Date())
            let bytes = content.encoded
            var aside: KeyringSetAside?
            do {
                try StoreReplacement(
                    source: source, path: file, key: key.encryptionKey(content.file.settings, slotID: nil),
                    progress: progress
                ).run {
                    aside = try keyring.storage.setAside(ifContent: stale)
                    // It would have the only key.
                    guard try keyring.storage.create(bytes) else { throw keyring.storage.folderError }
                }
            } catch {
                // Where the file can't be read, the keyring may be the only one that opens it.
                if let salt = keyring.storage.storeSalt(), salt != key.salt {
                    keyring.storage.remove(ifContent: bytes)
                    if let aside { keyring.storage.restore(aside) }
                }
                throw error
            }
        }
    }

    private static func encryption(of source: Database) throws -> CipherSettings {
        guard let settings = source.encryptionKey?.settings else {
            throw StoreError(.keyRequired, "the store is not encrypted", path: source.path)
        }
        return settings
    }

    /// Runs an operation on the file that a symbolic link may name; errors tell the path that was given.
    static func explainingErrors<Result>(
        _ path: String, _ body: (String) throws -> Result
    ) throws -> Result {
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        do {
            return try body(file)
        } catch {
            let explained = StoreError.explaining(error, path: path)
            guard let known = explained as? StoreError, known.path == file else { throw explained }
            throw StoreError(known.code, known.message, path: path)
        }
    }
}
