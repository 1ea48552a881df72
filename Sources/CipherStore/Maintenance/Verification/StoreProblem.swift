/// Something that a check of a store found.
public struct StoreProblem: Equatable, Sendable {
    /// The kinds of problem. New kinds may be added.
    public enum Kind: String, Sendable {
        /// A page does not carry the MAC that it needs: it was changed by somebody without the key,
        /// or by a fault of the disk.
        case page
        /// The file is shorter or longer than the database in it.
        case size
        /// The write-ahead log is damaged.
        case wal
        /// SQLite's integrity check found something.
        case structure
        /// A row refers to a row that is not there.
        case reference
        /// The keyring, or the copy beside it, is damaged, or belongs to another file.
        case keyring
        /// The copy beside the keyring is missing, or only a newer version can read it: that is no damage, and the
        /// keyring itself must stay as it is.
        case keyringCopy = "keyring-copy"
        /// The metadata of synchronization contradicts itself, or the tables.
        case metadata
        /// Something in the schema that synchronization did not make reaches into what it keeps for itself, such as keys.
        case schema
        /// A check could not be made.
        case unreadable
        /// The system does not let this process read a file, or the disk is full: that is no damage.
        case access
    }

    /// The kind of problem.
    public let kind: Kind

    /// What was found, without the path of the store.
    public let message: String

    /// The page, for problems of pages.
    public let page: Int?

    /// The table that is concerned, if that can be told.
    public let table: String?

    /// Makes a problem.
    public init(_ kind: Kind, _ message: String, page: Int? = nil, table: String? = nil) {
        self.kind = kind
        self.message = message
        self.page = page
        self.table = table
    }
}

/// What a check of a store found.
public struct StoreCheckReport: Sendable {
    /// The problems, as many as were asked for.
    public internal(set) var problems: [StoreProblem] = []

    /// How many problems there are.
    public internal(set) var problemCount = 0

    /// The format and page size of the file.
    public internal(set) var settings: CipherSettings?

    /// The pages of the database.
    public internal(set) var pageCount = 0

    /// The pages that the file has, where that is another number; those beyond it are missing.
    package internal(set) var presentPageCount: Int?

    /// The pages that are damaged or missing.
    public internal(set) var badPageCount = 0

    /// The committed frames of the write-ahead log.
    public internal(set) var walFrameCount = 0

    /// Whether the store has a keyring.
    public internal(set) var hasKeyring = false

    /// The collations and functions of the app that indexes and constraints need, and the check had to do without: it
    /// has not compared these indexes with their tables.
    public internal(set) var unknownNames: [String] = []

    /// Whether nothing was found.
    public var isSound: Bool { problemCount == 0 }

    /// Whether something is damaged, and not only out of reach of this process, or without a copy.
    public private(set) var isDamaged = false

    private let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func add(_ problem: StoreProblem) {
        problemCount += 1
        if ![.access, .keyringCopy].contains(problem.kind) { isDamaged = true }
        if problems.count < limit { problems.append(problem) }
    }
}
