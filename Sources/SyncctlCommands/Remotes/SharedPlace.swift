import CipherStore
import Foundation
import SyncEngine

/// A place that keeps the files of replicas, as a command line names it: a folder, a bucket or a relay.
package struct SharedPlace {
    /// What a remote names.
    private enum Kind {
        case folder(String)
        case bucket(BucketArgument)
        case relay(String)
    }

    private let kind: Kind
    /// Requests to a bucket cost money: that something was read is told once an hour.
    private static let acknowledgementSeconds = 3600.0

    /// The place that a remote names; nil when it names none.
    init?(_ argument: RemoteArgument) {
        switch argument {
        case .folder(let path) where !path.isEmpty: kind = .folder(path)
        case .bucket(let bucket) where !bucket.bucket.isEmpty: kind = .bucket(bucket)
        case .relay(let name): kind = .relay(name)
        case .folder, .bucket, .file, .ssh, .server: return nil
        }
    }

    /// The path of the folder; nil for a bucket and a relay.
    var folder: String? { if case .folder(let path) = kind { path } else { nil } }

    /// What it is called.
    var noun: String {
        switch kind {
        case .folder: "folder"
        case .bucket: "bucket"
        case .relay: "relay"
        }
    }

    /// What to do when it holds another database.
    var ownPlaceHint: String {
        switch kind {
        case .folder: "each database needs a folder of its own"
        case .bucket: "each database needs a prefix of its own in the bucket"
        case .relay: "each database needs a channel of its own: syncctl share <store> --relay <url>"
        }
    }

    /// What to do about tables that are missing here: a snapshot has them, and another replica tells how they are made.
    ///
    /// - parameter store: The store, as it is spelled in commands.
    func definitionHints(store: String) -> [String] {
        let (send, begin) =
            if case .relay = kind {
                ("syncctl share <store> --snapshot", "-")
            } else {
                ("syncctl sync <store> --remote \(words) --snapshot", words)
            }
        return [
            "put a snapshot there, where the table was made: \(send)",
            "make a new replica of it here: syncctl init new.db --join \(begin)",
            "then take the tables from that: syncctl sync \(store) --remote new.db --create-tables",
        ]
    }

    /// What stands before messages about it, and in the errors of its files.
    var location: String {
        switch kind {
        case .folder(let path): path
        case .bucket(let bucket): bucket.name
        case .relay(let name): name
        }
    }

    /// How it is spelled in commands that hints give.
    var words: String {
        switch kind {
        case .folder(let path): RemoteArgument.words(forFolder: path)
        case .bucket(let bucket): Self.words(for: bucket)
        case .relay(let name): CommandWords.quoted(name)
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
            _ = try NetworkSupport.required(for: "\(noun)s")
            return
        }
        if creates != nil {
            try StoreFileCheck.requirePlace(of: folder)
            try FolderRemote.refuseFile(folder)
        }
        if creates != true {
            try FolderRemote.requireFolder(
                folder, creationHint: creates == nil ? nil : "to begin a shared folder there, add --create")
        }
    }

    /// What to say of a passphrase that does not open the files there; nil of any other error.
    func failure(opening error: StoreError) -> Failure? {
        guard error.code == .wrongPassphrase, error.path?.hasPrefix(location + "/") == true else {
            return nil
        }
        return Failure.noKeyOpens(
            "\(location): the passphrase does not open the files of the \(noun)",
            hints: [
                "all replicas use the same one, given by --remote-passphrase-file",
                "if it is the right one, this file is damaged: \(error.path ?? location); move it away, and its replica writes another when it synchronizes",
            ])
    }

    /// Opens the place, and reads the passphrase of its files, of a folder or a bucket.
    ///
    /// - parameters:
    ///     - store: The store that is synchronized through it.
    ///     - cost: What trying the passphrase costs in files that are written there.
    ///     - makesFolder: Whether a folder that is not there is made by the first write.
    ///     - synchronizer: Opens the store, which has the key of a relay.
    func open(
        store: String, _ options: some PassphraseOptions, cost: ScryptCost = .standard,
        _ context: CommandContext, makesFolder: Bool = false, synchronizer: (() throws -> Synchronizer)? = nil
    ) throws -> OpenedPlace {
        let opened: OpenedBucket?
        switch kind {
        case .folder: opened = nil
        case .bucket(let bucket):
            opened = try NetworkSupport.required(for: "buckets").bucket(bucket, store: store) {
                try synchronizer?().rememberedRemotes().contains { $0.name == bucket.name } ?? false
            }
        case .relay(let name):
            guard let synchronizer else { throw Failure.usage("\(name) is no place to begin from") }
            let relay = try NetworkSupport.required(for: "relays").relay(name, of: synchronizer(), context)
            return OpenedPlace(transport: relay.transport, requestCount: relay.requestCount, relay: relay)
        }
        guard let passphrase = try context.passphrase(options, for: location) else {
            throw Failure.usage(
                "no passphrase for the \(noun) \(location)",
                hints: [
                    "a \(noun) has a passphrase of its own, the same for all of its replicas: --remote-passphrase-file"
                ])
        }
        let mailbox = opened?.mailbox ?? FoundFolder(path: location, isMade: makesFolder)
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
    /// The relay, if it is one.
    var relay: OpenedRelay?
}
