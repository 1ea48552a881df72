import CipherStore
import Foundation
import SyncWire
import TestSupport
import Testing

@testable import SyncEngine

/// Random histories with filters that change at random, held to a model: each replica knows a set
/// of writes of each table, and an exchange of some tables unites the sets of these.
@Suite struct ScopePropertyTests {
    private struct Write: Hashable {
        enum Kind { case insert, update, delete }
        let number: Int64
        let row: UInt8
        let kind: Kind
    }

    private struct Model {
        var known: [String: Set<Write>] = [:]

        func rows(_ table: String) -> [UInt8: Int64] {
            let writes = known[table] ?? []
            let deleted = Set(writes.filter { $0.kind == .delete }.map(\.row))
            var rows: [UInt8: Int64] = [:]
            for write in writes where !deleted.contains(write.row) {
                rows[write.row] = max(rows[write.row] ?? 0, write.number)
            }
            return rows
        }
    }

    private final class World {
        let stores: TestStores
        var replicas: [TestReplica] = []
        var models: [Model] = []
        var random: SplitMix64
        var count: Int64 = 0

        init(seed: UInt64) throws {
            random = SplitMix64(state: seed)
            stores = try TestStores(seed: seed)
            replicas = [try stores.createScoped("0.db")]
            models = [Model()]
            for number in 1...3 {
                replicas.append(try stores.clone(replicas[0], as: "\(number).db"))
                models.append(Model())
            }
        }

        private func pick<T>(_ values: [T]) -> T { values[Int(random.next(below: UInt64(values.count)))] }

        func write() throws {
            let index = Int(random.next(below: 4))
            let table = pick(scopedTables)
            let rows = models[index].rows(table).keys.sorted()
            count += 1
            let replica = replicas[index]
            let choice = random.next(below: 6)
            let write: Write
            if choice < 2 || rows.isEmpty {
                write = Write(number: count, row: UInt8(truncatingIfNeeded: count), kind: .insert)
                try replica.put(table, write.row, count)
            } else if choice < 5 {
                write = Write(number: count, row: pick(rows), kind: .update)
                try replica.execute("UPDATE \(table) SET value = ? WHERE id = ?", [count, key(write.row)])
            } else {
                write = Write(number: count, row: pick(rows), kind: .delete)
                try replica.execute("DELETE FROM \(table) WHERE id = ?", [key(write.row)])
            }
            models[index].known[table, default: []].insert(write)
        }

        func exchange(_ tables: [String]?, _ one: Int, _ other: Int) throws {
            let direction = pick([SyncDirection.both, .both, .push, .pull])
            let report = try replicas[one].exchange(replicas[other], tables, direction)
            #expect(report.divergence == nil, "after \(count) writes")
            for table in tables ?? scopedTables {
                let (here, there) = (models[one].known[table] ?? [], models[other].known[table] ?? [])
                if direction != .push { models[one].known[table] = here.union(there) }
                if direction != .pull { models[other].known[table] = there.union(here) }
            }
            try check(one)
            try check(other)
        }

        func step() throws {
            switch random.next(below: 12) {
            case 0..<6: try write()
            case 6:
                let replica = pick(replicas)
                try replica.synchronizer.compact(isDryRun: false)
            case 7:
                let chosen = scopedTables.filter { _ in random.next(below: 2) == 0 }
                try pick(replicas).synchronizer.setScope(
                    chosen.isEmpty ? .everything : .tables(chosen), ofRemote: "somebody")
            default:
                let one = Int(random.next(below: 4))
                let other = (one + 1 + Int(random.next(below: 3))) % 4
                let chosen = scopedTables.filter { _ in random.next(below: 3) > 0 }
                try exchange(chosen.isEmpty || random.next(below: 5) == 0 ? nil : chosen, one, other)
            }
        }

        func check(_ index: Int) throws {
            for table in scopedTables {
                let (found, expected) = (try replicas[index].values(table), models[index].rows(table))
                #expect(found == expected, "\(table) of \(replicas[index].name) after \(count) writes")
            }
            guard count % 8 == 0 else { return }
            let problems = try replicas[index].problems()
            #expect(problems.isEmpty)
        }
    }

    @Test(arguments: Campaign.seeds(3, nightly: 50))
    func replicasHoldWhatTheirFiltersBroughtWhateverTheOrder(seed: UInt64) throws {
        let world = try World(seed: seed)
        for _ in 0..<100 { try world.step() }
        // Equal vectors of a table, equal rows of it.
        for replica in world.replicas { _ = try replica.peer.greet() }
        for table in scopedTables {
            for one in 0..<4 {
                for other in 0..<one
                where try world.replicas[one].known(table) == world.replicas[other].known(table) {
                    #expect(try world.replicas[one].values(table) == world.replicas[other].values(table))
                }
            }
        }
        // Without filters, everything comes to everybody.
        for _ in 0..<2 {
            for one in 0..<4 {
                for other in 0..<4 where one != other {
                    try world.replicas[one].exchange(world.replicas[other])
                }
            }
        }
        var all = Model()
        for table in scopedTables {
            all.known[table] = world.models.reduce(into: []) { $0.formUnion($1.known[table] ?? []) }
        }
        for replica in world.replicas {
            for table in scopedTables {
                let found = try replica.values(table)
                #expect(found == all.rows(table), "\(table) of \(replica.name)")
            }
            let coverage = try replica.coverage()
            let isUndivided = coverage.parts.values.allSatisfy { $0.known == coverage.whole.known }
            #expect(isUndivided, "\(replica.name)")
        }
    }
}
