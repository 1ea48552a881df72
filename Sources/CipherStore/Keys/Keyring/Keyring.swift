import Foundation

/// The key slots of a store, in a file beside it: `notes.db.keys`.
///
/// A store with a keyring is encrypted with a random data key. Each slot of the
/// keyring holds that key, sealed under a passphrase, a recovery key or a key
/// file. So there can be several passphrases, and changing one takes
/// milliseconds and a key derivation, however large the store is.
///
/// ```swift
/// let keyring = Keyring(store: "notes.db")
/// let recovery = try RecoveryKey.generate()
/// try keyring.add(Secret(recovery), label: "paper", unlockingWith: Secret(passphrase))
/// ```
///
/// Without the keyring's file nothing opens the store: back it up with
/// ``backUp(to:)``. Who has an old copy of it and a passphrase of that time
/// still has the data key; ``StoreRekey`` gives the store another one.
public struct Keyring: Sendable {
    let storage: KeyringStorage
    let limit: ScryptCost

    /// What the name of the keyring's file has after that of the database file.
    public static let suffix = KeyringStorage.suffix

    /// The path of the keyring's file.
    public var path: String { storage.path }

    /// Names the keyring of a store. Nothing is read.
    ///
    /// - parameters:
    ///     - path: The path of the database file.
    ///     - limit: The most that is paid for trying one passphrase.
    public init(store path: String, limit: ScryptCost = .defaultLimit) {
        storage = KeyringStorage(storePath: path)
        self.limit = limit
    }

    /// Whether there is a keyring.
    public var exists: Bool { FileIdentity(path: storage.path) != nil }

    /// What a keyring says about itself without a key.
    public struct Information: Sendable {
        /// The slots, in the order in which they were made.
        public let slots: [KeySlot]

        /// Slots of kinds that only newer programs know. They are kept, and can be removed.
        public let unknownSlots: [UnknownKeySlot]

        /// Grows with each change of the keyring.
        public let generation: UInt64

        /// Whether a change of the data key was begun and not finished. The next opening of the
        /// store finishes it, or undoes it. Where the folder can't be written to the disk, both keys stay.
        public let isRotating: Bool
    }

    /// Reads what the keyring says about itself. Only a slot that opens proves that it is true.
    ///
    /// - throws: A ``StoreError``: `keyringMissing`, `keyringDamaged`, `cannotRead`.
    public func information() throws -> Information {
        let file = try KeyringFile(parsing: content(), path: path)
        return Information(
            slots: file.slots, unknownSlots: file.unknownSlots, generation: file.generation,
            isRotating: file.pendingSalt != nil)
    }

    /// The path of the copy beside the keyring's file.
    package var copyPath: String { storage.backupPath }

    /// Checks that the copy beside the keyring's file is whole. It need not have the same content.
    ///
    /// - returns: Whether there is one.
    /// - throws: A ``StoreError``: `keyringDamaged`, `formatTooNew`, `cannotRead`.
    package func checkCopy() throws -> Bool {
        guard let bytes = try PrivateFile.read(copyPath, byteCountMax: KeyringFile.byteCountMax) else {
            return false
        }
        _ = try KeyringFile(parsing: bytes, path: copyPath)
        return true
    }

    /// Checks that a secret opens the keyring, and that nobody else has changed it.
    ///
    /// - returns: The slot that opens.
    /// - throws: A ``StoreError``: `wrongPassphrase`, `keyringMissing`, `keyringDamaged`, `keyringMismatch` when the
    ///   database file is not the keyring's, …
    public func verify(_ secret: Secret) throws -> KeySlot {
        let bytes = try content()
        try requireStore(of: bytes)
        let keyring = try opened(bytes, secret)
        guard let slot = keyring.file.slots.first(where: { $0.id == keyring.slotID }) else {
            throw StoreError(.noSuchSlot, "no slot was opened", path: path)
        }
        return slot
    }

    /// Adds a slot, and proves that it opens.
    ///
    /// - parameters:
    ///     - secret: What opens the new slot.
    ///     - label: What people call it; it is not encrypted.
    ///     - cost: What trying one passphrase costs.
    ///     - known: What opens one of the slots that are there.
    /// - throws: A ``StoreError``: `wrongPassphrase` when `known` opens no slot, `keyringMismatch` when the database
    ///   file is not the keyring's, `tooManySlots`, `reservedName` when the file where the keyring's copy goes is none,
    ///   `full`, `cannotWrite`, … The keyring is as it was then.
    @discardableResult
    public func add(
        _ secret: Secret, label: String = "", cost: ScryptCost = .standard,
        unlockingWith known: Secret
    ) throws -> KeySlot {
        try add(secret, label: label, cost: cost, unlockingWith: known) { _ in }
    }

    /// Adds a slot as the method without a closure does.
    ///
    /// - parameter showing: Called with the new slot, proven, before it counts. When it throws, there is no new slot.
    package func add(
        _ secret: Secret, label: String, cost: ScryptCost, unlockingWith known: Secret,
        showing: (KeySlot) throws -> Void
    ) throws -> KeySlot {
        try storage.withLock { access in
            var keyring = try unlock(access.bytes, known)
            let slot = try keyring.add(secret, label: label, cost: cost, now: Date())
            let content = try keyring.encodedNext(path: path)
            try showing(slot)
            try access.replace(with: content)
            return slot
        }
    }

    /// Removes a slot. Another one must open the keyring first.
    ///
    /// - throws: A ``StoreError``: `wrongPassphrase`, `keyringMismatch`, `noSuchSlot`, `slotInUse`, `lastSlot`, …
    public func remove(_ id: KeySlot.ID, unlockingWith known: Secret) throws {
        try storage.withLock { access in
            var keyring = try unlock(access.bytes, known)
            try keyring.remove(id)
            try access.replace(with: keyring.encodedNext(path: path))
        }
    }

    /// Changes a passphrase. The store is not touched.
    ///
    /// The new slot is on the disk, and was read back, before the old one is removed. In a keyring that
    /// has no room for one more, the new slot takes the old one's place in one step.
    ///
    /// - parameters:
    ///     - current: The passphrase of the slot.
    ///     - new: The passphrase that takes its place.
    ///     - cost: What trying it costs; that of the old one when nil.
    /// - throws: A ``StoreError``: `wrongPassphrase`, `keyringMismatch`, `slotInUse` when a recovery key was given for
    ///   the passphrase, `full`, … The old passphrase opens the store then, and the error says so if the new one
    ///   does, too.
    @discardableResult
    public func changePassphrase(
        from current: borrowing Passphrase, to new: borrowing Passphrase, cost: ScryptCost? = nil
    ) throws -> KeySlot {
        try storage.withLock { access in
            let keyring = try unlock(access.bytes, Secret(current))
            return try replaceSlot(keyring.slotID, of: keyring, with: Secret(new), cost: cost, &access)
        }
    }

    /// Checks that a secret opens a slot whose passphrase can be changed.
    ///
    /// - throws: As ``changePassphrase(from:to:cost:)``.
    func requirePassphraseSlot(_ secret: Secret) throws { try requirePassphrase(of: verify(secret)) }

    /// A recovery key is typed where a passphrase is asked for when that is forgotten. Its slot must not
    /// end then, while that of the forgotten passphrase stays.
    private func requirePassphrase(of slot: KeySlot) throws {
        guard slot.kind != .passphrase else { return }
        throw StoreError(
            .slotInUse,
            "slot \(slot.id) is that of a \(slot.kind.noun), which has no passphrase to change: add a slot for the new passphrase, and remove that of the forgotten one",
            path: path)
    }

    /// Changes the passphrase by which a store was opened, for its connection, which has the data key.
    ///
    /// - returns: The new slot.
    /// - throws: A ``StoreError``: `noSuchSlot` when the slot has gone since, `keyringMismatch`, `slotInUse`, `full`, …
    func changePassphrase(
        of key: DataKey, slotID: KeySlot.ID, to new: Secret
    ) throws -> KeySlot {
        try storage.withLock { access in
            try requireStore(of: access.bytes)
            let keyring = try UnlockedKeyring(bytes: access.bytes, active: key, slotID: slotID, path: path)
            return try replaceSlot(slotID, of: keyring, with: new, cost: nil, &access)
        }
    }

    /// Adds a slot, and removes the one whose place it takes when the new one is on the disk.
    private func replaceSlot(
        _ id: KeySlot.ID?, of opened: UnlockedKeyring, with secret: Secret,
        cost: ScryptCost?, _ access: inout KeyringAccess
    ) throws -> KeySlot {
        var keyring = opened
        try settleRotation(of: &keyring)
        guard let old = keyring.file.slots.first(where: { $0.id == id }) else {
            // Somebody has changed its passphrase, or removed it. A slot more would leave theirs, and tell nobody.
            throw StoreError(
                .noSuchSlot,
                "the slot by which the store was opened is not there any more; open the store again with what opens it now",
                path: path)
        }
        try requirePassphrase(of: old)
        let isFull = keyring.file.slotCount >= KeyringFile.slotCountMax
        let slot = try keyring.add(
            secret, label: old.label, cost: cost ?? old.cost ?? .standard, now: Date(),
            replacing: isFull ? old.id : nil)
        try access.replace(with: keyring.encodedNext(path: path))
        guard !isFull else { return slot }
        do {
            var proven = try UnlockedKeyring(
                bytes: access.bytes, active: keyring.active, slotID: slot.id, path: path)
            try proven.remove(old.id)
            try access.replace(with: proven.encodedNext(path: path))
        } catch let error as StoreError {
            throw StoreError(
                error.code,
                "the new passphrase opens the store, and slot \(old.id) of the old one could not be removed: \(error.message)",
                path: path)
        }
        return slot
    }

    /// Copies the keyring's file. Keep the copy away from the store.
    ///
    /// - throws: A ``StoreError``: `exists`, `reservedName` when the name is that of a file beside a database,
    ///   `keyringMissing`, `keyringDamaged`, `full`, `cannotWrite`.
    public func backUp(to destination: String) throws {
        let bytes = try content()
        _ = try KeyringFile(parsing: bytes, path: path)
        try bytes.withUnsafeBytes { try PrivateFile.create(destination, content: $0) }
    }

    // MARK: - Content

    func content() throws -> [UInt8] {
        guard let bytes = try storage.read() else {
            throw StoreError(.keyringMissing, "there is no keyring", path: path)
        }
        return bytes
    }

    /// Opens the content, and settles a rotation that was interrupted. The caller has the lock.
    func unlock(_ bytes: [UInt8], _ secret: Secret) throws -> UnlockedKeyring {
        // Before the secret, which may be that of the store and of none of these slots.
        try requireStore(of: bytes)
        var keyring = try opened(bytes, secret)
        try settleRotation(of: &keyring)
        return keyring
    }

    /// Opens the content as it is.
    func opened(_ bytes: [UInt8], _ secret: Secret) throws -> UnlockedKeyring {
        try UnlockedKeyring(bytes: bytes, secret: secret, limit: limit, path: path)
    }
}
