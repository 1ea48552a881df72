import CipherStore
import SyncEngine
import Synchronization

/// The way to stores on other machines.
///
/// The program that has the commands adds it (``NetworkSupport``), so that one without servers is built without
/// the libraries that they need.
package protocol NetworkAccess: Sendable {
    /// Opens the store of a command, and prepares the way to its remote.
    ///
    /// - parameter remote: A server, or a store that ssh reaches.
    func open(_ remote: RemoteArgument, _ request: RemoteRequest, _ context: CommandContext) throws
        -> OpenedRemote

    /// Prepares the way to a bucket. Nothing is asked yet.
    ///
    /// - parameters:
    ///     - argument: The bucket.
    ///     - store: The store that is synchronized through it, or will be.
    ///     - isKnown: Whether the store was synchronized through it before, so that its name is a bucket's.
    func bucket(_ argument: BucketArgument, store: String, isKnown: () throws -> Bool) throws -> OpenedBucket

    /// Prepares the way through a relay. Nothing is asked yet.
    ///
    /// - parameters:
    ///     - name: What the store calls it.
    ///     - synchronizer: The store, which has the key.
    ///     - context: Prints that the relay refuses for now.
    func relay(_ name: String, of synchronizer: Synchronizer, _ context: CommandContext) throws -> OpenedRelay

    /// Reads an invitation from the text of its link.
    func invitation(_ link: String) throws -> any Invitation

    /// The words for an error of the network; nil for any other error.
    ///
    /// - parameter store: The store that the command works on, for hints that name it.
    func failure(explaining error: any Error, store: String?) -> Failure?
}

/// What was said of a remote on the command line.
package struct RemoteRequest {
    /// The store that is synchronized with it.
    package let store: StoreOptions
    /// Whether somebody wrote its name, who may have meant a file.
    package let isNamed: Bool
    /// What ssh runs there; nil for what is usual.
    package var command: String?
    /// Whether a passphrase of the remote was given.
    package var hasPassphrase = false
    /// When changes are compressed on their way.
    package var compression = Compression.automatic
    /// The store, if it is open already.
    package var opened: Synchronizer?
}

/// A store, and the way to its remote.
package struct OpenedRemote {
    /// The store here.
    package let synchronizer: Synchronizer
    /// The way to the other one.
    package let transport: any Transport
    /// Whether the other one takes no changes, as far as it has said so by now.
    package let isReadOnly: () throws -> Bool

    /// Makes the two of them.
    package init(
        _ synchronizer: Synchronizer, _ transport: any Transport,
        isReadOnly: @escaping () throws -> Bool = { false }
    ) {
        self.synchronizer = synchronizer
        self.transport = transport
        self.isReadOnly = isReadOnly
    }
}

/// A relay that is ready to be used.
package struct OpenedRelay {
    /// The way through it.
    package let transport: MailboxTransport
    /// How many requests were sent so far, repetitions included.
    package let requestCount: () -> Int
    /// Keeps what was seen of it, and says what it did that an honest one does not do.
    package let conclude: () throws -> [String]

    /// Makes one.
    package init(
        _ transport: MailboxTransport, requestCount: @escaping () -> Int,
        conclude: @escaping () throws -> [String]
    ) {
        (self.transport, self.requestCount, self.conclude) = (transport, requestCount, conclude)
    }
}

/// What lets a new replica of a store in: one that is served, or one that a relay has the files of.
package protocol Invitation: Sendable {
    /// Where the server or the relay is.
    var url: String { get }

    /// Makes a replica of the store, and brings what came since.
    func join(at path: String, passphrase: borrowing Passphrase, _ context: CommandContext) throws
}

/// The network that the program has, if it has any.
package enum NetworkSupport {
    private static let installed = Mutex<(any NetworkAccess)?>(nil)

    /// Adds the network to the commands. Called once, before a command is parsed.
    package static func install(_ access: any NetworkAccess) { installed.withLock { $0 = access } }

    /// The network; nil where the program is built without it.
    static var access: (any NetworkAccess)? { installed.withLock { $0 } }

    /// The network.
    ///
    /// - parameter purpose: What it is needed for.
    /// - throws: A ``Failure`` where the program is built without it.
    static func required(for purpose: String = "servers and ssh") throws -> any NetworkAccess {
        if let access { return access }
        throw Failure.usage(
            "this program was built without \(purpose)",
            hints: [
                "name another store or a folder with --remote",
                "build the whole one with: swift build -c release --product syncctl",
            ])
    }
}
