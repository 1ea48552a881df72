import Foundation
import SyncEngine

/// Brings a file here, in ranges, so that what was cut off is not begun anew.
struct Download {
    /// The length of a range. Most bundles, and all but very large heads, are one.
    static let rangeByteCount = 8 << 20

    let state: BucketState
    let path: MailboxPath
    let check: () throws -> Void

    /// The bytes of one version of the file.
    func spool() throws -> Spool {
        let last = state.listing
        let listing = last.flatMap { $0.isStale ? nil : $0 }
        let listed = listing?[path]
        // A file that was not there a moment ago need not be asked for: it is late, at worst.
        if listing != nil && listed == nil { throw Self.missing }
        if let tag = listed?.tag, let known = known(tag) { return known }
        if let listed { try checkSize(listed.byteCount, listed.byteCount) }
        let first = try range(from: 0, tag: nil)
        try checkSize(first.total, last?[path]?.byteCount)
        let tag = EntityTag.read(first.answer.header("etag"))
        // Then others have written since the bucket was looked at. A listing without tags shows less.
        if let listed, listed.byteCount != first.total || areDifferent(listed.tag, tag) { state.doubt() }
        let spool = Spool(folder: state.spoolFolder)
        try spool.append(first.answer.body)
        while spool.byteCount < first.total {
            guard let tag else { throw failure("the server does not tell its versions apart") }
            let next = try range(from: spool.byteCount, tag: tag)
            guard next.total == first.total, EntityTag.read(next.answer.header("etag")) == tag,
                !next.answer.body.isEmpty
            else { throw changed() }
            try spool.append(next.answer.body)
        }
        if let tag {
            state.last.withLock { $0 = (path, tag, spool) }
            if SealedFileCache.keeps(path, spool.byteCount) {
                state.cache.keep(try spool.read(at: 0, upTo: spool.byteCount), of: path, tag: tag)
            }
        }
        return spool
    }

    /// Checks the size of a file before all of it is brought here: no server may fill the disk.
    ///
    /// - parameter listed: The size in the last listing; nil when that has no such file. Only heads are replaced, so other
    ///   files keep theirs.
    private func checkSize(_ byteCount: Int, _ listed: Int?) throws {
        if path.name == "head" {
            guard byteCount <= SealedFileCache.headByteCountMax else {
                throw failure("it is longer than a head can be")
            }
        } else if let listed, byteCount != listed {
            throw changed()
        }
    }

    private func areDifferent(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return false }
        return one != other
    }

    /// What is here already of a version.
    private func known(_ tag: String) -> Spool? {
        if let last = state.last.withLock({ $0 }), last.path == path, last.tag == tag { return last.spool }
        return state.cache.content(of: path, tag: tag).map { Spool($0) }
    }

    private func range(from start: Int, tag: String?) throws -> (answer: BucketAnswer, total: Int) {
        var request = BucketRequest(kind: .get, method: "GET", key: state.key(of: path))
        request.headers = [("range", "bytes=\(start)-\(start + Self.rangeByteCount - 1)")]
        if let tag { request.headers.append(("if-match", "\"\(tag)\"")) }
        request.answerByteCountMax = Self.rangeByteCount + 4096
        request.accepted = [404, 412, 416]
        let answer = try state.client.send(request, check: check).answer
        switch answer.status {
        case 200 where start == 0: return (answer, answer.body.count)
        case 206:
            guard let total = Self.total(answer, from: start) else {
                throw failure("the server gives other bytes than it was asked for")
            }
            return (answer, total)
        // No range of an empty file can be had.
        case 416 where start == 0: return (BucketAnswer(status: 200, headers: [], body: Data()), 0)
        case 404:
            // A missing bucket is another matter.
            let error = ErrorAnswer(answer)
            if error.code == "NoSuchBucket" {
                throw error.error(state.client.address, isOfFile: true, now: 0)
            }
            state.doubt()
            throw Self.missing
        default: throw changed()
        }
    }

    private static var missing: MailboxError { MailboxError(.missing, "there is no such file") }

    /// The size of the file, of which an answer has the bytes that were asked for.
    private static func total(_ answer: BucketAnswer, from start: Int) -> Int? {
        guard let text = answer.header("content-range"), text.hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(whereSeparator: { $0 == "-" || $0 == "/" }).map { Int($0) }
        guard parts.count == 3, parts[0] == start, let end = parts[1], let total = parts[2], end < total,
            end - start + 1 == answer.body.count, answer.body.count == min(rangeByteCount, total - start)
        else { return nil }
        return total
    }

    private func changed() -> MailboxError {
        state.doubt()
        return failure("it was replaced while it was read")
    }

    private func failure(_ words: String) -> MailboxError { MailboxError(.failed, words) }
}
