import Foundation
import SyncBucket
import SyncEngine

/// Brings a file here, in ranges, so that what was cut off is not begun anew.
struct RelayDownload {
    /// The length of a range. Most bundles, and all but very large heads, are one.
    static let rangeByteCount = 8 << 20

    let state: RelayMailboxState
    let path: MailboxPath
    let check: () throws -> Void

    /// A piece of a version of the file.
    private struct Piece {
        let bytes: Data
        let version: RelayPosition
        let byteCount: Int
    }

    /// The bytes of one version of the file.
    func spool() throws -> Spool {
        let last = state.look.withLock { $0.directory }
        let directory = last.flatMap { $0.isStale ? nil : $0 }
        let listed = directory?[path]
        // A file that was not there a moment ago need not be asked for: it is late, at worst.
        if directory != nil && listed == nil { throw Self.missing }
        let tag = directory.flatMap { directory in
            listed.map { "\(directory.moment.epoch)-\($0.position)" }
        }
        if let tag, let known = known(tag) { return known }
        if let listed { try checkSize(listed.byteCount, listed.byteCount) }
        let spool = Spool(folder: state.spoolFolder)
        let first = try range(from: 0, version: nil)
        try compare(first, listed)
        try checkSize(first.byteCount, last?[path]?.byteCount)
        try spool.append(first.bytes)
        while spool.byteCount < first.byteCount {
            let next = try range(from: spool.byteCount, version: first.version)
            guard next.version == first.version, next.byteCount == first.byteCount else { throw changed() }
            try spool.append(next.bytes)
        }
        if let tag, first.version == listed?.position {
            state.last.withLock { $0 = (path, tag, spool) }
            if SealedFileCache.keeps(path, spool.byteCount) {
                state.cache.keep(try spool.read(at: 0, upTo: spool.byteCount), of: path, tag: tag)
            }
        }
        return spool
    }

    /// Checks the size of a file before all of it is brought here: no relay may fill the disk.
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

    /// What is here already of a version.
    private func known(_ tag: String) -> Spool? {
        if let last = state.last.withLock({ $0 }), last.path == path, last.tag == tag { return last.spool }
        return state.cache.content(of: path, tag: tag).map { Spool($0) }
    }

    /// Compares a file with what the channel's listing says of it.
    private func compare(_ piece: Piece, _ listed: RelayDirectory.File?) throws {
        guard let listed else { return }
        if piece.version < listed.position {
            if let name = try? state.name(of: path) { state.note(.olderFile(name)) }
            state.doubt()
            throw failure("the relay shows an older version than before")
        }
        // Then others have written since the channel was looked at.
        if piece.version > listed.position { return state.doubt() }
        guard piece.byteCount == listed.byteCount else {
            throw failure("the relay gives another size than its listing")
        }
    }

    private func range(from start: Int, version: RelayPosition?) throws -> Piece {
        var request = state.request(.get, "GET", try state.suffix(of: path))
        request.headers = [("range", "bytes=\(start)-\(start + Self.rangeByteCount - 1)")]
        if let version { request.headers.append(("if-match", "\"\(version)\"")) }
        request.answerByteCountMax = Self.rangeByteCount + 4096
        request.accepted = [404, 412, 416]
        let answer = try state.send(request, check: check).answer
        switch answer.status {
        case 404:
            state.doubt()
            throw Self.missing
        case 412: throw changed()
        // No range of an empty file can be had.
        case 416 where start == 0: return try piece(answer, bytes: Data(), of: 0)
        case 200 where start == 0: return try piece(answer, bytes: answer.body, of: answer.body.count)
        case 206:
            guard let total = Self.total(answer, from: start) else {
                throw failure("the relay gives other bytes than it was asked for")
            }
            return try piece(answer, bytes: answer.body, of: total)
        default: throw changed()
        }
    }

    private func piece(_ answer: RelayAnswer, bytes: Data, of byteCount: Int) throws -> Piece {
        if let version = answer.version { return Piece(bytes: bytes, version: version, byteCount: byteCount) }
        guard answer.status == 416 else { throw failure("the relay does not tell versions apart") }
        return Piece(bytes: bytes, version: state.directory?[path]?.position ?? 0, byteCount: 0)
    }

    private static var missing: MailboxError { MailboxError(.missing, "there is no such file") }

    /// The size of the file, of which an answer has the bytes that were asked for.
    private static func total(_ answer: RelayAnswer, from start: Int) -> Int? {
        guard let text = answer.header("content-range"), text.hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(whereSeparator: { $0 == "-" || $0 == "/" }).map { Int($0) }
        guard parts.count == 3, parts[0] == start, let end = parts[1], let total = parts[2],
            start <= end, end < total, total <= Int(RelayBounds.fileByteCountMax),
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
