import CipherStore
import Foundation
import Testing

@testable import SyncEngine
@testable import SyncHTTP

/// What the server's page is told.
@Suite(.serialized) struct ConsoleDataTests {
    private static let hostile = #"<img src=x onerror=alert(1)>"</script>\u2028"#

    private static func items(_ document: [String: Any], _ path: String...) throws -> [[String: Any]] {
        var value: Any? = document
        for name in path { value = (value as? [String: Any])?[name] }
        return try #require(value as? [[String: Any]])
    }

    private static func lag(_ device: [String: Any]) -> Int? {
        (device["lag"] as? [String: Any])?["changes"] as? Int
    }

    @Test func thePageIsWhatItsFilesAre() async throws {
        let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
            url.deletingLastPathComponent()
        }
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            try await server.browsing { browser in
                for (path, name, type) in [
                    ("/", "index.html", "text/html"), ("/console", "index.html", "text/html"),
                    ("/console?store=1", "index.html", "text/html"),
                    ("/console/page.css", "page.css", "text/css"),
                    ("/console/page.js", "page.js", "text/javascript"),
                ] {
                    let file = root.appendingPathComponent("Sources/SyncHTTP/Console/Page/\(name)")
                    let text = try String(contentsOf: file, encoding: .utf8)
                    let answer = try await browser.send("GET", path)
                    #expect(answer.status == 200 && answer.text == text, "run Scripts/embed-console")
                    #expect(answer.headers["content-type"] == "\(type); charset=utf-8")
                }
                for path in ["/console/", "/console/page", "/console/stores", "/console/sessions/x", "/x"] {
                    #expect(try await browser.send("GET", path).status == 404, "\(path)")
                }
                #expect(try await browser.send("PUT", "/console").status == 404)
            }
        }
    }

    @Test func everyAnswerToABrowserIsProtected() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            try await server.browsing { browser in
                let refused = try await browser.send("GET", "/console/stores/x/data")
                #expect(refused.headers["content-type"] == "application/problem+json")
                let opened = try await browser.open(server.link().secret)
                let answers = [
                    refused, opened, try await browser.send("GET", "/"), try await browser.data(),
                    try await browser.send("GET", "/console/page.js"),
                    try await browser.send("GET", "/console/none"),
                ]
                for answer in answers {
                    let policy = answer.headers["content-security-policy"] ?? ""
                    for part in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"] {
                        #expect(policy.contains(part))
                    }
                    #expect(!policy.contains("unsafe"))
                    #expect(answer.headers["x-content-type-options"] == "nosniff")
                    #expect(answer.headers["referrer-policy"] == "no-referrer")
                    #expect(answer.headers["cache-control"] == "no-store")
                }
            }
        }
    }

    @Test func thePageIsToldOfDevicesAndHowFarTheyAreBehind() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 5)
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let phone = try await stores.join(try server.invite(Self.hostile), "phone.db")
            _ = try await stores.join(try server.invite("lost", isReadOnly: true), "lost.db")
            try server.register.revoke("lost")
            let transport = try RemoteBook(phone).transport(options: .hasty)
            _ = try await phone.sync(with: transport)
            try await server.browsing { browser in
                try await browser.open(server.link().secret)
                var data = try await browser.data().document()
                var devices = try Self.items(data, "devices")
                #expect(devices.map { $0["label"] as? String } == ["lost", Self.hostile])
                #expect(devices.map(Self.lag) == [nil, 0])
                #expect(devices[0]["revoked"] is Int && devices[0]["readOnly"] as? Bool == true)
                #expect(devices[1]["synced"] is Int && devices[1]["revoked"] == nil)
                #expect(try Self.items(data, "store", "tables").map { $0["rows"] as? Int } == [5])
                // Before and after the changes have versions.
                let made = stores.clock.environment.milliseconds()
                try hub.insert(3, "new")
                stores.clock.advance(milliseconds: 90_000)
                for _ in 0..<2 {
                    data = try await browser.data().document()
                    devices = try Self.items(data, "devices")
                    #expect(Self.lag(devices[1]) == 3)
                    let oldest = try #require((devices[1]["lag"] as? [String: Any])?["oldest"] as? Int64)
                    // The triggers have a clock of their own.
                    #expect(oldest == made || oldest >= 1_700_000_090_000)
                    _ = try hub.foldedReach()
                }
                _ = try await phone.sync(with: transport)
                devices = try Self.items(try await browser.data().document(), "devices")
                #expect(Self.lag(devices[1]) == 0)
                // What the device wrote itself it is not behind of.
                try phone.insert(2, "of the phone")
                _ = try await phone.sync(with: transport)
                data = try await browser.data().document()
                #expect(Self.lag(try Self.items(data, "devices")[1]) == 0)
            }
        }
    }

    @Test func aDeviceWithSomeTablesIsBehindInTheseOnly() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 5)
        try await hub.writer.write { try $0.execute(sql: "CREATE TABLE other (id BLOB PRIMARY KEY)") }
        try hub.track(["other"])
        let other = { @Sendable (count: Int) async throws in
            try await hub.writer.write { db in
                for _ in 0..<count { try db.execute(sql: "INSERT INTO other VALUES (randomblob(16))") }
            }
        }
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let till = try await stores.join(try server.invite("till", tables: ["note"]), "till.db")
            let transport = try RemoteBook(till).transport(options: .hasty)
            try await server.browsing { browser in
                try await browser.open(server.link().secret)
                let lag = { () async throws -> Int? in
                    // Before and after the changes have versions.
                    let first = Self.lag(try Self.items(try await browser.data().document(), "devices")[0])
                    _ = try hub.foldedReach()
                    let device = try Self.items(try await browser.data().document(), "devices")[0]
                    #expect((device["lag"] as? [String: Any])?["atMost"] as? Bool == false)
                    #expect(Self.lag(device) == first)
                    return first
                }
                _ = try await till.sync(with: transport)
                #expect(try await lag() == 0)
                try await other(7)
                #expect(try await lag() == 0)
                try hub.insert(2, "new")
                #expect(try await lag() == 2)
                _ = try await till.sync(with: transport)
                #expect(try await lag() == 0)
            }
        }
    }

    @Test func conflictsAndRowsThatWaitAreShownAsText() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 1)
        try await hub.writer.write { try $0.execute(sql: "CREATE UNIQUE INDEX note_title ON note (title)") }
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let phone = try await stores.join(try server.invite(), "phone.db")
            let long = Self.hostile + String(repeating: "z", count: 500)
            try await hub.database.write { db in
                try db.execute(sql: "UPDATE note SET title = ?", arguments: [long])
            }
            stores.clock.advance(milliseconds: 1000)
            try await phone.database.write { try $0.execute(sql: "UPDATE note SET title = 'later'") }
            try hub.insert(1, "same")
            try phone.insert(1, "same")
            // Who receives a value that loses keeps it.
            _ = try await phone.push(to: RemoteBook(phone).transport(options: .hasty))
            try await server.browsing { browser in
                try await browser.open(server.link().secret)
                let answer = try await browser.data()
                #expect(!answer.text.contains("\u{2028}"))
                let data = try answer.document()
                let conflicts = try Self.items(data, "conflicts", "items")
                let parked = try Self.items(data, "parked", "items")
                #expect((data["conflicts"] as? [String: Any])?["open"] as? Int == conflicts.count)
                let lost = try #require(conflicts.first)
                let text = try #require(lost["lost"] as? String)
                #expect(text.hasPrefix(Self.hostile) || text == "later")
                #expect(text.count <= 121)
                #expect([lost["writer"] as? String, lost["winner"] as? String].contains("phone"))
                #expect(lost["column"] as? String == "title" && lost["table"] as? String == "note")
                #expect(parked.map { $0["reason"] as? String } == ["unique"])
                #expect((data["parked"] as? [String: Any])?["count"] as? Int == 1)
            }
        }
    }

    @Test func aStreamTellsOfCommitsAndEndsWithTheServer() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 2)
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let phone = try await stores.join(try server.invite(), "phone.db")
            try await server.browsing { browser in
                try await browser.open(server.link().secret)
                var rows: [Int] = []
                var names: Set<String> = []
                try await browser.follow { event in
                    names.insert(event.name)
                    guard event.name == "state" else { return false }
                    let tables = try Self.items(try event.document(), "store", "tables")
                    let count = try #require(tables.first?["rows"] as? Int)
                    rows.append(count)
                    if rows.count == 1 {
                        try phone.insert(3, "phone")
                        _ = try await phone.sync(with: RemoteBook(phone).transport(options: .hasty))
                    }
                    return count == 5
                }
                #expect(rows.first == 2 && rows.last == 5)
                #expect(names == ["state", "traffic"])
                let traffic = try #require(
                    JSONSerialization.jsonObject(
                        with: Data(try JSONDocument.encode(TrafficSeries().series))) as? [[String: Any]])
                #expect(traffic.map { $0["step"] as? Int } == [1000, 60_000])
            }
        }
        // A page that is open does not keep a server from ending.
        let start = ContinuousClock.now
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            try await server.browsing { browser in
                try await browser.open(server.link().secret)
                try await browser.follow { _ in true }
            }
        }
        #expect(ContinuousClock.now - start < .seconds(10))
    }

    @Test func streamsAreBoundedInNumber() async throws {
        let stores = try ServedStores()
        let hub = try HubStore(
            try stores.create("hub.db"), limits: .init(), logger: .init(label: "test"), metrics: .init())
        let feed = ConsoleFeed(hub, try ConsoleRegister(hub.synchronizer), logger: .init(label: "test"))
        let streams = try (0..<ConsoleFeed.streamCountMax).map { _ in try feed.open() }
        let error = #expect(throws: RemoteError.self) { _ = try feed.open() }
        #expect(error?.code == .busy)
        feed.close(streams[0].number)
        #expect(feed.streamCount == ConsoleFeed.streamCountMax - 1)
        _ = try feed.open()
        feed.endAll()
        #expect(feed.streamCount == 0)
        for await _ in streams[1].signals {}
        #expect(throws: RemoteError.self) { _ = try feed.open() }
    }

    @Test func trafficIsCountedInTheStepThatItBelongsTo() throws {
        let traffic = TrafficSeries()
        traffic.count(requests: 1, received: 10)
        traffic.count(sent: 300)
        traffic.count(sent: -5)
        let series = traffic.series
        #expect(series.map(\.step) == [1000, 60_000])
        for one in series {
            #expect(one.sent.count == TrafficSeries.pointCount)
            #expect(one.requests.reduce(0, +) == 1 && one.received.reduce(0, +) == 10)
            #expect(one.sent.reduce(0, +) == 300)
        }
        #expect(series[1].sent.last == 300)
    }

    @Test func trafficMovesOnWithTime() {
        var ring = TrafficSeries.Ring(seconds: 60)
        ring.advance(to: 59)
        ring.points[TrafficSeries.pointCount - 1].sent = 1
        ring.advance(to: 60)
        ring.points[TrafficSeries.pointCount - 1].sent = 2
        ring.advance(to: 59)
        ring.advance(to: 185)
        #expect(Array(ring.series.sent.suffix(5)) == [0, 1, 2, 0, 0])
        ring.advance(to: .max)
        #expect(ring.series.sent == Array(repeating: 0, count: TrafficSeries.pointCount))
    }

    @Test func longValuesAreShortened() {
        #expect(ShortValue.text(.null) == "NULL")
        #expect(ShortValue.text("ab".databaseValue) == "ab")
        #expect(ShortValue.text(String(repeating: "é", count: 200).databaseValue).count == 121)
        #expect(ShortValue.text(Data([1, 255]).databaseValue) == "x'01ff'")
        let blob = ShortValue.text(Data(repeating: 1, count: 1000).databaseValue)
        #expect(blob.hasSuffix("01…' (1000 bytes)") && blob.count < 80)
        #expect(ShortValue.text((-1.5).databaseValue) == "-1.5")
    }
}
