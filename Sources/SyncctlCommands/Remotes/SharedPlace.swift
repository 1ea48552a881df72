import CipherStore
import Foundation
import SyncEngine

/// A place that keeps the files of replicas, as a command line names it: a folder or a bucket.
package struct SharedPlace {
    /// What a remote names.
    private enum Kind {
        case folder(String)
        case bucket(BucketArgument)
    }

    private let kind: Kind
    /// Requests to a bucket cost money: that something was read is told once an hour.
    private static let acknowledgementSeconds = 3600.0

    /// The place that a remote names; nil when it names none.
    init?(_ argument: RemoteArgument) {
        switch argument {
        case .folder(let path) where !path.isEmpty: kind = .folder(path)
        case .bucket(let bucket) where !bucket.bucket.isEmpty: kind = .bucket(bucket)
        case .folder, .bucket, .file, .ssh, .server: return nil
        }
    }

    /// The path of the folder; nil for a bucket.
    var folder: String? { if case .folder(let path) = kind { path } else { nil } }

    /// What it is called.
    var noun: String { folder == nil ? "bucket" : "folder" }

    /// What stands before messages about it, and in the errors of its files.
    var location: String {
        switch kind {
        case .folder(let path): path
        case .bucket(let bucket): bucket.name
        }
    }

    /// How it is spelled in commands that hints give.
    var words: String {
        switch kind {
        case .folder(let path): RemoteArgument.words(forFolder: path)
        case .bucket(let bucket): Self.words(for: bucket)
        }
    }

    private static func words(for bucket: BucketArgument) -> String {
        let options = [
            ("--s3-endpoint", bucket.endpoint), ("--s3-region", bucket.region),
            ("--s3-profile", bucket.profile),
        ].compactMap { name, value in value.map { "\(name) \(CommandWords.quoted($0))" } }
        return
            ([CommandWords.quoted(bucket.name)] + options + (bucket.isPathStyle ? ["--s3-path-style"] : []))
            .joined(separator: " ")
    }

    /// Throws when it is not there, as far as that shows before a passphrase is asked for.
    ///
    /// - parameter creates: Whether a folder may be missing; nil where no command makes one.
    func require(creates: Bool?) throws {
        guard let folder else {
            _ = try NetworkSupport.required(for: "buckets")
            return
        }
        if creates != nil {
            try StoreFileCheck.requireFolder(of: folder)
            try FolderRemote.refuseFile(folder)
        }
        if creates != true {
            try FolderRemote.requireFolder(
                folder, creationHint: creates == nil ? nil : "to begin a shared folder there, add --create")
        }
    }

    /// Opens the place, and reads the passphrase of its files.
    ///
    /// - parameters:
    ///     - store: The store that is synchronized through it.
    ///     - cost: What trying the passphrase costs in files that are written there.
    func open(
        store: String, _ options: some PassphraseOptions, cost: ScryptCost = .standard,
        _ context: CommandContext
    ) throws -> OpenedPlace {
        let opened: OpenedBucket? =
            switch kind {
            case .folder: nil
            case .bucket(let bucket): try NetworkSupport.required(for: "buckets").bucket(bucket, store: store)
            }
        guard let passphrase = try context.passphrase(options, for: location) else {
            throw Failure.usage(
                "no passphrase for the \(noun) \(location)",
                hints: [
                    "a \(noun) has a passphrase of its own, the same for all of its replicas: --remote-passphrase-file"
                ])
        }
        let mailbox = opened?.mailbox ?? LocalFolder(path: location)
        var transport = MailboxTransport(mailbox: mailbox, passphrase: passphrase, cost: cost)
        if opened != nil { transport.acknowledgementSeconds = Self.acknowledgementSeconds }
        return OpenedPlace(transport: transport, requestCount: opened?.requestCount)
    }
}

/// A place that is ready to be used.
struct OpenedPlace {
    /// The way through it.
    let transport: MailboxTransport
    /// How many requests were sent so far; nil for a folder, which takes none.
    let requestCount: (() -> Int)?
}
