import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// Random edits, moves, choices and meetings of two stores that hold all rows and two that hold some.
@Suite struct RowScopePropertyTests {
    /// A small generator, so that a seed says everything.
    private struct Random {
        var state: UInt64
        mutating func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
    }

    fileprivate static let scopes: [ScopeValue] = ["a", "b", "c", nil, 1]

    /// More of them for a longer search: `ROW_SCOPE_SEEDS=100-200`.
    private static let seeds: [UInt64] = {
        let range = ProcessInfo.processInfo.environment["ROW_SCOPE_SEEDS"] ?? ""
        let bounds = range.split(separator: "-").compactMap { UInt64($0) }
        return bounds.count == 2 && bounds[0] <= bounds[1] ? Array(bounds[0]...bounds[1]) : [1, 4]
    }()

    private final class Fleet {
        let stores: TestStores
        let hubs: [TestReplica]
        let leaves: [TestReplica]
        var choices: [[ScopeValue]?] = [nil, nil]
        var random: Random
        var lastNumber = 0
        var lastValue: Int64 = 0
        /// Values of x that somebody replaced who saw them.
        var replaced: Set<Int64> = []
        /// What happened, to be shown with a failure.
        var log: [String] = []
        /// Bundles that were sent, to come again.
        var bundles: [[[UInt8]]] = []

        init(seed: UInt64) throws {
            stores = try TestStores(seed: seed)
            stores.clock.chainStride.withLock { $0 = 1 }
            random = Random(state: seed &* 7919)
            let first = try stores.createWithScopes("first.db")
            let second = try stores.clone(first, as: "second.db")
            hubs = [first, second]
            leaves = [try stores.clone(first, as: "left.db"), try stores.clone(first, as: "right.db")]
            for index in 0..<2 { try choose(index) }
        }

        var all: [TestReplica] { hubs + leaves }

        func choose(_ index: Int) throws {
            let leaf = leaves[index]
            if choices[index] != nil, random.next(5) == 0 {
                choices[index] = nil
                return try leaf.chooseEverything(of: hubs[0])
            }
            log.append("\(leaf.name) chooses")
            var values = RowScopePropertyTests.scopes.filter { _ in random.next(3) == 0 }
            if values.isEmpty { values = [RowScopePropertyTests.scopes[random.next(5)]] }
            choices[index] = values
            try leaf.choose(values, of: hubs[0])
        }

        func edit() throws { try edit(all[random.next(all.count)]) }

        func edit(_ replica: TestReplica) throws {
            let rows = try replica.numbers()
            let scope = RowScopePropertyTests.scopes[random.next(5)]
            guard !rows.isEmpty, random.next(4) > 0 else {
                lastNumber += 1
                log.append("\(replica.name) adds \(lastNumber) \(scope) x=\(lastValue + 1)")
                return try replica.add(lastNumber, scope, x: newValue())
            }
            let number = rows[random.next(rows.count)]
            let kind = random.next(8)
            if [0, 3, 4, 5].contains(kind) {
                let value = try replica.queue.read {
                    try Int64.fetchOne(
                        $0, sql: "SELECT x FROM item WHERE id = ?", arguments: [itemKey(number)])
                }
                if let value { replaced.insert(value) }
            }
            log.append("\(replica.name) edits \(number): \(kind) \(scope), last x=\(lastValue)")
            switch kind {
            case 0: try replica.execute("DELETE FROM item WHERE id = ?", [itemKey(number)])
            case 1, 2: try replica.move(number, scope)
            case 3:
                try replica.execute(
                    "INSERT OR REPLACE INTO item (id, scope, x) VALUES (?, ?, ?)",
                    [itemKey(number), scope.databaseValue, newValue()])
            case 4, 5: try replica.set(number, x: newValue())
            default: try replica.set(number, y: Int64(random.next(100)))
            }
        }

        /// A value that nobody wrote before.
        func newValue() -> Int64 {
            lastValue += 1
            return lastValue
        }

        /// The values of x that nobody has, nobody replaced knowingly, and no journal keeps.
        func lostValues() throws -> [Int64] {
            var found = replaced
            for replica in all {
                found.formUnion(
                    try replica.queue.read {
                        try Int64.fetchSet(
                            $0, sql: "SELECT x FROM item UNION SELECT val FROM _sync_conflict WHERE col = 1")
                    })
            }
            return (1...max(1, lastValue)).filter { $0 <= lastValue && !found.contains($0) }
        }

        func meet() throws {
            let one = random.next(all.count)
            let other = (one + 1 + random.next(all.count - 1)) % all.count
            let direction: SyncDirection = [.both, .both, .both, .pull, .push][random.next(5)]
            guard random.next(3) == 0 else {
                let report = try all[one].share(all[other], direction)
                return log.append(
                    "\(all[one].name) \(direction) \(all[other].name): \(report.waitingTables.count) wait")
            }
            try meetWithFaults(all[one], all[other], direction)
        }

        /// One of the two is cut off, or somebody writes to one of them, or both; then a bundle comes late.
        private func meetWithFaults(_ one: TestReplica, _ other: TestReplica, _ direction: SyncDirection)
            throws
        {
            let points = FaultyPeer.Point.allCases
            let cut = random.next(2) == 0 ? points[random.next(points.count)] : nil
            let isLocal = random.next(2) == 0
            let point = points[random.next(points.count)]
            log.append(
                "\(one.name) \(direction) \(other.name), cut \(String(describing: cut)) \(isLocal), written at \(point)"
            )
            let write = { [self] in try edit(isLocal ? one : other) }
            let local = FaultyPeer(
                one.peer, cut: isLocal ? cut : nil, meanwhile: isLocal ? (point, write) : nil)
            let remote = FaultyPeer(
                other.peer, cut: isLocal ? nil : cut, meanwhile: isLocal ? nil : (point, write),
                changeCountMax: Int64(1 + random.next(4)))
            do {
                stores.clock.advance(milliseconds: 10)
                _ = try SessionDriver(
                    local: local, remote: remote, remoteName: other.transport.name, progress: nil
                ).run(direction)
            } catch is FaultyPeer.Cut {}
            bundles += [local.frames, remote.frames].filter { !$0.isEmpty }
            guard !bundles.isEmpty, random.next(2) == 0 else { return }
            let late = all[random.next(all.count)]
            do {
                try late.take(bundles[random.next(bundles.count)])
                log.append("\(late.name) took a late bundle")
            } catch let error as SyncError {
                log.append("\(late.name) refused a late bundle: \(error)")
            } catch let error as WireError {
                log.append("\(late.name) refused a bundle that was cut: \(error)")
            }
        }

        /// Everybody meets until all know everything.
        func settle() throws {
            log.append("settle")
            for _ in 0..<2 {
                try hubs[0].share(hubs[1])
                for hub in hubs {
                    for leaf in leaves { try leaf.share(hub) }
                    for leaf in leaves { try leaf.share(hub) }
                    try hubs[0].share(hubs[1])
                }
            }
            for leaf in leaves { try leaf.share(hubs[0]) }
        }
    }

    @Test(arguments: seeds) func aLeafHoldsTheRowsOfItsScopeAndAllItsWritesArrive(seed: UInt64) throws {
        let fleet = try Fleet(seed: seed)
        for step in 0..<60 {
            if fleet.random.next(3) == 0 { try fleet.meet() } else { try fleet.edit() }
            if fleet.random.next(25) == 0 { try fleet.choose(fleet.random.next(2)) }
            if fleet.random.next(40) == 0 {
                fleet.log.append("compaction")
                _ = try fleet.all[fleet.random.next(4)].synchronizer.compact()
            }
            guard step == 29 || step == 59 else { continue }
            try fleet.settle()
            try check(fleet, seed, step)
        }
    }

    private func check(_ fleet: Fleet, _ seed: UInt64, _ step: Int) throws {
        let expected = try fleet.hubs[0].items()
        let second = try fleet.hubs[1].items()
        let log = fleet.log.joined(separator: "\n")
        #expect(second == expected, "seed \(seed), step \(step)\n\(log)")
        for (index, leaf) in fleet.leaves.enumerated() {
            let items = try leaf.items()
            let wanted = try fleet.hubs[0].items(fleet.choices[index])
            #expect(
                items == wanted,
                "seed \(seed), step \(step), leaf \(index), \(String(describing: fleet.choices[index]))\n\(log)"
            )
            let again = try leaf.share(fleet.hubs[0])
            #expect(
                again.pulled == nil && again.pushed == nil && again.waitingTables == [],
                "seed \(seed) \(step) \(index)")
        }
        let lost = try fleet.lostValues()
        #expect(lost == [], "seed \(seed), step \(step): \n\(log)")
        for replica in fleet.all {
            let problems = try replica.problems()
            #expect(problems == [], "seed \(seed), step \(step), \(replica.name)")
        }
    }
}
