import BenchmarkRows
import CipherStore
import Foundation
import SyncEngine

/// Measures one size of one axis.
struct GrowthRun {
    let axis: GrowthAxis
    let size: Int
    let runCount: Int

    private static let editCount = 100

    func measure() throws -> GrowthColumn {
        let stores = try makeStores()
        for queue in [stores.queue, stores.other] { queue.releaseMemory() }
        PeakMemory.reset()
        let rowCount = try stores.queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item0") ?? 0 }
        // What the stores took to make is not what is measured: folds, checkpoints, first schemas.
        _ = try stores.synchronizer.run(.both, stores.transport)
        let edits = try measureEdits(stores, rowCount)
        var figures: [GrowthFigure] = [
            try milliseconds("open") {
                let queue = try DatabaseQueue(
                    path: stores.queue.path, configuration: GrowthStores.configuration)
                _ = try Synchronizer(existing: queue)
            },
            try milliseconds("synchronization, nothing new") {
                _ = try stores.synchronizer.run(.both, stores.transport)
            },
        ]
        figures += edits
        let ofSynchronizing = PeakMemory.megabytes()
        PeakMemory.reset()
        figures += [
            try milliseconds("status") { _ = try stores.synchronizer.status() },
            try milliseconds("last 100 changes") { _ = try stores.synchronizer.history(limit: 100) },
            try milliseconds("conflicts counted") { _ = try stores.synchronizer.conflictCount() },
            try milliseconds("100 parked rows") { _ = try stores.synchronizer.parkedRows(limit: 100) },
            try milliseconds("comparison with the other store") {
                guard try stores.synchronizer.compare(with: stores.transport) == nil else {
                    throw GrowthError("the stores differ")
                }
            },
            try milliseconds("check of the metadata", runs: 1) {
                guard try stores.queue.read({ try MetadataCheck.problems(of: $0, isDeep: true) }).isEmpty
                else {
                    throw GrowthError("the metadata are damaged")
                }
            },
            GrowthFigure(name: "file", unit: "MB", value: Double(stores.byteCount()) / 1_048_576),
            GrowthFigure(name: "memory of synchronizing", unit: "MB", value: ofSynchronizing),
            GrowthFigure(name: "memory of the rest", unit: "MB", value: PeakMemory.megabytes()),
        ]
        return GrowthColumn(size: size, figures: figures)
    }

    private func makeStores() throws -> GrowthStores {
        switch axis {
        case .rows: return try GrowthStores(rowCount: size)
        case .tables: return try GrowthStores(tableCount: size, rowCount: 1000)
        case .replicas:
            let stores = try GrowthStores(rowCount: 1000)
            try stores.meetReplicas(size - 2)
            return stores
        case .conflicts:
            let stores = try GrowthStores(rowCount: size)
            try stores.queue.write { try $0.execute(sql: "UPDATE item0 SET note = 'mine'") }
            try stores.other.write { try $0.execute(sql: "UPDATE item0 SET note = 'yours'") }
            try expect(stores, conflicts: size)
            return stores
        case .parked:
            let stores = try GrowthStores(isUnique: true, rowCount: 0)
            for queue in [stores.queue, stores.other] {
                try queue.write { try GrowthStores.insert(size, into: $0) }
            }
            _ = try stores.synchronizer.run(.both, stores.transport)
            let parked = try stores.synchronizer.status().parkedCount
            guard parked == size else { throw GrowthError("\(parked) rows are parked, and not \(size)") }
            return stores
        }
    }

    private func expect(_ stores: GrowthStores, conflicts count: Int) throws {
        _ = try stores.synchronizer.run(.both, stores.transport)
        let here = try stores.synchronizer.conflictCount()
        let there = try stores.otherSynchronizer.conflictCount()
        guard max(here, there) == count else {
            throw GrowthError("\(here) and \(there) conflicts are open, and not \(count)")
        }
    }

    /// Edits of some rows by key, all over the table, that are pulled, and others that are pushed.
    private func measureEdits(_ stores: GrowthStores, _ rowCount: Int) throws -> [GrowthFigure] {
        var times: [SyncDirection: [Double]] = [:]
        for turn in 0...runCount {
            for direction in [SyncDirection.pull, .push] {
                let edited = direction == .pull ? stores.other : stores.queue
                try edited.write { try edit($0, rowCount, turn: turn) }
                let elapsed = try ContinuousClock().measure {
                    _ = try stores.synchronizer.run(direction, stores.transport)
                }
                if turn > 0 { times[direction, default: []].append(elapsed / .milliseconds(1)) }
            }
        }
        return [SyncDirection.pull, .push].map { direction in
            GrowthFigure(
                name: "\(direction.rawValue) of \(Self.editCount) edits", unit: "ms",
                value: median(times[direction] ?? []))
        }
    }

    private func edit(_ db: Database, _ rowCount: Int, turn: Int) throws {
        let stride = max(1, rowCount / Self.editCount)
        for number in 0..<min(Self.editCount, rowCount) {
            try db.execute(
                sql: "UPDATE item0 SET number = number + 1 WHERE rowid = ?",
                arguments: [1 + number * stride + turn % stride])
        }
    }

    private func milliseconds(_ name: String, runs: Int? = nil, _ work: () throws -> Void) throws
        -> GrowthFigure
    {
        var times: [Double] = []
        for _ in 0..<(runs ?? runCount) {
            times.append(try ContinuousClock().measure(work) / .milliseconds(1))
        }
        return GrowthFigure(name: name, unit: "ms", value: median(times))
    }

    private func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
    }
}
