import SyncEngine

/// Looks at a channel: asks for what changed since it was looked at last, or for everything.
struct RelayLook {
    let state: RelayMailboxState
    let check: () throws -> Void

    /// The most pages of a listing: as many as the files and the removals of a channel may take, and more.
    private static let pageCountMax = 400
    /// How often a listing begins again that the channel's changes made impossible.
    private static let restartCountMax = 3

    /// The channel as it is now.
    ///
    /// - throws: ``RelayError``, `MailboxError`; what `check` throws.
    func run() throws -> RelayDirectory {
        let begun = state.look.withLock { $0.begin() }
        var (start, seen) = (begun.directory, begun.seen)
        for _ in 0..<Self.restartCountMax {
            guard let directory = try list(since: start, seen: seen) else {
                (start, seen) = (nil, nil)
                continue
            }
            let isWhole = state.look.withLock { $0.keep(directory, from: begun) }
            // Another look, or a write, may know of files that this one has not found.
            if isWhole { state.cache.forgetAll { directory[$0] != nil } }
            return directory
        }
        throw MailboxError(.unreachable, "it changes all the time, or does not tell how it is now")
    }

    /// Lists a channel.
    ///
    /// - parameters:
    ///     - start: What is known; nil to ask for everything.
    ///     - seen: The last moment that was seen.
    /// - returns: nil when everything has to be listed anew.
    private func list(since start: RelayDirectory?, seen: RelayMoment?) throws -> RelayDirectory? {
        let query = start.map { "?after=\($0.moment.position)&epoch=\($0.moment.epoch)" }
        guard var page = try page(query ?? "") else { return nil }
        let isLater = seen.map { page.epoch == $0.epoch && page.position >= $0.position } ?? true
        if !isLater, let seen { note(page, seen) }
        var directory = RelayDirectory(epoch: page.epoch)
        if !page.isComplete {
            // What changed is no use without what was before.
            guard isLater, let start, start.moment.epoch == page.epoch,
                page.position >= start.moment.position
            else { return nil }
            directory = start
            directory.isStale = false
        }
        var pageCount = 1
        while true {
            try directory.add(page)
            guard let next = page.next else { break }
            pageCount += 1
            guard pageCount <= Self.pageCountMax, !page.files.isEmpty || !page.removed.isEmpty else {
                throw RelayError(.failed, "the relay's listing has no end")
            }
            guard let following = try self.page("?page=" + RelayQuery.encode(next)),
                following.epoch == page.epoch,
                following.isComplete == page.isComplete, following.position >= page.position
            else { return nil }
            page = following
        }
        directory.advance(to: page.position)
        return directory
    }

    /// Notes that the channel does not go on from where it was.
    private func note(_ page: RelayListing, _ seen: RelayMoment) {
        state.note(
            page.position < seen.position
                ? .wentBack(from: seen.position, to: page.position) : .otherEpoch)
    }

    /// A page; nil when the listing has to begin again.
    private func page(_ query: String) throws -> RelayListing? {
        var request = state.request(.list, "GET", "/files" + query)
        request.answerByteCountMax = RelayBounds.listingByteCountMax
        request.accepted = [409]
        let answer = try state.send(request, check: check).answer
        return answer.status == 409 ? nil : try answer.document(RelayListing.self)
    }
}

/// Text in the queries of requests.
enum RelayQuery {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Percent-encodes all bytes but letters, digits and `-._~`.
    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
            default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
