import Foundation

extension Keyring {
    /// Makes the keyring of a new store, with one slot. The store's file is made with it when it is
    /// first opened with the slot's secret.
    ///
    /// To give a store that exists a keyring, see ``StoreRekey/makeKeyring(path:from:slot:label:cost:progress:)``.
    ///
    /// - parameters:
    ///     - path: The path of the database file, where none may be.
    ///     - settings: The format, of version 3 or 4, and the page size of the file.
    ///     - secret: What opens the slot.
    ///     - label: What people call the slot; it is not encrypted.
    ///     - cost: What trying one passphrase costs.
    /// - throws: A ``StoreError``: `exists` when there is a database file, a keyring or the copy of one;
    ///   `encryptionMismatch` for settings that no keyring can have; `cannotWrite` when the folder can't be written to the
    ///   disk, `reservedName`, `full`, …
    @discardableResult
    public static func make(
        forNewStore path: String, settings: CipherSettings = .default, secret: Secret,
        label: String = "", cost: ScryptCost = .standard
    ) throws -> Keyring {
        let keyring = Keyring(store: path)
        // What can't be read again is not written.
        guard CipherSettings.Format.current.contains(settings.format),
            CipherSettings.pageSizes.contains(settings.pageSize)
        else {
            throw StoreError(
                .encryptionMismatch,
                "a store with a keyring has format 3 or 4, and pages whose size is a power of two from 512 to 65536",
                path: path)
        }
        try FileReplacement.requireNoOwner(of: path)
        guard FileIdentity(path: keyring.storage.storePath) == nil else {
            throw StoreError(.exists, "there is a file already", path: path)
        }
        try keyring.storage.requireOwnBackup()
        // That of a store which is gone, or its copy, may be all that opens a backup of that store.
        try FileReplacement.requireNoKeyring(of: path)
        var content = UnlockedKeyring(creating: try DataKey.random(), settings: settings)
        try content.add(secret, label: label, cost: cost, now: Date())
        let bytes = content.encoded
        // It would have the only key of the store.
        guard try keyring.storage.create(bytes) else {
            keyring.storage.remove(ifContent: bytes)
            throw StoreError(
                .cannotWrite,
                "its folder can't be written to the disk, so that a loss of power could leave the store without the keyring that has its only key; nothing was made: choose a folder that can be listed, on a file system that writes folders to the disk",
                path: path)
        }
        return keyring
    }
}
