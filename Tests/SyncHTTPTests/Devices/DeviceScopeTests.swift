import CipherStore
import Foundation
import SyncWire
import Testing

@testable import SyncEngine
@testable import SyncHTTP

/// Devices that may exchange some tables only.
@Suite(.serialized) struct DeviceScopeTests {
    /// A hub with a table `secret` beside `note`, and `tag`, which refers to `note`.
    private func hub(_ stores: ServedStores) throws -> Synchronizer {
        let hub = try stores.create("hub.db", rows: 3)
        try hub.database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE secret (id BLOB PRIMARY KEY, title TEXT);
                    CREATE TABLE tag (id BLOB PRIMARY KEY, note BLOB REFERENCES note (id), word TEXT);
                    CREATE INDEX tag_word ON tag (word);
                    """)
        }
        try hub.track(["secret", "tag"])
        try hub.write("secret", "hush")
        return hub
    }

    @Test func aDeviceBeginsWithItsTablesAndHearsOfNoOthers() async throws {
        let stores = try ServedStores()
        let hub = try hub(stores)
        try await RunningServer.serving(hub) { server in
            let till = try await stores.join(try server.invite(tables: ["note", "TAG"]), "till.db")
            #expect(try server.register.devices().first?.tables == ["note", "tag"])
            let tables = try await till.database.read {
                try String.fetchAll(
                    $0,
                    sql: """
                        SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_sync%' ESCAPE '\\'
                        AND name NOT LIKE 'sqlite%' AND type IN ('table', 'index') ORDER BY name
                        """)
            }
            #expect(tables == ["note", "tag", "tag_word"])
            let transport = try RemoteBook(till).transport(options: .hasty)
            #expect(try till.scope(ofRemote: transport.name) == .tables(["note", "tag"]))
            #expect(try await till.sync(with: transport).pulled?.rowCount == 3)
            #expect(try till.rows() == hub.rows())
            try till.insert(2, "till")
            try hub.insert(1, "hub")
            try hub.write("secret", "hush again")
            let report = try await till.sync(with: transport)
            #expect(report.pulled?.rowCount == 1 && report.pushed?.rowCount == 2)
            #expect(try till.rows() == hub.rows())
            let again = try await till.sync(with: transport)
            #expect(again.pulled == nil && again.pushed == nil && again.divergence == nil)
            // Not even the names of the others are in its file.
            let names = try await till.database.read {
                try String.fetchAll($0, sql: "SELECT name FROM _sync_table")
            }
            #expect(names.sorted() == ["note", "tag"])
            // Another device, which may have everything, gets what the first one wrote.
            let laptop = try await stores.join(try server.invite("laptop"), "laptop.db")
            _ = try await laptop.sync(with: RemoteBook(laptop).transport())
            #expect(try laptop.rows() == hub.rows())
        }
        #expect(try stores.leftovers().isEmpty)
    }

    @Test func anythingElseIsRefused() async throws {
        let stores = try ServedStores()
        let hub = try hub(stores)
        try await RunningServer.serving(hub) { server in
            let till = try await stores.join(try server.invite(tables: ["note"]), "till.db")
            let transport = try RemoteBook(till).transport(options: .hasty)
            _ = try await till.sync(with: transport)
            // A program that ignores its bounds asks for all tables, or for others.
            let peer = try transport.connect(stores.clock.environment)
            defer { peer.close() }
            nonisolated(unsafe) let open = peer
            for tables in [nil, [["secret"]], [["note"], ["secret"]], [["unheard"]]] as [[[String]]?] {
                let request = TransferRequest(base: VersionVector(), tables: tables)
                #expect(
                    await code { try await blocking { try open.prepareToSend(request, progress: nil) } }
                        == .outsideScope)
            }
            let rows = [StateRows(table: ["secret"], keys: [])]
            #expect(await code { try await blocking { try open.prepareToSend(rows: rows) } } == .outsideScope)
            let question = StateQuestion(table: ["secret"], columns: [])
            #expect(await code { _ = try await blocking { try open.answer(question) } } == .outsideScope)
            // Nor does a list of names in which one of its own stands first, or last, tell or send anything of others.
            let all = Set((0...255).map { UInt8($0) })
            for names in [["secret", "note"], ["unheard", "SECRET", "note"]] {
                let rows = [StateRows(table: names, keys: [])]
                #expect(
                    await code { try await blocking { try open.prepareToSend(rows: rows) } } == .outsideScope)
                let question = StateQuestion(table: names, columns: [], buckets: all)
                #expect(await code { _ = try await blocking { try open.answer(question) } } == .outsideScope)
            }
            let keys = try await till.database.read { try Data.fetchAll($0, sql: "SELECT id FROM note") }
            for names in [["note", "secret"], ["unheard", "note", "SECRET"]] {
                let question = StateQuestion(table: names, columns: [], buckets: all)
                let found = try await blocking { try open.answer(question).rows.keys.map { Data($0.bytes) } }
                #expect(Set(found) == Set(keys) && keys.count == 3)
            }
            let state = try #require(try await blocking { try open.state(.recomputed) })
            #expect(state.digest.tables.map(\.names) == [["note"]])
            let greeting = try await blocking { try open.greet() }
            #expect(greeting.facts.digest?.tables.allSatisfy { $0.names == ["note"] } != false)
            // What it brings for other tables is refused as a whole.
            try await till.database.write {
                try $0.execute(sql: "CREATE TABLE secret (id BLOB PRIMARY KEY, title TEXT)")
            }
            try till.track(["secret"])
            try till.write("secret", "forged")
            try till.insert(1, "honest")
            try till.setScope(.everything, ofRemote: transport.name)
            #expect(await code { _ = try await till.push(to: transport) } == .outsideScope)
            #expect(await code { _ = try await till.pull(from: transport) } == .outsideScope)
            #expect(try hub.titles() == ["from hub.db": 3])
            #expect(try hub.identity().vector[till.identity().replica] == 0)
            try till.setScope(.tables(["note"]), ofRemote: transport.name)
            let report = try await till.sync(with: transport)
            #expect(report.pushed?.rowCount == 1)
            let titles = try hub.titles()
            #expect(titles == ["from hub.db": 3, "honest": 1])
        }
    }

    @Test func aBundleThatSpeaksForOthersInAllTablesIsRefused() throws {
        let stores = try ServedStores()
        let hub = try hub(stores)
        let (store, own, vector) = try hub.identity()
        let access = try hub.access(within: #require(try hub.bounds(of: .tables(["note"]))))
        let coverage = Coverage(
            whole: Coverage.Part(known: vector, floor: VersionVector()), parts: [:], partials: [:])
        let (device, other) = (ReplicaID(high: 7), ReplicaID(high: 8))
        let known = try hub.writer.read { try KnownNames($0) }
        func check(
            _ target: [ReplicaID: Int64], floor: [ReplicaID: Int64] = [:], _ tables: [BundleHeader.Table]
        ) -> SyncError.Code? {
            var facts = ReplicaFacts()
            facts.floor = VersionVector(floor)
            let header = BundleHeader(
                store: store, sender: device, base: VersionVector(), target: VersionVector(target),
                replicas: [], tables: tables, facts: facts)
            do {
                try access.check(header, known, coverage)
                return nil
            } catch {
                return (error as? SyncError)?.code
            }
        }
        let note = BundleHeader.Table(name: "note", key: "id", columns: ["title"])
        func names(_ table: String, _ others: String...) -> BundleHeader.Table {
            BundleHeader.Table(name: NameDeclarations.tableNames, key: table, columns: [table] + others)
        }
        #expect(check([device: 5, own: vector[own]], [note]) == nil)
        #expect(check([device: 5, own: vector[own] + 1], [note]) == .outsideScope)
        #expect(check([device: 5, other: 1], [note]) == .outsideScope)
        #expect(check([device: 5], floor: [own: vector[own]], [note]) == nil)
        #expect(check([device: 5], floor: [own: vector[own] + 1], [note]) == .outsideScope)
        // A name that is not known here could be that of a table to come.
        let memo = BundleHeader.Table(name: "memo", key: "id", columns: ["title"])
        #expect(check([device: 5], [memo, names("memo", "note")]) == .outsideScope)
        #expect(check([device: 5], [note, names("note", "salary")]) == .outsideScope)
        #expect(check([device: 5], [memo]) == .outsideScope)
        #expect(check([device: 5], [note, names("note", "secret")]) == .outsideScope)
        #expect(check([device: 5], [memo, names("memo", "secret", "note")]) == .outsideScope)
        #expect(
            check([device: 5], [BundleHeader.Table(name: "SECRET", key: "id", columns: [])]) == .outsideScope)
    }

    @Test func aRenamedTableKeepsItsPlace() async throws {
        let stores = try ServedStores()
        let hub = try hub(stores)
        try await RunningServer.serving(hub) { server in
            let till = try await stores.join(try server.invite(tables: ["note"]), "till.db")
            let transport = try RemoteBook(till).transport(options: .hasty)
            _ = try await till.sync(with: transport)
            try await hub.database.write { try $0.execute(sql: "ALTER TABLE note RENAME TO memo") }
            try await hub.database.write {
                try $0.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY, x TEXT)")
            }
            try till.insert(1, "till")
            _ = try await till.sync(with: transport)
            #expect(try server.register.devices().first?.tables == ["memo"])
            let titles = try await hub.database.read {
                try String.fetchAll($0, sql: "SELECT title FROM memo ORDER BY title")
            }
            #expect(titles == ["from hub.db", "from hub.db", "from hub.db", "till"])
        }
    }

    @Test func aBoundThatNobodyKnowsLetsNobodyIn() async throws {
        let stores = try ServedStores()
        let hub = try hub(stores)
        try await RunningServer.serving(hub) { server in
            let till = try await stores.join(try server.invite(tables: ["note"]), "till.db")
            let transport = try RemoteBook(till).transport(options: .hasty)
            for text in [
                #"{"tables":[1],"rows":"x"}"#, #"{"rows":[]}"#,
                #"{"rows":[{"table":1,"column":0,"values":[],"x":1}]}"#,
                #"{"rows":[{"table":1,"column":9,"values":[]}]}"#, #"{"tables":[1],"columns":[]}"#, "{}",
                "[]", #"{"tables":[]}"#, "note", "",
            ] {
                try await hub.database.write {
                    try $0.execute(sql: "UPDATE _sync_device SET scope = ?", arguments: [text])
                }
                await #expect(throws: (any Error).self) { _ = try await till.sync(with: transport) }
            }
        }
        #expect(throws: SyncError.self) { try hub.bounds(of: .tables(["unheard"])) }
        #expect(throws: SyncError.self) { try hub.bounds(of: .tables([])) }
    }

    @Test func aRequestForMoreTablesThanABundleCanHaveIsRefused() throws {
        func read(_ request: TransferRequest) throws -> TransferRequest {
            let bytes = try JSONDocument.encode(Message.Transfer(request))
            return try JSONDocument.decode(Message.Transfer.self, from: bytes).value()
        }
        let limits = WireLimits()
        let most = (0..<limits.tableCountMax).map { ["t\($0)"] }
        let whole = TransferRequest(base: VersionVector(), tables: most)
        #expect(try read(whole) == whole)
        var requests = [
            TransferRequest(base: VersionVector(), tables: most + [["one more"]]),
            TransferRequest(
                base: VersionVector(),
                parts: [ReplicaFacts.Part(tables: most + [["one more"]], target: VersionVector())]),
            TransferRequest(
                base: VersionVector(), tables: [[String](repeating: "t", count: limits.columnTotalMax + 1)]),
            TransferRequest(base: VersionVector()),
        ]
        requests[3].leftOut = most + [["one more"]]
        for request in requests {
            let error = #expect(throws: RemoteError.self) { try read(request) }
            #expect(error?.code == .tooLarge)
        }
    }

    @Test func aRequestForSomethingUnknownIsRefused() throws {
        var request = TransferRequest(
            base: VersionVector([ReplicaID(high: 1): 5]),
            parts: [ReplicaFacts.Part(tables: [["a", "b"]], target: VersionVector([ReplicaID(high: 2): 7]))],
            tables: [["a", "b"], ["c"]])
        request.leftOut = [["d"]]
        var partial = ReplicaFacts.Partial(
            names: ["c", "e"], since: VersionVector([ReplicaID(high: 3): 8]),
            dropped: VersionVector([ReplicaID(high: 4): 9]))
        partial.isDue = true
        request.rows = [
            RowRequest(
                partial: partial, columns: ["team"], values: [.null, 5, "x", .blob([0, 255])],
                heldValues: ["x"], receiver: ReplicaID(high: 6), revision: 3)
        ]
        let bytes = try JSONDocument.encode(Message.Transfer(request))
        #expect(try JSONDocument.decode(Message.Transfer.self, from: bytes).value() == request)
        for text in [
            #"{"vector":{},"columns":[]}"#, #"{"vector":{},"rows":[{}]}"#, #"{"vector":{},"leftOut":[[]]}"#,
            #"{"vector":{},"tables":[[]]}"#, #"{"tables":[]}"#,
            #"{"vector":{"x":1}}"#, #"{"vector":{},"parts":[{"tables":[["a"]]}]}"#,
        ] {
            #expect(throws: RemoteError.self) {
                try JSONDocument.decode(Message.Transfer.self, from: Array(text.utf8)).value()
            }
        }
    }
}

extension ReplicaID {
    fileprivate init(high: UInt64) { self.init(high: high, low: 0) }
}

extension Synchronizer {
    fileprivate func write(_ table: String, _ title: String) throws {
        try database.write { db in
            let id = withUnsafeBytes(of: UUID().uuid) { Data($0) }
            try db.execute(sql: "INSERT INTO \(table) (id, title) VALUES (?, ?)", arguments: [id, title])
        }
    }
}
