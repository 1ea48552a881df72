import SyncEngine

/// What was found in a bucket, with what this process has written and removed since.
struct BucketListing: Sendable {
    /// A file.
    struct File: Equatable, Sendable {
        let byteCount: Int
        /// What tells its versions apart; nil when the server gives none.
        let tag: String?
    }

    private(set) var folders: [String: [String: File]] = [:]
    /// Whether something is known to have changed since.
    var isStale = false

    /// The file of a path; nil when there is none.
    subscript(path: MailboxPath) -> File? {
        get { folders[path.folder]?[path.name] }
        set {
            folders[path.folder, default: [:]][path.name] = newValue
            if folders[path.folder]?.isEmpty == true { folders[path.folder] = nil }
        }
    }

    /// Adds an entry of a listing, if it lies as deep as the files of replicas do.
    ///
    /// - parameter prefix: What the names of all files of the mailbox begin with.
    mutating func add(_ entry: ListingPage.Entry, prefix: String) {
        guard entry.key.hasPrefix(prefix) else { return }
        let parts = entry.key.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return }
        self[MailboxPath(folder: String(parts[0]), name: String(parts[1]))] = File(
            byteCount: entry.byteCount, tag: entry.tag)
    }
}

/// The last listing, and what may have happened to it while it was made: several threads may list and write at once.
struct KnownListing {
    /// How it stood when a listing was begun.
    struct Start {
        let number: Int
        let changeCount: Int
    }

    /// nil before the bucket was looked at.
    var listing: BucketListing?
    /// How often something was written, removed or doubted.
    var changeCount = 0
    private var startCount = 0
    /// The number of the listing.
    private var number = 0

    /// Begins another listing.
    mutating func begin() -> Start {
        startCount += 1
        return Start(number: startCount, changeCount: changeCount)
    }

    /// Keeps a listing, unless there is one that was begun later. It is stale when something changed while it was made: it may
    /// have that, or not.
    ///
    /// - returns: Whether what it has not found is not there.
    mutating func keep(_ new: BucketListing, from start: Start) -> Bool {
        guard start.number > number else { return false }
        number = start.number
        let isStale = start.changeCount != changeCount
        listing = new
        listing?.isStale = isStale
        return !isStale
    }
}
