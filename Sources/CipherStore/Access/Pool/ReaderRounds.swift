import Dispatch

/// A read that may share its reader with others.
protocol RoundRead: AnyObject, Sendable {
    /// Reads, and leaves no transaction open.
    func read(_ db: Database)

    /// There is no reader.
    func cannotRead(_ error: any Error)
}

/// Short reads that are asked for at one moment, such as those of a thousand observations after a commit.
///
/// To hand a reader from one to the next takes several times as long as a short read. So each reader that is free makes a
/// round: it does one read after the other, each in a snapshot of its own, while nobody but other rounds waits for a
/// reader. As many readers make rounds as there are reads, so none waits for a longer one while a reader is free.
final class ReaderRounds: Sendable {
    /// The longest round, in nanoseconds. What waits for the connection itself, or for a queue that it shares with others,
    /// waits no longer than this, and than the read that is running.
    static let durationMax: UInt64 = 2_000_000

    private struct State {
        var reads: [any RoundRead] = []
        /// How many of them have been begun.
        var begunCount = 0
        /// How many rounds are under way, or wait for a reader.
        var roundCount = 0

        mutating func next() -> (any RoundRead)? {
            guard begunCount < reads.count else { return nil }
            defer { begunCount += 1 }
            return reads[begunCount]
        }

        /// Whether there is another read. Those that were begun are forgotten from time to time.
        mutating func hasMore() -> Bool {
            if begunCount == reads.count {
                reads.removeAll(keepingCapacity: reads.count <= 1024)
                begunCount = 0
            } else if begunCount >= 512 {
                reads.removeFirst(begunCount)
                begunCount = 0
            }
            return !reads.isEmpty
        }
    }

    private let state = Lock(State())
    private let roundCountMax: Int

    /// - parameter readerCount: How many readers the pool has at most.
    init(readerCount: Int) { roundCountMax = max(1, readerCount) }

    /// Adds a read, which is done on a reader of a pool when its turn has come.
    func add(_ read: any RoundRead, on pool: DatabasePool) {
        let startsRound = state.withLock { state in
            state.reads.append(read)
            guard state.roundCount < roundCountMax else { return false }
            state.roundCount += 1
            return true
        }
        if startsRound { startRound(pool) }
    }

    private func startRound(_ pool: DatabasePool) {
        // The next round comes after those who wait for a reader.
        let goOn: @Sendable () -> Void = { [self] in
            if goesOn() { startRound(pool) }
        }
        pool.withReaderSlot(
            isRound: true,
            or: { [self] error in
                takeNext()?.cannotRead(error)
                goOn()
            },
            afterwards: goOn,
            { [self] db, slot in
                let start = DispatchTime.now().uptimeNanoseconds
                while let read = takeNext() {
                    read.read(db)
                    // A transaction that was left open is the end of the access.
                    guard !db.isInsideTransaction, pool.readerPool.mayKeep(slot),
                        DispatchTime.now().uptimeNanoseconds &- start < Self.durationMax
                    else { break }
                }
            })
    }

    private func takeNext() -> (any RoundRead)? { state.withLock { $0.next() } }

    /// Whether there are reads for another round in the place of one that ends.
    private func goesOn() -> Bool {
        state.withLock { state in
            let hasMore = state.hasMore()
            if !hasMore { state.roundCount -= 1 }
            return hasMore
        }
    }
}
