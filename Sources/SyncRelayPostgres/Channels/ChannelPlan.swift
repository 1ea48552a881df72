import Foundation
import SyncRelay

/// Works out what changes make of a channel: gives positions, and keeps the sums.
///
/// It has what the database knows of the channel and of the names that are changed, and does no input or output itself. It
/// is a value: whoever wants to take back what one job did keeps the plan from before.
struct ChannelPlan {
    /// What a channel may have.
    struct Bounds: Sendable {
        let byteCountMax: Int64
        let fileCountMax: Int64
    }

    /// What is to be written under a name.
    struct Content {
        let file: RelayFileName
        let isReplacing: Bool
        let byteCount: Int64
        let digest: Data
    }

    /// A body that nobody sees any more.
    struct Discarded: Equatable {
        let body: Int64
        let byteCount: Int64
    }

    private(set) var row: ChannelRow
    /// What is known of names. One that was never there is not in it.
    private(set) var files: [RelayFileName: FileRow]
    /// The names whose rows have to be written.
    private(set) var changedFiles: Set<RelayFileName> = []
    /// Bodies that are to be written, and whose versions are still there after all changes.
    private(set) var bodies: [Int64: Data] = [:]
    private(set) var discarded: [Discarded] = []
    private let bounds: Bounds

    init(_ row: ChannelRow, _ files: [RelayFileName: FileRow], _ bounds: Bounds) {
        self.row = row
        self.files = files
        self.bounds = bounds
    }

    /// Whether the channel has another position than before.
    var isChanged: Bool { !changedFiles.isEmpty }

    /// Checks that a file may be written.
    ///
    /// - returns: The outcome when nothing has to be written, because it is there with the same bytes.
    /// - throws: ``RelayProblem``: `exists`, `full`.
    func check(_ content: Content) throws -> RelayOutcome? {
        let old = files[content.file]
        let isThere = old?.body != nil
        if let old, isThere && !content.isReplacing {
            guard old.digest == content.digest, old.byteCount == content.byteCount else {
                throw RelayProblem(.exists, "there is a file of that name already")
            }
            return RelayOutcome(position: old.position, isNew: false)
        }
        let oldByteCount = isThere ? old?.byteCount ?? 0 : 0
        // Sums may be less than they should, where somebody has written into the tables.
        let others = max(0, row.byteCount - oldByteCount)
        let room = bounds.byteCountMax - others
        // What makes a channel smaller that is over its quota is always taken.
        guard content.byteCount <= max(room, oldByteCount) else {
            throw RelayProblem(
                .full, "the channel has no room left for the file; remove some, or raise the relay's quota",
                byteCount: others + content.byteCount, byteCountMax: bounds.byteCountMax)
        }
        guard isThere || row.fileCount < bounds.fileCountMax else {
            throw RelayProblem(.full, "the channel has as many files as it may have; remove some")
        }
        return nil
    }

    /// Writes a file whose bytes are given.
    ///
    /// - parameter body: The number of its body, which is used when something has to be written.
    /// - throws: ``RelayProblem``: `exists`, `full`.
    mutating func write(_ content: Content, _ bytes: Data, body: Int64) throws -> RelayOutcome {
        if let outcome = try check(content) { return outcome }
        let outcome = try put(content, body: bytes.isEmpty ? 0 : body)
        if !bytes.isEmpty { bodies[body] = bytes }
        return outcome
    }

    /// Makes a body visible that is in the database.
    ///
    /// - throws: ``RelayProblem``: `exists`, `full`.
    mutating func finish(_ content: Content, body: Int64) throws -> RelayOutcome {
        if let outcome = try check(content) {
            // An upload without bytes has no blocks: any of its number would be those of another file.
            if content.byteCount > 0 { discard(body, content.byteCount) }
            return outcome
        }
        return try put(content, body: content.byteCount == 0 ? 0 : body)
    }

    /// Removes a file, and remembers that.
    mutating func remove(_ file: RelayFileName) throws -> RelayOutcome {
        guard let old = files[file], let body = old.body else {
            return RelayOutcome(position: row.position, isNew: false)
        }
        try advance()
        files[file] = FileRow(position: row.position, byteCount: 0, digest: nil, body: nil)
        changedFiles.insert(file)
        row.fileCount = max(0, row.fileCount - 1)
        row.byteCount = max(0, row.byteCount - old.byteCount)
        row.removalCount += 1
        discard(body, old.byteCount)
        return RelayOutcome(position: row.position, isNew: false)
    }

    private mutating func put(_ content: Content, body: Int64) throws -> RelayOutcome {
        let old = files[content.file]
        try advance()
        files[content.file] = FileRow(
            position: row.position, byteCount: content.byteCount, digest: content.digest, body: body)
        changedFiles.insert(content.file)
        row.byteCount += content.byteCount
        guard let old, let oldBody = old.body else {
            row.fileCount += 1
            if old != nil { row.removalCount = max(0, row.removalCount - 1) }
            return RelayOutcome(position: row.position, isNew: true)
        }
        row.byteCount = max(0, row.byteCount - old.byteCount)
        discard(oldBody, old.byteCount)
        return RelayOutcome(position: row.position, isNew: false)
    }

    private mutating func advance() throws {
        guard row.position < .max else {
            throw RelayProblem(.unavailable, "the channel has no positions left; make another one")
        }
        row.position += 1
    }

    private mutating func discard(_ body: Int64, _ byteCount: Int64) {
        guard body > 0 else { return }
        // What this plan itself would have written is not written at all.
        if bodies.removeValue(forKey: body) == nil {
            discarded.append(Discarded(body: body, byteCount: byteCount))
        }
    }

    /// How many removals are remembered before half of them are forgotten.
    private static let removalCountMax = 2 * RelayBounds.removalCountMin

    /// How many removals are to be forgotten now.
    var forgottenCount: Int64 {
        row.removalCount > Self.removalCountMax ? row.removalCount - RelayBounds.removalCountMin : 0
    }

    /// Forgets removals.
    ///
    /// - parameter position: That of the last one.
    mutating func forget(_ count: Int64, upTo position: RelayPosition) {
        row.removalCount -= count
        row.forgotten = position
    }
}
