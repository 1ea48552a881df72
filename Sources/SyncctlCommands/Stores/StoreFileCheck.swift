import CipherStore
import Foundation
import SyncEngine

/// Checks that need no passphrase, so that nobody is asked for one in vain.
package enum StoreFileCheck {
    /// The name of a database that has no file, to SQLite.
    private static let memoryName = ":memory:"

    /// Why a name can't be that of a file; nil when it can.
    package static func obstacle(toName path: String) -> String? {
        guard !path.isEmpty else { return "the name of a file is empty" }
        if let scheme = scheme(of: path) {
            // What follows may be an invitation, which is a secret.
            return "\(scheme)… is an address, and no file"
        }
        return path == memoryName
            ? "\(memoryName) is no file, and nothing of it would last: name a file" : nil
    }

    /// What an address begins with, such as `https://`; nil for a path.
    private static func scheme(of path: String) -> String? {
        guard let end = path.range(of: "://") else { return nil }
        let name = path[..<end.lowerBound]
        let isScheme = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                || "0123456789+-.".utf8.contains(byte)
        }
        // A folder can have a name with a colon at its end.
        guard !name.isEmpty, isScheme, !FileManager.default.fileExists(atPath: "\(name):") else { return nil }
        return String(path[..<end.upperBound])
    }

    /// Throws when there is no such file, or a name is none.
    package static func requireExisting(_ path: String) throws {
        if let obstacle = obstacle(toName: path) { throw Failure.usage(obstacle) }
        try requireNoDeadLink(path)
        guard FileManager.default.fileExists(atPath: path) else {
            throw StoreError(.missing, "there is no such file", path: path)
        }
    }

    /// Throws when a path is that of a link that leads nowhere, or in a circle.
    private static func requireNoDeadLink(_ path: String) throws {
        if isLinkLoop(path) { throw linkLoop(path, status: .storeMissing) }
        guard let target = danglingTarget(of: path) else { return }
        throw Failure.missing(
            target,
            hints: ["\(CommandWords.path(path)) is a link to it: remove the link, or name another file"])
    }

    private static func linkLoop(_ path: String, status: ExitStatus) -> Failure {
        Failure(
            "\(path): it is a link that leads back to itself",
            hints: ["remove the link, or name another file"], status: status)
    }

    private static func isLinkLoop(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) != 0 && errno == ELOOP
    }

    /// Throws when there is no such file, or one of another kind that says so.
    package static func requireStore(_ path: String) throws {
        try requireExisting(path)
        let file = CommandWords.path(path)
        switch FileContent(ofFile: path) {
        case .sealed:
            throw Failure.noKeyOpens(
                "\(path): it is an archive or a bundle, and no store",
                hints: [
                    "make a store of an archive with: syncctl restore \(file) <store>",
                    "see what a bundle holds with: syncctl bundle show \(file)",
                ])
        case .text:
            throw Failure.noKeyOpens(
                "\(path): it is a text, and no store",
                hints: ["rows of CSV or JSON Lines are imported with: syncctl import <store> \(file)"])
        case .missing, .notRegular, .empty, .plaintext, .other: return
        }
    }

    /// Throws when a file can't be a store, whatever opens it: it is none, has no bytes, or is something else that says so.
    static func requirePossibleStore(_ path: String) throws {
        switch FileContent(ofFile: path) {
        case .notRegular: throw StoreError(.cannotRead, "not a regular file", path: path)
        case .empty: throw StoreError(.empty, "the file is empty, it holds no database", path: path)
        case .plaintext: throw StoreError(.plaintext, "the database is not encrypted", path: path)
        case .missing, .sealed, .text, .other: try requireStore(path)
        }
    }

    /// Throws when there is no store of a remote or of an original, with the way to make a replica and not just any
    /// store. What is no store is not noted as a remote either.
    static func requireReplica(_ path: String, of store: String) throws {
        if let obstacle = obstacle(toName: path) {
            let name = CommandWords.path(store)
            throw Failure.usage(
                obstacle,
                hints: [
                    "a server or a relay is named as the store knows it; see: syncctl remote list \(name)",
                    "an invitation makes it known: syncctl remote add \(name)",
                ])
        }
        try requireNoDeadLink(path)
        switch FileContent(ofFile: path) {
        case .missing:
            if let address = RemoteArgument.address(meantBy: path) {
                throw Failure.missing(path, hints: ["did you mean: \(CommandWords.quoted(address))"])
            }
            throw Failure.missing(
                path,
                hints: [
                    "make a replica with: syncctl init \(CommandWords.path(path)) --clone \(CommandWords.path(store))",
                    "a server's name has no dot or slash; see: syncctl remote list \(CommandWords.path(store))",
                ])
        case .notRegular:
            throw Failure(
                "\(path): it is no file",
                hints: ["a shared folder is named so: --remote \(RemoteArgument.words(forFolder: path))"])
        case .empty, .plaintext, .sealed, .text, .other: try requirePossibleStore(path)
        }
    }

    /// Throws when the store that is to be cloned is not there.
    static func requireOriginal(_ path: String) throws {
        if let obstacle = obstacle(toName: path) { throw Failure.usage(obstacle) }
        try requireNoDeadLink(path)
        guard FileContent(ofFile: path) != .missing else {
            throw Failure.missing(path, hints: ["--clone takes the store that the new one is a replica of"])
        }
        try requireStore(path)
    }

    /// Throws when there is no archive.
    static func requireArchive(_ path: String) throws {
        let content = FileContent(ofFile: path)
        try requireBytes(
            path, content, holding: "archive",
            hint: "archives are made with: syncctl export <store> --to <file>\(ArchiveName.suffix)")
        guard content != .text else {
            throw Failure(
                "\(path): it is a text, and no archive",
                hints: [
                    "CSV and JSON Lines go into a store with: syncctl import <store> \(CommandWords.path(path))"
                ])
        }
        // One that has the name of an archive, and another head, is damaged, which its reader says.
        guard [.plaintext, .other].contains(content), !ArchiveName.isArchive(path),
            FileManager.default.isReadableFile(atPath: path)
        else { return }
        let file = CommandWords.path(path)
        throw Failure(
            "\(path): it is no archive",
            hints: [
                content == .plaintext
                    ? "encrypt it into a new store with: syncctl init <store> --from \(file)"
                    : "another replica of a store is made with: syncctl init <store> --clone \(file)"
            ])
    }

    /// Throws when there is no plain SQLite file to make a store of, and says what else to do with what is there.
    static func requirePlaintext(_ path: String) throws {
        let content = FileContent(ofFile: path)
        try requireBytes(
            path, content, holding: "database", hint: "--from takes an archive, or a plain SQLite file")
        guard content != .plaintext else { return }
        let file = CommandWords.path(path)
        throw Failure(
            "\(path) is no plain SQLite file",
            hints: [
                content == .text
                    ? "rows of CSV or JSON Lines are imported with: syncctl import <store> \(file)"
                    : "a replica of an encrypted store is made with: --clone \(file)"
            ])
    }

    /// Throws when what a store is to be made of is not there, is no file, or has no bytes.
    private static func requireBytes(
        _ path: String, _ content: FileContent, holding what: String, hint: String
    ) throws {
        switch content {
        case .missing: throw Failure.missing(path, hints: [hint])
        case .notRegular: throw StoreError(.cannotRead, "not a regular file", path: path)
        case .empty:
            throw Failure(
                "\(path): the file is empty, it holds no \(what)", hints: [hint], status: .storeMissing)
        case .plaintext, .sealed, .text, .other: return
        }
    }

    /// Throws when a new file or folder can't be made at a path: its own folder is not there, or the name is that of a
    /// file that is kept beside a store.
    static func requirePlace(of path: String) throws {
        if let obstacle = obstacle(toName: path) { throw Failure.usage(obstacle) }
        try FileReplacement.requireNoOwner(of: path)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue
        else {
            throw Failure("\(path): there is no such folder", hints: ["make the folder first"])
        }
    }

    /// Throws when there is no bundle file, before anybody is asked for a passphrase.
    static func requireBundle(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else {
            throw Failure(
                "\(path): there is no such file",
                hints: [bundleHint])
        }
        let begins: Bool
        do {
            begins = try BundleFile.beginsAsOne(path)
        } catch let error as StoreError where [.archiveDamaged, .formatTooNew].contains(error.code) {
            // Who opens it says more of that.
            begins = true
        } catch let error as StoreError where error.code == .empty {
            begins = false
        }
        guard begins else { throw Failure("\(path): it is no bundle", hints: [bundleHint]) }
    }

    private static let bundleHint =
        "bundles are made with: syncctl bundle create, requests with: syncctl bundle request"

    /// Throws when a file is there already, before anybody is asked for a passphrase.
    static func requireFree(_ path: String) throws {
        if isLinkLoop(path) { throw linkLoop(path, status: .failure) }
        if let target = danglingTarget(of: path) {
            throw Failure(
                "\(path): it is a link to \(target), which is not there",
                hints: ["remove the link, or name the file itself: \(CommandWords.path(target))"])
        }
        var isFolder: ObjCBool = false
        guard !FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            let kind = isFolder.boolValue ? "folder" : "file"
            throw StoreError(.exists, "there is a \(kind) already", path: path)
        }
    }

    /// Throws when there is a file already where a store is to be made, or what SQLite or a keyring kept beside one,
    /// or no folder for it, or when the name is that of a file beside another store.
    static func requireNew(_ path: String) throws {
        try requirePlace(of: path)
        try requireFree(path)
        try FileReplacement.requireNoSidecars(of: path)
        try FileReplacement.requireNoKeyring(of: path)
    }

    /// What a symbolic link names that leads nowhere; nil for anything else.
    private static func danglingTarget(of path: String) -> String? {
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path),
            !FileManager.default.fileExists(atPath: path)
        else { return nil }
        guard !target.hasPrefix("/") else { return target }
        return path.lastIndex(of: "/").map { path[...$0] + target } ?? target
    }
}
