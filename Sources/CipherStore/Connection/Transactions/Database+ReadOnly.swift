/// The blocks of a connection that run and must not write.
struct ReadOnlyBlocks {
    /// How many there are, one inside of the other.
    var depth = 0

    /// Whether the access that runs is one read of a snapshot, and nothing else.
    private(set) var areOfSnapshot = false

    /// What was known of the pages at the last check that found them authentic; nil once anything but reads of
    /// snapshots has used the connection.
    var verifiedPages: PageMark?

    /// Whether SQLite's counter of pages can be relied upon: who has the raw connection may reset it.
    fileprivate(set) var countsPages = true

    /// Notes what the access that begins is.
    mutating func beginAccess(isSnapshot: Bool) {
        areOfSnapshot = isSnapshot
        if !isSnapshot { verifiedPages = nil }
    }

    /// Whether SQLite still refuses to write, after the last of them has ended.
    var areStillInEffect = false
}

/// A moment between two pages that SQLite has read from files.
struct PageMark: Equatable {
    /// How many it had read.
    let pageCount: CInt

    /// How often files were attached or detached, or the schema had changed, which the count does not outlast.
    let generation: Int
}

extension Database {
    /// The handle, for somebody who can do with it whatever the C API can.
    var handleForOthers: SQLiteConnection {
        readOnlyBlocks.countsPages = false
        return handle
    }

    /// Whether writing is not allowed now.
    var isReadOnly: Bool { configuration.readonly || readOnlyBlocks.depth > 0 }

    /// Runs a block that must not write: statements that would fail with
    /// `SQLITE_READONLY`.
    ///
    /// - throws: What the block throws.
    public func readOnly<T>(_ body: () throws -> T) throws -> T {
        try beginReadOnly()
        defer { endReadOnly() }
        return try body()
    }

    // The pragma acts when it is prepared, so a cached statement would not do.

    private func beginReadOnly() throws {
        settle()
        if !isReadOnly && !readOnlyBlocks.areStillInEffect { try bookkeeping("PRAGMA query_only = 1") }
        readOnlyBlocks.areStillInEffect = false
        readOnlyBlocks.depth += 1
    }

    /// The statement after which writing is allowed again.
    static let allowingWrites = "PRAGMA query_only = 0"

    private func endReadOnly() {
        readOnlyBlocks.depth -= 1
        guard !isReadOnly && !isClosed else { return }
        // A transaction that goes on may write from here on.
        transactionEnd.isRead = false
        if !authorizer.takeQueryOnly() && readOnlyBlocks.areOfSnapshot {
            // The next access is a read, too, most of the time: the two pragmas would cost as much as a short one.
            readOnlyBlocks.areStillInEffect = true
        } else {
            allowWrites()
        }
    }

    /// Lets an access write that is no read of a snapshot.
    @inline(__always)
    func allowWritesAgain() {
        if readOnlyBlocks.areStillInEffect { allowWrites() }
    }

    private func allowWrites() {
        readOnlyBlocks.areStillInEffect = false
        guard !isClosed else { return }
        do {
            try bookkeeping(Self.allowingWrites)
        } catch {
            owe(Self.allowingWrites)
        }
    }

    /// Refuses to write from now on.
    func refuseWrites() throws {
        try bookkeeping("PRAGMA query_only = 1")
        readOnlyBlocks.depth += 1
    }
}
