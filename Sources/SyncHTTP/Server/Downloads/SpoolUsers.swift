/// Who wants a spool, and which device its bytes count to: one of them at a time, because they are on the disk once.
struct SpoolUsers {
    private var count = 1
    /// What those take who count their bytes. The bytes of the spool count to the first.
    private var shares: [DownloadBudget.Share]

    /// - parameter share: What the bytes of the first one count to; nil when nothing counts them.
    init(_ share: DownloadBudget.Share?) { shares = share.map { [$0] } ?? [] }

    /// Counts one more. The bytes of one that was the last, and left, count to this one.
    ///
    /// - parameter byteCount: How many bytes the spool has.
    mutating func join(_ share: DownloadBudget.Share?, byteCount: Int64) {
        defer { count += 1 }
        guard let share else { return }
        if count == 0, let former = shares.first {
            former.pass(byteCount, to: share)
            shares = []
        }
        shares.append(share)
    }

    /// Counts one less. What counted to it counts to another one from then on, also beyond what that one may have.
    ///
    /// - parameter byteCount: How many bytes the spool has.
    /// - returns: Whether anybody wants it still.
    mutating func leave(_ share: DownloadBudget.Share?, byteCount: Int64) -> Bool {
        count -= 1
        // The last one keeps them: they are there until nothing reads them.
        if let share, shares.count > 1, let index = shares.firstIndex(where: { $0.device == share.device }) {
            shares.remove(at: index)
            if index == 0, let next = shares.first { share.pass(byteCount, to: next) }
        }
        return count > 0
    }

    /// Counts more bytes, and all of them to another one when the first has no room: it is no reason to end what others
    /// fetch.
    ///
    /// - parameters:
    ///     - more: How many bytes come.
    ///     - byteCount: How many bytes the spool has.
    /// - throws: ``RemoteError`` of code `busy`; nothing is counted then.
    mutating func take(_ more: Int64, byteCount: Int64) throws {
        guard let first = shares.first else { return }
        do {
            try first.take(more)
        } catch {
            let next = shares.firstIndex { share in
                guard share.device != first.device else { return false }
                return (try? first.pass(byteCount, to: share, taking: more)) != nil
            }
            guard let next else { throw error }
            shares.swapAt(0, next)
        }
    }

    /// Gives back what was counted.
    func release(_ byteCount: Int64) { shares.first?.release(byteCount) }
}
