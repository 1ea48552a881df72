import Foundation

/// What operations that were killed left beside a store.
///
/// No such file is needed: a store, a copy, a keyring or an archive has its name only when it is complete.
public enum StoreLeftovers {
    /// The words in the names of temporary files, by what makes them.
    static let purposes = [
        "rekey", "copy", "import", "export", "vacuum", "archive", "sealed", "new", "join", "snapshot",
    ]

    /// The paths of the temporary files of a store, of its keyring and of the keyring's copy.
    ///
    /// Names that only resemble those that the library gives are left out. A file of an operation
    /// that is running looks like one of an operation that was killed.
    public static func find(beside store: String) -> [String] {
        names(beside: store) { $0.isTemporary }
    }

    /// The paths of keyrings that were set aside because they were not those of the file. One may be
    /// that of an older version of the store.
    public static func staleKeyrings(beside store: String) -> [String] {
        names(beside: store) { $0.isStaleKeyring }
    }

    private static func names(beside store: String, _ isWanted: (Name) -> Bool) -> [String] {
        let url = URL(fileURLWithPath: store).resolvingSymlinksInPath()
        let folder = url.deletingLastPathComponent().path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { isWanted(Name(file: $0, store: url.lastPathComponent)) }.sorted()
            .map { folder + "/" + $0 }
    }

    /// A name in the folder of a store.
    private struct Name {
        let file: String
        let store: String

        private var destinations: [String] {
            let keyring = store + KeyringStorage.suffix
            return [store, keyring, keyring + KeyringStorage.backupSuffix]
        }

        var isTemporary: Bool {
            destinations.contains { destination in
                StoreLeftovers.purposes.contains { purpose in
                    let prefix = "\(destination).\(purpose)-"
                    return file.hasPrefix(prefix)
                        && FileReplacement.isTemporary(file.dropFirst(prefix.count))
                }
            }
        }

        var isStaleKeyring: Bool {
            let prefix = store + KeyringStorage.suffix + ".stale-"
            return file.hasPrefix(prefix) && FileReplacement.isTemporary(file.dropFirst(prefix.count))
        }
    }
}
