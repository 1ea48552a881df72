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
        names(beside: store) { $0.isTemporary(FileReplacement.isTemporary) }
    }

    /// The paths of files that an older version of the library may have left, or that somebody named so: it
    /// gave its temporary files names such as `notes.db.copy-1a2b`, and users give backups names such as
    /// `notes.db.copy-1`. Only who looks at such a file knows whether it is needed.
    ///
    /// Among them is what a server left of a snapshot for a device, of whichever store in the folder.
    public static func doubtful(beside store: String) -> [String] {
        names(beside: store) { $0.isTemporary(FileReplacement.isUnpadded) || $0.isServedSnapshot }
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
        let name = url.lastPathComponent
        return names.filter { isWanted(Name(file: $0, store: name, folder: folder)) }.sorted()
            .map { folder + "/" + $0 }
    }

    /// A name in the folder of a store.
    private struct Name {
        private static let destinations = [
            "", KeyringStorage.suffix, KeyringStorage.suffix + KeyringStorage.backupSuffix,
        ]

        let file: String
        let store: String
        let folder: String

        /// What comes after the name of the store; nil for the files of others.
        private var end: Substring? {
            let start = String(file.prefix(store.count))
            guard start == store || isStore(start) else { return nil }
            return file.dropFirst(store.count)
        }

        /// Whether a name leads to the store that differs from its name in the case of letters only. Volumes that take
        /// both for one name keep that by which the store was opened then.
        private func isStore(_ name: String) -> Bool {
            guard name.foldedIdentifier == store.foldedIdentifier,
                let identity = FileIdentity(path: folder + "/" + name)
            else { return false }
            return identity == FileIdentity(path: folder + "/" + store)
        }

        /// Whether the name has the form of those of temporary files.
        ///
        /// - parameter isNumber: Whether what comes after the word is what is looked for.
        func isTemporary(_ isNumber: (Substring) -> Bool) -> Bool {
            guard let end else { return false }
            return Self.destinations.contains { destination in
                StoreLeftovers.purposes.contains { purpose in
                    Self.number(end, after: "\(destination).\(purpose)-").map(isNumber) ?? false
                }
            }
        }

        /// Whether a server of an older version gave the name: a word and 32 digits, and what was made beside that file.
        var isServedSnapshot: Bool {
            let mark = ".snapshot-"
            guard file.hasPrefix(mark) else { return false }
            let digits = file.utf8.dropFirst(mark.utf8.count).prefix(while: FileReplacement.isDigit)
            return digits.count == 32
        }

        /// Such a file is kept, and only shown: it counts whichever version named it.
        var isStaleKeyring: Bool {
            guard let end, let number = Self.number(end, after: KeyringStorage.suffix + ".stale-")
            else { return false }
            return FileReplacement.isTemporary(number) || FileReplacement.isUnpadded(number)
        }

        private static func number(_ end: Substring, after prefix: String) -> Substring? {
            end.hasPrefix(prefix) ? end.dropFirst(prefix.count) : nil
        }
    }
}
