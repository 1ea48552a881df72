import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine

/// What devices may ask for, and hear, that may read some rows of a table only.
@Suite struct DeviceAccessTests {
    private let scope = SyncScope.rows(of: "item", where: "scope", in: ["a", "b"])

    private func request(_ leaf: TestReplica) throws -> TransferRequest {
        var request = TransferRequest(base: VersionVector())
        request.rows = try leaf.peer.rowRequests()
        return request
    }

    private func isRefused(_ request: TransferRequest, _ hub: TestReplica, _ bounds: AccessBounds) throws
        -> Bool
    {
        do {
            _ = try hub.synchronizer.sendChanges(request, within: { _ in bounds }, to: { _ in })
            return false
        } catch let error as SyncError {
            #expect(error.code == .outsideScope)
            return true
        }
    }

    private func pair(_ stores: TestStores) throws -> (
        hub: TestReplica, leaf: TestReplica, bounds: AccessBounds
    ) {
        let hub = try stores.createWithScopes()
        for (number, value) in (["a", "b", "c"] as [ScopeValue]).enumerated() {
            try hub.add(number + 1, value, x: Int64(1000 + number))
        }
        let leaf = try stores.clone(hub, as: "leaf.db")
        try leaf.choose(["a"], of: hub)
        return (hub, leaf, try #require(try hub.synchronizer.bounds(of: scope)))
    }

    @Test func noTableIsNamedThatIsNotItsOwn() throws {
        let stores = try TestStores()
        let hub = try stores.createWithScopes()
        let bounds = try #require(try hub.synchronizer.bounds(of: .tables(["other"])))
        var request = TransferRequest(base: VersionVector(), tables: [["other"]])
        request.leftOut = [["item"], ["nothing"], ["other"]]
        var frames: [[UInt8]] = []
        _ = try hub.synchronizer.sendChanges(
            request, within: { _ in bounds }, to: { frames.append(Array($0)) })
        let header = try frames[0].withUnsafeBytes { try BundleParts.header(of: $0) }
        #expect(header.facts.partials.allSatisfy { $0.names == ["other"] })
        let restricted = try hub.synchronizer.access(within: bounds).restricted(request)
        #expect(restricted.leftOut == [["other"]] && restricted.tables == [["other"]])
    }

    @Test func onlyItsOwnRowsCanBeAskedFor() throws {
        let stores = try TestStores()
        let (hub, leaf, bounds) = try pair(stores)
        let good = try request(leaf)
        #expect(try !isRefused(good, hub, bounds))
        #expect(try isRefused(TransferRequest(base: VersionVector()), hub, bounds))
        #expect(try isRefused(TransferRequest(base: VersionVector(), tables: [["item"]]), hub, bounds))
        #expect(
            try isRefused(TransferRequest(base: VersionVector(), tables: [["other"], ["ITEM"]]), hub, bounds))
        #expect(try !isRefused(TransferRequest(base: VersionVector(), tables: [["other"]]), hub, bounds))
        var leftOut = TransferRequest(base: VersionVector())
        leftOut.leftOut = [["item"]]
        #expect(try !isRefused(leftOut, hub, bounds))
        func changed(_ change: (inout RowRequest) -> Void) throws -> Bool {
            var request = good
            change(&request.rows[0])
            return try isRefused(request, hub, bounds)
        }
        #expect(try changed { $0.values = nil })
        #expect(try changed { $0.values = ["a", "c"] })
        #expect(try changed { $0.values = [.null] })
        #expect(try changed { $0.columns = ["x"] })
        #expect(try changed { $0.columns = ["nothing"] })
        #expect(try changed { $0.partial.names = ["other"] })
        #expect(try !changed { $0.values = ["a", "b"] })
        #expect(try !changed { $0.values = [] })
        #expect(try !changed { $0.columns = ["nothing", "scope"] })
        // Of two requests for one table, nobody can say which counts.
        var twice = good
        twice.rows.append(good.rows[0])
        twice.rows[1].values = ["c"]
        #expect(try isRefused(twice, hub, bounds))
        twice.rows.reverse()
        #expect(try isRefused(twice, hub, bounds))
    }

    @Test func whateverItClaimsToHoldNothingOfOtherRowsComes() throws {
        let stores = try TestStores()
        let (hub, leaf, bounds) = try pair(stores)
        let early = try hub.vector()
        stores.clock.advance(milliseconds: 10)
        try hub.move(1, "c")
        try hub.set(3, x: 2000)
        try hub.execute("DELETE FROM item WHERE id = ?", [itemKey(2)])
        _ = try hub.peer.greet()
        for since in [VersionVector(), early, try hub.vector()] {
            for held in [[], ["a"], ["c"], ["a", "b", "c", .null]] as [[ScopeValue]] {
                var request = try request(leaf)
                request.rows[0].partial.since = since
                request.rows[0].partial.own = since
                request.rows[0].heldValues = held
                nonisolated(unsafe) var values: [Int64] = []
                nonisolated(unsafe) var reader = BundleReader()
                nonisolated(unsafe) var frames: [[UInt8]] = []
                _ = try hub.synchronizer.sendChanges(
                    request, within: { _ in bounds }, to: { frames.append(Array($0)) })
                for frame in frames {
                    try frame.withUnsafeBytes {
                        try reader.consume(
                            $0, onHeader: { _ in },
                            onRow: { row in
                                guard row.table == 0 else { return }
                                for index in 0..<row.baseValues.count {
                                    if case .integer(let number) = row.baseValues[index].value {
                                        values.append(number)
                                    }
                                }
                                for index in 0..<row.cells.count {
                                    if case .integer(let number) = row.cells[index].value {
                                        values.append(number)
                                    }
                                }
                            })
                    }
                }
                #expect(values.allSatisfy { $0 < 1002 && $0 != 1000 }, "\(since) \(held) \(values)")
            }
        }
    }

    @Test func aColumnKeepsItsPlaceWhenItIsRenamed() throws {
        let stores = try TestStores()
        let (hub, leaf, bounds) = try pair(stores)
        let old = try request(leaf)
        try hub.execute("ALTER TABLE item RENAME TO thing")
        _ = try hub.peer.greet()
        #expect(try !isRefused(old, hub, bounds))
        #expect(try isRefused(TransferRequest(base: VersionVector(), tables: [["thing"]]), hub, bounds))
        let names = try hub.queue.read { try AccessNames($0, bounds) }
        #expect(names.rows.map(\.table) == [["thing", "item"]] && names.tables == nil)
        #expect(names.scope == .rows(of: "thing", where: "scope", in: ["a", "b"]))
        #expect(try leaf.synchronizer.ownScope(names).found == scope)
    }

    /// The same as ``pair(_:)``, where `item` and `other` are former names of `thing` and `another`, and the device may have
    /// `another` and no rows of `thing`, or some.
    private func renamedPair(_ stores: TestStores, byRows: Bool) throws -> (
        hub: TestReplica, leaf: TestReplica, bounds: AccessBounds
    ) {
        let (hub, leaf, rows) = try pair(stores)
        try hub.execute("INSERT INTO other VALUES (?, 7)", [itemKey(9)])
        for (name, newName) in [("other", "another"), ("item", "thing")] {
            try hub.execute("ALTER TABLE \(name) RENAME TO \(newName)")
            _ = try hub.peer.greet()
        }
        let bounds = byRows ? rows : try #require(try hub.synchronizer.bounds(of: .tables(["another"])))
        return (hub, leaf, bounds)
    }

    /// The tables that a bundle names.
    private func tables(
        _ send: (@escaping (UnsafeRawBufferPointer) throws -> Void) throws -> TransferSummary
    ) throws -> [String] {
        var frames: [[UInt8]] = []
        _ = try send { frames.append(Array($0)) }
        let first = try #require(frames.first)
        let header = try first.withUnsafeBytes { try BundleParts.header(of: $0) }
        return header.tables.map(\.name).filter { !MetadataSchema.isReserved($0) }
    }

    @Test(arguments: [false, true]) func aListOfNamesIsThatOfTheFirstTableThatItMeans(byRows: Bool) throws {
        let stores = try TestStores()
        let (hub, leaf, bounds) = try renamedPair(stores, byRows: byRows)
        let access = try hub.synchronizer.access(within: bounds)
        let own = try #require(try access.requireAllRows(["another"]))
        let whole: [[String]]? = byRows ? nil : [["another"]]
        let lists = [
            ["another"], ["other"], ["nothing", "OTHER"], ["another", "other"], ["another", "thing"],
            ["other", "ITEM"], ["nothing", "other", "thing"],
        ]
        for names in lists {
            #expect(try access.requireAllRows(names) == own, "\(names)")
            let question = StateQuestion(
                table: names, columns: [], buckets: Set((0...255).map { UInt8($0) }))
            let answer = try hub.synchronizer.answer(question, within: { _ in bounds })
            #expect(answer.rows.keys.map(\.bytes) == [Array(itemKey(9))], "\(names)")
            let keys = [1, 9].map { StateRowKey(bytes: Array(itemKey($0)), isText: false) }
            let selection = StateRows(table: names, keys: keys)
            let repaired = try tables { sink in
                let sent = try hub.synchronizer.send(rows: [selection], within: { _ in bounds }, to: sink)
                #expect(sent.rowCount == 1, "\(names)")
                return sent
            }
            #expect(repaired == ["another"], "\(names)")
            let request = TransferRequest(base: VersionVector(), tables: [names])
            let changed = try tables {
                try hub.synchronizer.sendChanges(request, within: { _ in bounds }, to: $0)
            }
            #expect(changed == ["another"], "\(names)")
            // Rows of the other table are neither left out nor asked for so.
            var leftOut = TransferRequest(base: VersionVector(), tables: whole)
            leftOut.leftOut = [names]
            #expect(try isRefused(leftOut, hub, bounds) == byRows, "\(names)")
            guard byRows else { continue }
            var rows = try self.request(leaf)
            rows.rows[0].partial.names = names
            #expect(try isRefused(rows, hub, bounds), "\(names)")
        }
    }

    @Test(arguments: [false, true]) func aListThatBeginsWithTheNameOfAnotherTableIsThatOfTheOther(
        byRows: Bool
    ) throws {
        let stores = try TestStores()
        let (hub, leaf, bounds) = try renamedPair(stores, byRows: byRows)
        let access = try hub.synchronizer.access(within: bounds)
        // Nobody knows it: a device may ask for its rows as for those of a table that is not tracked any more.
        let strange = StateRows(
            table: ["nothing"], keys: [StateRowKey(bytes: Array(itemKey(9)), isText: false)])
        #expect(try hub.synchronizer.send(rows: [strange], within: { _ in nil }, to: { _ in }).rowCount == 0)
        for names in [["thing", "another"], ["ITEM", "other"], ["nothing", "item", "another"]] {
            #expect(throws: SyncError.self, "\(names)") { try access.requireAllRows(names) }
            let question = StateQuestion(
                table: names, columns: [], buckets: Set((0...255).map { UInt8($0) }))
            #expect(throws: SyncError.self, "\(names)") {
                try hub.synchronizer.answer(question, within: { _ in bounds })
            }
            let key = StateRowKey(bytes: Array(itemKey(9)), isText: false)
            let selection = StateRows(table: names, keys: [key])
            #expect(throws: SyncError.self, "\(names)") {
                try hub.synchronizer.send(rows: [selection], within: { _ in bounds }, to: { _ in })
            }
            let wanted = TransferRequest(base: VersionVector(), tables: [names])
            #expect(try isRefused(wanted, hub, bounds), "\(names)")
            // The rows that it may have of that one, it may ask for so.
            var request = try request(leaf)
            request.tables = byRows ? nil : [["another"]]
            request.rows[0].partial.names = names
            #expect(try isRefused(request, hub, bounds) == !byRows, "\(names)")
        }
    }

    @Test func nothingIsSaidOfTablesThatItHasPartOf() throws {
        let stores = try TestStores()
        let (hub, _, bounds) = try pair(stores)
        let access = try hub.synchronizer.access(within: bounds)
        let state = access.restricted(try #require(try hub.peer.state(.recomputed)))
        #expect(state.digest.tables.map(\.names) == [["other"]])
        #expect(
            access.restricted(try hub.peer.greet()).facts.digest?.tables.contains { $0.names == ["item"] }
                != true)
        #expect(throws: SyncError.self) { try access.requireAllRows(["item"]) }
        #expect(throws: SyncError.self) { try access.requireAllRows(["nothing", "ITEM"]) }
        #expect(try access.requireAllRows(["nothing", "OTHER"]) != nil)
        // Nor of tables that it has nothing of.
        let tables = try hub.synchronizer.bounds(of: .tables(["other"]))
        let other = try hub.synchronizer.access(within: try #require(tables))
        var greeting = try hub.peer.greet()
        var facts = greeting.facts
        facts.partials = [ReplicaFacts.Partial(names: ["item"])]
        greeting = Greeting(
            store: greeting.store, replica: greeting.replica, vector: greeting.vector,
            ownSequence: greeting.ownSequence, facts: facts)
        #expect(other.restricted(greeting).facts.partials.isEmpty)
    }
}
