import CipherStore
import Foundation
import Logging
import SyncWire
import Testing

@testable import SyncEngine
@testable import SyncHTTP

/// Devices that may exchange some rows of a table only, whatever their program asks for or brings.
@Suite(.serialized) struct RowAccessTests {
    /// A hub with rows of the teams a, b and c, and a table that has no teams.
    private func hub(_ stores: ServedStores) throws -> Synchronizer {
        let hub = try stores.create("hub.db")
        try hub.database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE task (id BLOB PRIMARY KEY, team TEXT, text TEXT);
                    CREATE INDEX task_team ON task (team);
                    """)
        }
        try hub.track(["task"])
        for team in ["a", "b", "c"] { try hub.add(team, "first of \(team)") }
        return hub
    }

    private let teams = SyncScope.rows(of: "task", where: "team", in: ["a", "b"])

    @Test func aDeviceBeginsWithItsRowsAndStaysWithinThem() async throws {
        let stores = try ServedStores()
        let hub = try hub(stores)
        try hub.insert(1, "for all")
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(try server.invite(scope: teams), "phone.db")
            let transport = try RemoteBook(phone).transport(options: .hasty)
            #expect(try phone.scope(ofRemote: transport.name) == teams)
            #expect(try server.register.devices().first?.scope == teams)
            _ = try await phone.sync(with: transport)
            #expect(try phone.tasks() == ["a first of a", "b first of b"] && phone.rows() == hub.rows())
            // Both ways, with moves between own teams.
            stores.clock.advance(milliseconds: 10)
            try phone.add("a", "of the phone")
            try phone.run("UPDATE task SET team = 'b' WHERE text = 'first of a'")
            try hub.add("c", "second of c")
            try hub.run("UPDATE task SET team = 'c' WHERE text = 'first of b'")
            let report = try await phone.sync(with: transport)
            #expect(report.refusal == nil && report.waitingTables.isEmpty && report.divergence == nil)
            #expect(try phone.status().peers.map(\.pendingCount) == [0])
            #expect(try phone.tasks() == ["a of the phone", "b first of a"])
            #expect(
                try hub.tasks() == [
                    "a of the phone", "b first of a", "c first of b", "c first of c", "c second of c",
                ])
            // What it moved itself, it asks for once more.
            _ = try await phone.sync(with: transport)
            let again = try await phone.sync(with: transport)
            #expect(again.pulled == nil && again.pushed == nil)
            // A device that may have everything gets it all from the hub.
            let laptop = try await stores.join(try server.invite("laptop"), "laptop.db")
            _ = try await laptop.sync(with: RemoteBook(laptop).transport())
            #expect(try laptop.tasks() == hub.tasks())
        }
        #expect(try stores.leftovers().isEmpty)
    }

    @Test func whatIsRefusedWaitsUntilItMayBeWritten() async throws {
        let stores = try ServedStores()
        let hub = try hub(stores)
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(try server.invite(scope: teams), "phone.db")
            let transport = try RemoteBook(phone).transport(options: .hasty)
            _ = try await phone.sync(with: transport)
            stores.clock.advance(milliseconds: 10)
            try phone.add("a", "honest")
            try phone.run("UPDATE task SET team = 'c' WHERE text = 'first of a'")
            try hub.add("b", "of the hub")
            // What comes, comes; what goes, goes but for the row.
            let before = try hub.tasks()
            let report = try await phone.sync(with: transport)
            let refusal = try #require(report.refusal)
            #expect(refusal.code == .outsideScope && report.pulled?.rowCount == 1)
            #expect(refusal.message.contains("task") && refusal.message.contains("team"))
            #expect(refusal.rows.map(\.table) == [["task"]] && refusal.rows[0].keys.count == 1)
            #expect(try hub.tasks() == (before + ["a honest"]).sorted())
            #expect(try phone.tasks() == ["a honest", "b first of b", "b of the hub", "c first of a"])
            #expect(try await phone.push(to: transport).refusal?.code == .outsideScope)
            #expect(try await phone.sync(with: transport).refusal != nil)
            #expect(try phone.status().peers.map(\.pendingCount) == [1])
            // The device takes the move back, and all of it goes.
            try phone.run("UPDATE task SET team = 'a' WHERE text = 'first of a'")
            #expect(try phone.status().peers.map(\.pendingCount) == [1])
            #expect(try await phone.sync(with: transport).refusal == nil)
            #expect(try phone.status().peers.map(\.pendingCount) == [0])
            #expect(
                try hub.tasks() == [
                    "a first of a", "a honest", "b first of b", "b of the hub", "c first of c",
                ])
            // Or somebody lets it: it goes, and then it is not the device's any more.
            try phone.run("UPDATE task SET team = 'c' WHERE text = 'first of a'")
            #expect(try await phone.sync(with: transport).refusal != nil)
            try server.register.change(
                "phone", scope: .rows(of: "task", where: "team", in: ["a", "b", "c"]))
            #expect(try await phone.sync(with: transport).refusal == nil)
            #expect(try phone.tasks() == hub.tasks() && hub.tasks().contains("c first of a"))
            try server.register.change("phone", scope: teams)
            _ = try await phone.sync(with: transport)
            #expect(try phone.tasks() == ["a honest", "b first of b", "b of the hub"])
            // A row that was moved meanwhile is not the device's to write to.
            stores.clock.advance(milliseconds: 10)
            try hub.run("UPDATE task SET team = 'c' WHERE text = 'honest'")
            try phone.run("UPDATE task SET text = 'late' WHERE text = 'honest'")
            #expect(try await phone.sync(with: transport).refusal != nil)
            #expect(try phone.tasks().contains("a late") && hub.tasks().contains("c honest"))
            try server.register.change("phone", scope: .everything)
            #expect(try await phone.sync(with: transport).refusal == nil)
            #expect(try phone.tasks() == hub.tasks() && hub.tasks().contains("c late"))
        }
    }

    /// More rows than are named at once are refused in all ways that there are, before and after a permitted one.
    @Test(arguments: [false, true]) func permittedRowsGoBesideAnyNumberOfOthers(isLarge: Bool) async throws {
        let stores = try ServedStores()
        let hub = try hub(stores)
        for number in 0..<(isLarge ? 1_200 : 3) { try hub.add("a", "mine \(number)") }
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(try server.invite(scope: teams), "phone.db")
            let transport = try RemoteBook(phone).transport(options: .hasty)
            _ = try await phone.sync(with: transport)
            stores.clock.advance(milliseconds: 10)
            try hub.run("UPDATE task SET team = 'c' WHERE text GLOB 'mine *'")
            try phone.add("a", "first")
            try phone.run("UPDATE task SET text = 'late ' || substr(text, 6) WHERE text GLOB 'mine *[0-8]'")
            try phone.run("DELETE FROM task WHERE text GLOB 'mine *9'")
            try phone.add("c", "new elsewhere")
            try phone.add("b", "last")
            let identity = try phone.identity().replica
            let report = try await phone.sync(with: transport)
            let refused = try #require(report.refusal).rows.reduce(0) { $0 + $1.keys.count }
            #expect(refused == (isLarge ? 1_201 : 4))
            #expect(try hub.tasks().contains("a first") && hub.tasks().contains("b last"))
            #expect(try !hub.tasks().contains { $0.contains("late") || $0.contains("elsewhere") })
            // Nothing is written when nothing else is to be sent, and what comes later goes.
            let before = try phone.identity().vector
            #expect(try await phone.sync(with: transport).refusal != nil)
            #expect(try isLarge || phone.identity().vector == before)
            #expect(try await phone.sync(with: transport).renewedReplicas.isEmpty)
            #expect(try phone.identity().replica == identity)
            let reach = try phone.reach().lastEntry
            try phone.add("a", "later")
            #expect(try phone.reach().lastEntry > reach)
            #expect(try await phone.sync(with: transport).refusal != nil)
            #expect(try hub.tasks().contains("a later"))
            // What was held back is as good as new once it may go.
            try server.register.change("phone", scope: .everything)
            for _ in 0..<3 { _ = try await phone.sync(with: transport) }
            #expect(try phone.tasks() == hub.tasks())
            #expect(try hub.tasks().contains("c new elsewhere"))
            #expect(try hub.tasks().filter { $0.hasPrefix("c late") }.count == (isLarge ? 1_080 : 3))
            #expect(try await phone.sync(with: transport).divergence == nil)
            for store in [phone, hub] {
                let problems = try await store.writer.write {
                    try MetadataCheck.problems(of: $0, isDeep: true)
                }
                #expect(problems.isEmpty, "\(problems)")
            }
        }
    }

    @Test func aProgramThatHoldsToNothingIsHeldToItsRows() async throws {
        let stores = try ServedStores()
        let hub = try hub(stores)
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(try server.invite(scope: teams), "phone.db")
            let transport = try RemoteBook(phone).transport(options: .hasty)
            _ = try await phone.sync(with: transport)
            let peer = try transport.connect(stores.clock.environment)
            defer { peer.close() }
            nonisolated(unsafe) let open = peer
            func ask(_ request: TransferRequest) async -> SyncError.Code? {
                await code { try await blocking { try open.prepareToSend(request, progress: nil) } }
            }
            #expect(await ask(TransferRequest(base: VersionVector())) == .outsideScope)
            var request = TransferRequest(base: VersionVector())
            request.rows = try phone.localPeer.rowRequests()
            #expect(await ask(request) == nil)
            request.rows[0].values = ["c"]
            #expect(await ask(request) == .outsideScope)
            request.rows[0].values = nil
            #expect(await ask(request) == .outsideScope)
            let rows = [StateRows(table: ["task"], keys: [])]
            #expect(await code { try await blocking { try open.prepareToSend(rows: rows) } } == .outsideScope)
            let question = StateQuestion(table: ["task"], columns: [])
            #expect(await code { _ = try await blocking { try open.answer(question) } } == .outsideScope)
            let state = try #require(try await blocking { try open.state(.recomputed) })
            #expect(state.digest.tables.map(\.names) == [["note"]])
            // Bundles of its own making, small and large, which take different ways.
            let device = try phone.identity().replica
            let key = try #require(
                try await hub.database.read {
                    try Data.fetchOne($0, sql: "SELECT id FROM task WHERE team = 'c'")
                })
            let before = try hub.tasks()
            var sequence: Int64 = 1000
            for byteCount in [10, 3 << 20] {
                let text = String(repeating: "x", count: byteCount)
                sequence += 1
                for (isNew, team) in [(true, "c"), (false, "a")] {
                    let frames = try Self.forged(hub, device, sequence, isNew ? nil : key, team, text)
                    let refusal = await code {
                        try await blocking {
                            _ = try open.receive { sink in
                                for frame in frames { try frame.withUnsafeBytes { try sink($0) } }
                            }
                        }
                    }
                    #expect(refusal == .outsideScope, "\(byteCount) \(team)")
                }
                let frames = try Self.forged(hub, device, sequence, nil, "b", text)
                _ = try await blocking {
                    try open.receive { sink in
                        for frame in frames { try frame.withUnsafeBytes { try sink($0) } }
                    }
                }
            }
            #expect(try hub.tasks().filter { !$0.hasPrefix("b x") } == before)
            #expect(try hub.tasks().count == before.count + 2)
        }
    }

    /// A bundle with one task.
    private static func forged(
        _ hub: Synchronizer, _ device: ReplicaID, _ sequence: Int64, _ key: Data?, _ team: String,
        _ text: String
    ) throws -> [[UInt8]] {
        var facts = ReplicaFacts()
        facts.parts = [.init(tables: [["task"]], target: VersionVector([device: sequence]))]
        let header = BundleHeader(
            store: try hub.identity().store, sender: device, base: VersionVector(), target: VersionVector(),
            replicas: [device], tables: [.init(name: "task", key: "id", columns: ["team", "text"])],
            facts: facts)
        nonisolated(unsafe) var frames: [[UInt8]] = []
        var writer = try BundleWriter(header: header) { frames.append(Array($0)) }
        let bytes = key.map { Array($0) } ?? withUnsafeBytes(of: UUID().uuid) { Array($0) }
        let stamp = WireStamp(
            timestamp: hub.surroundings.milliseconds() << 16 + 5, replica: 0, sequence: sequence)
        bytes.withUnsafeBytes {
            writer.beginRow(
                table: 0, key: $0, isTextKey: false, life: 1, base: stamp, mask: nil, cellCount: 0)
        }
        for value in [team, text] { ScopeValue.text(value).withWireValue { writer.value($0) } }
        try writer.endRow()
        try writer.finish()
        return frames
    }

    @Test func aChangedScopeCountsAtOnceAndIsLearnt() async throws {
        let stores = try ServedStores()
        let hub = try hub(stores)
        try hub.insert(2, "note")
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(try server.invite(scope: .tables(["task"])), "phone.db")
            let transport = try RemoteBook(phone).transport(options: .hasty)
            _ = try await phone.sync(with: transport)
            #expect(try phone.tasks().count == 3)
            let peer = try transport.connect(stores.clock.environment)
            defer { peer.close() }
            nonisolated(unsafe) let open = peer
            let all = TransferRequest(base: VersionVector(), tables: [["task"]])
            try await blocking { try open.prepareToSend(all, progress: nil) }
            // Rows of the table, in a session that is open.
            try server.register.change("phone", scope: teams)
            let again = TransferRequest(base: VersionVector(), tables: [["Task"]])
            #expect(
                await code { try await blocking { try open.prepareToSend(again, progress: nil) } }
                    == .outsideScope)
            try phone.add("a", "of the phone")
            _ = try await phone.sync(with: transport)
            #expect(try phone.scope(ofRemote: transport.name) == teams)
            #expect(try phone.tasks() == ["a first of a", "a of the phone", "b first of b"])
            // The table that it had not heard of is made, and comes.
            #expect(try phone.rows() == hub.rows())
            // Less of it goes again, a table of which it has none any more stays as it is.
            let one = SyncScope.tables(["task"]).rows(of: "task", where: "team", in: ["b"])
            try server.register.change("phone", scope: one)
            try hub.insert(1, "late")
            _ = try await phone.sync(with: transport)
            #expect(try phone.tasks() == ["b first of b"] && phone.titles() == ["note": 2])
            // Read-only, and not.
            try server.register.change("phone", isReadOnly: true)
            try phone.add("b", "pending")
            let report = try await phone.sync(with: transport)
            #expect(report.pushed == nil && report.refusal == nil)
            #expect(try RemoteBook(phone).remote().isReadOnly)
            try server.register.change("phone", scope: .everything, isReadOnly: false)
            _ = try await phone.sync(with: transport)
            #expect(try phone.tasks() == hub.tasks() && phone.rows() == hub.rows())
            #expect(try hub.tasks().contains("b pending") && !RemoteBook(phone).remote().isReadOnly)
            #expect(try phone.scope(ofRemote: transport.name) == .everything)
            #expect(throws: RemoteError.self) { try server.register.change("nobody", scope: .everything) }
            #expect(throws: SyncError.self) {
                try server.register.change("phone", scope: .tables(["unheard"]))
            }
        }
    }

    @Test func aWatchingDeviceLearnsOfAChangeAtOnce() async throws {
        let stores = try ServedStores()
        let hub = try hub(stores)
        try await RunningServer.serving(hub) { server in
            let phone = try await stores.join(try server.invite(scope: teams), "phone.db")
            let reader = try stores.open("phone.db")
            let watching = try Watching(phone)
            try await watching.waitForConnection()
            try await watching.waitForRows(2)
            try server.register.change(
                "phone", scope: .rows(of: "task", where: "team", in: ["a", "b", "c"]))
            while try reader.tasks().count < 3 { try await Task.sleep(for: .milliseconds(2)) }
            try server.register.change("phone", scope: .rows(of: "task", where: "team", in: ["c"]))
            while try reader.tasks() != ["c first of c"] { try await Task.sleep(for: .milliseconds(2)) }
            watching.live.stop()
            try await watching.end()
        }
    }

    @Test func aDownloadThatWaitsEndsWithTheScopeItWasMadeFor() async throws {
        let stores = try ServedStores()
        let hub = try hub(stores)
        let store = try HubStore(
            hub, limits: .init(), logger: Logger(label: "test"), metrics: ServerMetrics())
        let register = try DeviceRegister(hub)
        let address = try ServerAddress(host: "127.0.0.1", port: 1, trust: .loopback)
        let link = try register.invite(label: "phone", address: address)
        let key = DeviceKey().publicKey
        let device = try register.enrol(key: key, secret: link.secret)
        try hub.add("a", (0..<9000).map { _ in UUID().uuidString }.joined())
        let download = try store.prepareChanges(TransferRequest(base: VersionVector()), for: device)
        _ = try store.download(download.download, of: try register.admitted(key: key))
        try register.change("phone", scope: teams)
        #expect(throws: RemoteError.self) {
            try store.download(download.download, of: try register.admitted(key: key))
        }
        // A request that was let in before is not carried out after.
        #expect(throws: SyncError.self) {
            try store.prepareChanges(TransferRequest(base: VersionVector()), for: device)
        }
        try register.revoke("phone")
        #expect(throws: RemoteError.self) {
            try store.prepareChanges(TransferRequest(base: VersionVector()), for: device)
        }
    }

    @Test func downloadsThatNobodyFetchesMakeRoomForThoseOfOthers() throws {
        let stores = try ServedStores()
        let hub = try hub(stores)
        var limits = HubServer.Limits()
        (limits.transferByteCountMax, limits.downloadByteCountMax) = (1 << 20, 1 << 20)
        let store = try HubStore(hub, limits: limits, logger: Logger(label: "test"), metrics: ServerMetrics())
        let register = try DeviceRegister(hub)
        let address = try ServerAddress(host: "127.0.0.1", port: 1, trust: .loopback)
        let devices = try ["phone", "laptop"].map { label in
            let link = try register.invite(label: label, address: address)
            return try register.enrol(key: DeviceKey().publicKey, secret: link.secret)
        }
        // More than half of what may wait of all devices.
        try hub.add("a", (0..<18_000).map { _ in UUID().uuidString }.joined())
        let request = TransferRequest(base: VersionVector())
        let first = try store.prepareChanges(request, for: devices[0])
        _ = try store.download(first.download, of: devices[0])
        let error = #expect(throws: RemoteError.self) {
            try store.prepareChanges(request, for: devices[1])
        }
        #expect(error?.code == .busy)
        stores.clock.advance(milliseconds: 10 * 60_000)
        let second = try store.prepareChanges(request, for: devices[1])
        _ = try store.download(second.download, of: devices[1])
        #expect(throws: RemoteError.self) { try store.download(first.download, of: devices[0]) }
    }

    @Test func whatADeviceChoseItselfIsKeptAsFarAsItCanBe() {
        func rows(_ values: ScopeValue..., tables: [String]? = nil) -> SyncScope {
            SyncScope(tableNames: tables).rows(of: "task", where: "team", in: values)
        }
        func adapted(_ present: SyncScope, _ former: SyncScope, _ allowed: SyncScope) -> SyncScope {
            ScopeAdoption.adapt(present, from: former, to: allowed)
        }
        // Who follows the server goes on following.
        #expect(adapted(rows("a", "b"), rows("a", "b"), rows("b", "c")) == rows("b", "c"))
        #expect(adapted(rows("a"), rows("a"), .everything) == .everything)
        #expect(adapted(.everything, .everything, rows("a")) == rows("a"))
        #expect(adapted(.tables(["Task"]), .tables(["task"]), .tables(["note"])) == .tables(["note"]))
        #expect(adapted(.tables(["größe"]), .tables(["Größe"]), .everything) == .everything)
        // Who chose less keeps that.
        #expect(adapted(rows("a"), rows("a", "b"), rows("a", "b", "c")) == rows("a"))
        #expect(adapted(rows("a"), rows("a", "b"), rows("b")) == rows("b"))
        #expect(adapted(rows("a"), rows("a", "b"), .everything) == rows("a"))
        #expect(adapted(rows("a"), .everything, .tables(["note"])) == .tables(["note"]))
        #expect(
            adapted(.tables(["note"]), .tables(["note", "task"]), .everything) == .tables(["note"]))
        #expect(
            adapted(rows("a", "c", tables: ["task"]), .everything, rows("a", "b", tables: ["task", "note"]))
                == rows("a", tables: ["task"]))
        let owner = SyncScope.rows(of: "task", where: "owner", in: ["me"])
        #expect(adapted(owner, .everything, rows("a")) == rows("a"))
        #expect(adapted(owner, rows("a"), .everything) == owner)
    }
}

extension Synchronizer {
    fileprivate func add(_ team: String, _ text: String) throws {
        try database.write { db in
            var bytes = withUnsafeBytes(of: UUID().uuid) { Array($0) }
            bytes[6] = 0x40 | bytes[6] & 0x0F
            try db.execute(
                sql: "INSERT INTO task (id, team, text) VALUES (?, ?, ?)",
                arguments: [Data(bytes), team, text])
        }
    }

    fileprivate func run(_ sql: String) throws { try database.write { try $0.execute(sql: sql) } }

    fileprivate func tasks() throws -> [String] {
        try database.read {
            try String.fetchAll($0, sql: "SELECT team || ' ' || substr(text, 1, 20) FROM task ORDER BY 1")
        }
    }
}
