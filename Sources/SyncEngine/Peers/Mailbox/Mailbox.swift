import Foundation

/// A place where replicas leave files for each other: a folder, a bucket, a relay.
///
/// It has folders, one for each replica, and files in them. There is no deeper level. A place needs few
/// abilities: no locks, no renaming, no appending, and no guarantee that a file can be read right after it
/// was written. The engine does not trust the place: it encrypts and authenticates each file, and treats a
/// damaged, missing, old or incomplete file as one that is late.
///
/// The engine asks for folders named by 32 characters of `0-9a-f`, and for files named by at most 64 characters
/// of `0-9a-z`, `-` and `.`. Files that others put there may have any name. Bundles and snapshots are written
/// once, under names that were never used before. One file of each folder, its head, is replaced again and again,
/// by one writer. Its size, and that of nothing else, is known to be at most 16 MiB.
///
/// A synchronization asks for ``folders()`` first, and for the files of each after that: a place for which a listing is
/// dear may answer all of that by one. All calls come from one thread of a synchronization, and several synchronizations
/// may run at once. A call blocks until it is done, so an implementation has timeouts of its own. Each throws
/// ``MailboxError``. Any other error ends the synchronization: it is for a place that can't be used at all, such as one
/// that doesn't know the user.
public protocol Mailbox: Sendable {
    /// What status lines, logs and the settings of a store call it: `dir:/media/stick`. It names no secret, and is not `/`, which a
    /// store keeps for itself.
    var name: String { get }

    /// What stands before the names of files in messages: a path or an address. It names no secret.
    var location: String { get }

    /// The names of the folders.
    ///
    /// The list may be out of date: new folders may be missing, and it may name things that are gone or are
    /// not folders. A place that is still empty has no folders; that is not an error.
    ///
    /// - throws: ``MailboxError``: `missing` when the place itself has gone, `notPermitted`, `unreachable`, `failed`.
    func folders() throws -> [String]

    /// The files of a folder, in any order.
    ///
    /// The list may be out of date: new files may be missing, and it may name files that are removed or not
    /// there yet. Each size was the size of the file at some time. In a place where others leave files too,
    /// some files may be incomplete. A missing folder has no files.
    ///
    /// - parameter folder: One of ``folders()``, or the one that the caller writes into.
    /// - throws: ``MailboxError``: `notPermitted`, `unreachable`, `failed`.
    func files(in folder: String) throws -> [MailboxFile]

    /// Opens a file.
    ///
    /// All reads return bytes of one version of the file, or throw: pieces of two versions are never mixed.
    ///
    /// - throws: ``MailboxError``: `missing`, `notPermitted`, `unreachable`, `failed`.
    func open(_ path: MailboxPath) throws -> any MailboxReader

    /// Writes a file, and the folder that it is in when that is not there.
    ///
    /// Others see the whole file or no file; when `replacing`, they see either the old or the new one. When
    /// this returns, the file is durable. When it throws, either nothing or the whole file was written: a
    /// connection may have ended before the answer came.
    ///
    /// - parameters:
    ///     - path: Where it goes.
    ///     - replacing: Whether it takes the place of a file that has the name. Otherwise that is an error, as
    ///       far as the place can tell: the engine never uses such a name twice.
    ///     - body: Gives the bytes to its argument, in order and in pieces of at most
    ///       ``MailboxPath/pieceByteCountMax``. It is called once. When it throws, no file is left, and
    ///       its error is thrown.
    /// - throws: ``MailboxError``: `exists`, `missing` when the place itself has gone, `notPermitted`, `full`, `unreachable`,
    ///   `failed`; what `body` throws.
    func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws

    /// Removes a file. A missing file is not an error. Readers that have the file open may get an error.
    ///
    /// - throws: ``MailboxError``: `notPermitted`, `unreachable`, `failed`.
    func remove(_ path: MailboxPath) throws

    /// Removes several files, in one go where the place can do that. When it throws, some may be removed.
    ///
    /// - throws: As ``remove(_:)-(MailboxPath)``.
    func remove(_ paths: [MailboxPath]) throws
}

extension Mailbox {
    /// Removes them one by one, all that can be.
    ///
    /// - throws: The first error.
    public func remove(_ paths: [MailboxPath]) throws {
        var problem: (any Error)?
        for path in paths {
            do { try remove(path) } catch { problem = problem ?? error }
        }
        if let problem { throw problem }
    }
}

/// A mailbox whose calls can be ended while they wait.
package protocol CancellableMailbox: Mailbox {
    /// The same place, for one synchronization: its calls throw when that was cancelled.
    func cancelled(by cancellation: SyncCancellation) -> any Mailbox
}

/// A file of a ``Mailbox`` that is open, and read from its start to its end.
public protocol MailboxReader: AnyObject {
    /// The size of the file.
    var byteCount: Int { get }

    /// Reads the next bytes.
    ///
    /// - parameter count: The most that is wanted, from 1 to ``MailboxPath/pieceByteCountMax``.
    /// - returns: At least one byte and at most `count`; none after the last one.
    /// - throws: ``MailboxError``: `missing` when the file is gone meanwhile, `unreachable`, `failed`.
    func read(upTo count: Int) throws -> Data
}

/// Where a file of a ``Mailbox`` is.
public struct MailboxPath: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes that are read or written at once: 1 MiB.
    public static let pieceByteCountMax = 1 << 20

    /// The folder.
    public let folder: String
    /// The name of the file in it.
    public let name: String

    /// Makes a path.
    ///
    /// - parameters:
    ///     - folder: The folder.
    ///     - name: The name of the file in it.
    public init(folder: String, name: String) {
        self.folder = folder
        self.name = name
    }

    /// Both, with a slash between.
    public var description: String { "\(folder)/\(name)" }
}

/// What a ``Mailbox`` says of a file.
public struct MailboxFile: Hashable, Sendable {
    /// The name of the file in its folder.
    public let name: String
    /// Its size.
    public let byteCount: Int
    /// When it was last written, in milliseconds since 1970; nil where the place doesn't know. Temporary files of
    /// writers that were killed are removed by it.
    public let modifiedMilliseconds: Int64?
    /// What the place calls this version of the file, another one whenever somebody has written it, such as an entity tag: 1 to
    /// 256 visible ASCII characters. nil where a listing doesn't say it.
    public let version: String?

    /// Makes an entry.
    ///
    /// - parameters:
    ///     - name: The name of the file in its folder.
    ///     - byteCount: Its size.
    ///     - modifiedMilliseconds: When it was last written, in milliseconds since 1970.
    ///     - version: What the place calls this version of the file.
    public init(
        name: String, byteCount: Int, modifiedMilliseconds: Int64? = nil, version: String? = nil
    ) {
        self.name = name
        self.byteCount = byteCount
        self.modifiedMilliseconds = modifiedMilliseconds
        self.version = version
    }
}
