extension KeyringFile {
    /// Finds the slot that a secret opens, and its key. The commitment proves the secret; nothing
    /// is decrypted.
    ///
    /// - throws: A ``StoreError``: `wrongPassphrase`, `costOutOfRange`, `outOfMemory`.
    func slot(
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
