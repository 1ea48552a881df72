import Foundation

@testable import CipherStore

/// Eight threads that read, two that write, and one that cancels and interrupts them.
struct ThreadStress {
    let pool: DatabasePool
    let journal: WriteJournal
    let seed: UInt64
    let seconds: Double?

    /// The accesses that can be cancelled, the latest of each thread.
    private let accesses = LockedBox<[Int: CancellableAccess]>([:])
    private let runningCount = LockedBox(10)

    init(pool: DatabasePool, journal: WriteJournal, seed: UInt64, seconds: Double?) {
        self.pool = pool
        self.journal = journal
        self.seed = seed
        self.seconds = seconds
    }

    func run() {
        let group = DispatchGroup()
        for index in 0..<11 {
            group.enter()
            Thread {
                var random = SplitMix(seed &+ UInt64(index))
                if index == 10 { disturb(&random) } else { work(index, &random) }
                group.leave()
            }.start()
        }
        group.wait()
    }

    private func work(_ index: Int, _ random: inout SplitMix) {
        let deadline = seconds.map { Date(timeIntervalSinceNow: $0) }
        var round = 0
        while deadline.map({ Date() < $0 }) ?? (round < 150) {
            round += 1
            if index < 2 { write(index, round) } else { read(index, &random) }
        }
        runningCount.change { $0 -= 1 }
    }

    private func write(_ writer: Int, _ number: Int) {
        let access = CancellableAccess()
        accesses.change { $0[writer] = access }
        let isCommitted: Void? = try? pool.writer.sync { db in
            try access.run(db) { db in
                try db.inWriteTransaction { db in
                    for half in 0..<2 {
                        try db.execute(
                            sql: "INSERT INTO t VALUES (?, ?, ?)", arguments: [writer, number, half])
                    }
                }
            }
        }
        if isCommitted != nil { journal.add(writer, number) }
    }

    private func read(_ index: Int, _ random: inout SplitMix) {
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let access = CancellableAccess()
            accesses.change { $0[index] = access }
            try? pool.unsafeRead { db in
                try access.run(db) { try $0.readSnapshot(PoolStressTests.checkIsolation) }
            }
        case 1: try? pool.makeSnapshot().read(PoolStressTests.checkIsolation)
        case 2:
            let done = DispatchSemaphore(value: 0)
            pool.asyncRead { result in
                _ = try? PoolStressTests.checkIsolation(result.get())
                done.signal()
            }
            done.wait()
        default: try? pool.read(PoolStressTests.checkIsolation)
        }
    }

    private func disturb(_ random: inout SplitMix) {
        while runningCount.value > 0 {
            switch Int.random(in: 0..<40, using: &random) {
            case 0: pool.releaseMemoryEventually()
            case 1: pool.invalidateReadOnlyConnections()
            case 2: try? pool.barrierWriteWithoutTransaction { _ in }
            case 3: pool.releaseMemory()
            case 4..<8: pool.interrupt()
            default:
                let index = Int.random(in: 0..<10, using: &random)
                accesses.value[index]?.cancel()
            }
        }
    }
}
