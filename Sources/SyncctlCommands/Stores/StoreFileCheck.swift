import CipherStore
import Foundation

/// Checks that need no passphrase, so that nobody is asked for one in vain.
package enum StoreFileCheck {
    /// Throws when there is no such file.
    package static func requireExisting(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else {
            throw StoreError(.missing, "there is no such file", path: path)
        }
    }

    /// Throws when there is no file of a remote or of an original, with the way
    /// to make a replica and not just any store.
    static func requireReplica(_ path: String, of store: String) throws {
        guard FileManager.default.fileExists(atPath: path) else {
            throw Failure(
                "\(path): there is no such file",
                hints: [
                    "make a replica with: syncctl init \(CommandWords.quoted(path)) --clone \(CommandWords.quoted(store))",
                    "a server's name has no dot or slash; see: syncctl remote list \(CommandWords.quoted(store))",
                ],
                status: .storeMissing)
        }
    }

    /// Throws when the folder of a new file is not there.
    static func requireFolder(of path: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue
        else {
            throw Failure("\(path): there is no such folder", hints: ["make the folder first"])
        }
    }

    /// Throws when there is no bundle file.
    static func requireBundle(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else {
            throw Failure(
                "\(path): there is no such file",
                hints: ["bundles are made with: syncctl bundle create, requests with: syncctl bundle request"]
            )
        }
    }

    /// Throws when a file is there already, before anybody is asked for a passphrase.
    static func requireFree(_ path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw StoreError(.exists, "there is a file already", path: path)
        }
    }
}
