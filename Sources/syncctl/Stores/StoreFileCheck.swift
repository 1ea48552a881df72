import CipherStore
import Foundation

/// Checks that need no passphrase, so that nobody is asked for one in vain.
enum StoreFileCheck {
    /// Throws when there is no such file.
    static func requireExisting(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else {
            throw StoreError(.missing, "there is no such file", path: path)
        }
    }
}
