import Foundation

/// A keyring's content with the data keys that a slot has given.
///
/// All changes are made here, to a value: what is written is decided before
/// anything is.
struct UnlockedKeyring {
    private(set) var file: KeyringFile

    /// The data key of the store.
    private(set) var active: DataKey

    /// The data key that a rotation is giving the store; nil when there is none, or when the slot
    /// that was opened does not take part in it.
    private(set) var pending: DataKey?

    /// The slot that was opened; nil when the data key itself was known.
    let slotID: KeySlot.ID?

    /// The key of that slot.
    private let slotKey: SlotKey?

    /// Opens a keyring with a slot's secret.
    ///
    /// - parameter limit: The most that is paid for trying one passphrase.
    /// - throws: A ``StoreError``: `wrongPassphrase` when the secret opens no slot, `keyringDamaged`
    ///   when the slot or the file is not what was written, `costOutOfRange` when only slots are
    ///   left that cost more than `limit`.
    init(bytes: [UInt8], secret: Secret, limit: ScryptCost, path: String) throws {
        let file = try KeyringFile(parsing: bytes, path: path)
        let (slot, key) = try file.slot(opening: secret, limit: limit, path: path)
        try self.init(file, opening: slot, with: key, path: path)
        guard KeyringFile.isAuthentic(bytes, key: active, storeID: file.storeID) else {
            throw Self.changed(path)
        }
    }

    private init(_ file: KeyringFile, opening slot: KeySlot, with key: SlotKey, path: String) throws {
        func open(_ sealed: SealedDataKey, _ salt: [UInt8]) throws -> DataKey {
            let associatedData = file.associatedData(of: slot, dataKeySalt: salt)
            guard let secret = try key.open(sealed, associatedData: associatedData) else {
                throw Self.changed(path)
            }
            return DataKey(secret: secret, salt: salt)
        }
        self.file = file
        slotID = slot.id
        slotKey = key
        active = try open(slot.active, file.activeSalt)
        if let sealed = slot.pending, let salt = file.pendingSalt { pending = try open(sealed, salt) }
    }

    /// Opens a keyring with the data key of a store that is open.
    init(bytes: [UInt8], active: DataKey, slotID: KeySlot.ID?, path: String) throws {
        file = try KeyringFile(parsing: bytes, path: path)
        self.active = active
        self.slotID = slotID
        slotKey = nil
        guard file.activeSalt == active.salt,
            KeyringFile.isAuthentic(bytes, key: active, storeID: file.storeID)
        else {
            throw StoreError(.keyringMismatch, "the keyring is not the one of this store", path: path)
        }
    }

    /// Makes the keyring of a new data key, which has no slot yet.
    init(creating key: DataKey, settings: CipherSettings) {
        file = KeyringFile(
            storeID: SlotKey.randomBytes(KeyringFile.storeIDByteCount),
            settings: CipherSettings(format: settings.format, pageSize: settings.pageSize),
            activeSalt: key.salt)
        active = key
        slotID = nil
        slotKey = nil
    }

    private static func changed(_ path: String) -> StoreError {
        StoreError(
            .keyringDamaged,
            "the keyring was changed by somebody who does not have its keys; use a backup of it",
            path: path)
    }

    /// The bytes of the file, of the next generation.
    ///
    /// - throws: A ``StoreError`` `keyringDamaged` where no reader would take the next generation:
    ///   only somebody who forged the file counts so far.
    mutating func encodedNext(path: String) throws -> [UInt8] {
        guard file.generation < .max - 1 else {
            throw KeyringReader([], path: path).damaged("its generation can't grow")
        }
        file.generation += 1
        let bytes = encoded
        // Slots of unknown kinds can be long, and a file that is too long is refused by all.
        guard bytes.count <= KeyringFile.byteCountMax else {
            throw StoreError(
                .tooManySlots,
                "the keyring would have over \(KeyringFile.byteCountMax) bytes; remove a slot first",
                path: path)
        }
        return bytes
    }

    var encoded: [UInt8] { file.encoded(authenticatedBy: active) }

    // MARK: - Slots

    /// Adds a slot.
    ///
    /// - parameter replaced: A slot that ends with that; it may be the one that was opened.
    /// - returns: Its description.
    /// - throws: A ``StoreError``: `tooManySlots`, `labelInvalid`, `outOfMemory`.
    @discardableResult
    mutating func add(
        _ secret: Secret, label: String, cost: ScryptCost, now: Date,
        replacing replaced: KeySlot.ID? = nil
    ) throws -> KeySlot {
        let others = file.slots.filter { $0.id != replaced }
        guard others.count + file.unknownSlots.count < KeyringFile.slotCountMax else {
            throw StoreError(
                .tooManySlots, "a keyring has at most \(KeyringFile.slotCountMax) slots; remove one first")
        }
        let cost = secret.kind == .passphrase ? cost : nil
        let salt = DerivedKeyMemo.newSalt(for: "slot", byteCount: SlotKey.saltByteCount)
        let key = try SlotKey(secret, salt: salt, cost: cost)
        let described = KeySlot(
            id: .random(), kind: secret.kind, label: try KeySlot.checkedLabel(label),
            createdMilliseconds: Int64(now.timeIntervalSince1970 * 1000), cost: cost, salt: salt,
            commitment: [], active: SealedDataKey(nonce: [], box: []), pending: nil)
        let slot = KeySlot(
            describing: described, commitment: key.commitment(to: file.associatedData(of: described)),
            active: try key.seal(
                active.secret,
                associatedData: file.associatedData(of: described, dataKeySalt: file.activeSalt)))
        let proof = try key.open(
            slot.active, associatedData: file.associatedData(of: slot, dataKeySalt: file.activeSalt))
        guard let proof, proof.matches(active.secret) else {
            throw StoreError(.damaged, "the new slot does not open; nothing was changed")
        }
        file.slots = others + [slot]
        return slot
    }

    /// Removes a slot.
    ///
    /// - throws: A ``StoreError``: `noSuchSlot`, `lastSlot`, and `slotInUse` for the slot that was
    ///   opened: whoever removes a slot has shown that another one works.
    mutating func remove(_ id: KeySlot.ID) throws {
        if file.unknownSlots.contains(where: { $0.id == id }) {
            return file.unknownSlots.removeAll { $0.id == id }
        }
        guard file.slots.contains(where: { $0.id == id }) else {
            throw StoreError(.noSuchSlot, "there is no slot \(id)")
        }
        guard file.slots.count > 1 else {
            throw StoreError(.lastSlot, "the last slot can't be removed: nothing would open the store again")
        }
        guard id != slotID else {
            throw StoreError(
                .slotInUse,
                "slot \(id) is the one that was just used; open the keyring with another one to remove it")
        }
        file.slots.removeAll { $0.id == id }
    }

    // MARK: - Rotation

    /// The keys of the slots that secrets open, the one that was opened first among them.
    ///
    /// - throws: A ``StoreError`` of code `wrongPassphrase` when one of them opens none.
    func slotKeys(of secrets: [Secret], limit: ScryptCost, path: String) throws -> [KeySlot.ID:
        SlotKey]
    {
        var keys: [KeySlot.ID: SlotKey] = [:]
        if let slotID, let slotKey { keys[slotID] = slotKey }
        for secret in secrets {
            let (slot, key) = try file.slot(opening: secret, limit: limit, path: path)
            keys[slot.id] = key
        }
        return keys
    }

    /// Adds the data key of a rotation to the slots whose secrets are given.
    mutating func begin(rotationTo key: DataKey, keeping keys: [KeySlot.ID: SlotKey]) throws {
        precondition(!keys.isEmpty, "a rotation keeps a slot")
        file.pendingSalt = key.salt
        for index in file.slots.indices {
            let slot = file.slots[index]
            file.slots[index].pending = try keys[slot.id].map {
                try $0.seal(
                    key.secret, associatedData: file.associatedData(of: slot, dataKeySalt: key.salt))
            }
        }
        pending = key
    }

    /// Makes the pending data key the active one. Slots that did not take part in the rotation end.
    mutating func finishRotation() {
        guard let pending, let salt = file.pendingSalt else { return }
        file.slots = file.slots.compactMap { slot in
            guard let sealed = slot.pending else { return nil }
            var slot = slot
            slot.active = sealed
            slot.pending = nil
            return slot
        }
        // Nobody here could seal the new key for them.
        file.unknownSlots = []
        file.activeSalt = salt
        file.pendingSalt = nil
        active = pending
        self.pending = nil
    }

    /// Finishes or forgets a rotation that was interrupted. Whoever calls this has the keyring's
    /// lock, which a rotation holds from its beginning to its end.
    ///
    /// - parameter storeSalt: The salt of the database file, which says whether it was replaced.
    /// - throws: A ``StoreError`` of code `keyringMismatch` when the file was replaced and the slot
    ///   that was opened is not one of those that the rotation kept, or when the file has neither
    ///   key: then nobody knows which of them will be needed, and both are kept.
    mutating func resolveRotation(storeSalt: @autoclosure () -> [UInt8]?, path: String) throws {
        guard let salt = file.pendingSalt else { return }
        switch storeSalt() {
        case file.activeSalt: abandonRotation()
        case salt where pending != nil: finishRotation()
        case salt: throw Self.notKept(path)
        default: throw Self.undecided(path)
        }
    }

    /// The error for an interrupted rotation whose file is not there, so that nobody knows which key it has.
    static func undecided(_ path: String) -> StoreError {
        StoreError(
            .keyringMismatch,
            "a change of the data key was interrupted, and the database file is not there, or is another one; put it back first",
            path: path)
    }

    static func notKept(_ path: String) -> StoreError {
        StoreError(
            .keyringMismatch,
            "the data key of the store was changed, and this slot was not kept; use another one", path: path)
    }

    private mutating func abandonRotation() {
        file.pendingSalt = nil
        for index in file.slots.indices { file.slots[index].pending = nil }
        pending = nil
    }
}

extension KeyringFile {
    /// Finds the slot that a secret opens, and its key. The commitment proves the secret; nothing
    /// is decrypted.
    ///
    /// - throws: A ``StoreError``: `wrongPassphrase`, `costOutOfRange`, `outOfMemory`.
    fileprivate func slot(
        opening secret: Secret, limit: ScryptCost, path: String
    ) throws -> (KeySlot, SlotKey) {
        // What was typed or read where a passphrase is asked for may be a recovery key. It has a
        // checksum, so that no passphrase is taken for one by chance.
        if secret.kind == .passphrase, slots.contains(where: { $0.kind == .recoveryKey }),
            let key = try? RecoveryKey(utf8: secret.bytes),
            let found = try? slot(opening: Secret(key), limit: limit, path: path)
        {
            return found
        }
        var costly: ScryptCost?
        for slot in slots where slot.kind == secret.kind {
            if let cost = slot.cost, cost.logN > limit.logN {
                costly = cost
                continue
            }
            let key = try SlotKey(secret, salt: slot.salt, cost: slot.cost)
            if key.matches(slot.commitment, to: associatedData(of: slot)) { return (slot, key) }
        }
        if let costly {
            throw StoreError(
                .costOutOfRange,
                "a passphrase of the keyring needs \(costly.memoryByteCount >> 20) MiB of memory to try, more than allowed",
                path: path)
        }
        let others =
            unknownSlots.isEmpty
            ? "" : "; \(unknownSlots.count) of its slots are of kinds that only newer programs know"
        throw StoreError(
            .wrongPassphrase, "no slot of the keyring opens with this \(secret.kind.noun)\(others)",
            path: path)
    }
}

extension KeySlot {
    init(describing slot: KeySlot, commitment: [UInt8], active: SealedDataKey) {
        self.init(
            id: slot.id, kind: slot.kind, label: slot.label, createdMilliseconds: slot.createdMilliseconds,
            cost: slot.cost, salt: slot.salt, commitment: commitment, active: active, pending: nil)
    }
}
