import CipherStore
import Foundation
import Logging
import Synchronization
import Testing

@testable import SyncEngine
@testable import SyncHTTP

/// Who sees the server's page, and who does not.
@Suite(.serialized) struct ConsoleSessionTests {
    @Test func aLinkOpensOneSession() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 3)
        try await RunningServer.serving(hub) { server in
            let link = try server.link()
            let url = try server.address.url
            #expect(link.description == "\(url)/console#\(ByteText.base64(link.secret))")
            #expect(link.certificateFingerprint?.split(separator: ":").count == 32)
            try await server.browsing { browser in
                let answer = try await browser.open(link.secret)
                #expect(answer.status == 201)
                let cookie = answer.headers["set-cookie"] ?? ""
                let name = "__Host-cipherstore-\(try hub.identity().store.description.prefix(16))="
                #expect(cookie.hasPrefix(name))
                for flag in ["; Path=/", "; HttpOnly", "; SameSite=Strict", "; Secure"] {
                    #expect(cookie.contains(flag), "\(flag)")
                }
                #expect(try await browser.data().status == 200)
                let again = try await browser.open(link.secret)
                #expect(again.status == 403 && again.problem?.title == "invalidLink")
                #expect(again.headers["set-cookie"] == nil)
                browser.cookies = []
                #expect(try await browser.data().status == 401)
                browser.cookies = [String(name + ByteText.base64(Array(repeating: 7, count: 32)))]
                #expect(try await browser.data().status == 401)
            }
        }
    }

    @Test func ofManyWhoHaveALinkOneGetsIn() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let link = try server.link()
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        let browser = try Browser(server)
                        let status = try await browser.open(link.secret).status
                        try await browser.close()
                        return status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.filter { $0 == 201 }.count == 1)
            #expect(statuses.filter { $0 == 403 }.count == 9)
        }
    }

    @Test func linksExpireAndWrongOnesOpenNothing() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let expired = try server.link(milliseconds: 60_000)
            stores.clock.advance(milliseconds: 60_000)
            let elsewhere = try stores.create("elsewhere.db")
            let other = try ConsoleRegister(elsewhere).makeLink(address: server.address)
            try await server.browsing { browser in
                for secret in [expired.secret, other.secret, Array(repeating: 0, count: 16)] {
                    #expect(try await browser.open(secret).problem?.title == "invalidLink")
                }
                let bodies = [
                    "", "{}", "[]", #"{"secret":7}"#, #"{"secret":"AA"}"#, #"{"secret":"é!"}"#, "\u{0}",
                    #"{"secret":"\#(ByteText.base64(Array(repeating: 0, count: 17)))"}"#,
                ]
                for body in bodies {
                    let answer = try await browser.send("POST", "/console/sessions", body: body)
                    #expect(answer.status == 400, "\(body)")
                }
                let long = String(repeating: "a", count: 5000)
                #expect(try await browser.send("POST", "/console/sessions", body: long).status == 413)
                // What was not expired opens, whatever others tried.
                #expect(try await browser.open(server.link().secret).status == 201)
            }
            for time in [0, 999, 86_400_001] as [Int64] {
                #expect(throws: RemoteError.self) { try server.link(milliseconds: time) }
            }
        }
    }

    @Test func copiesHaveNoLinks() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let link = try server.link()
            let phone = try await stores.join(try server.invite(), "phone.db")
            #expect(try ConsoleRegister(phone).take(link.secret) == nil)
            #expect(try ConsoleRegister(phone).revoke() == 0)
            #expect(try ConsoleRegister(hub).take(link.secret) == 0)
        }
    }

    @Test func linksAreBoundedInNumber() throws {
        let stores = try ServedStores()
        let register = try ConsoleRegister(stores.create("hub.db"))
        let address = try ServerAddress(host: "hub.example", port: 7443, trust: .systemRoots)
        for _ in 0..<ConsoleRegister.openLinkCountMax { _ = try register.makeLink(address: address) }
        let error = #expect(throws: RemoteError.self) { try register.makeLink(address: address) }
        #expect(error?.code == .busy)
        #expect(try register.revoke() == ConsoleRegister.openLinkCountMax)
        #expect(try register.makeLink(address: address).certificateFingerprint == nil)
    }

    @Test func aSessionSeesTheStoreOfItsLinkOnly() async throws {
        let stores = try ServedStores()
        let hubs = [try stores.create("notes.db", rows: 1), try stores.create("photos.db", rows: 2)]
        let server = try HubServer(
            hubs, options: .init(host: "127.0.0.1", port: 0, tls: .plaintextOnLoopback))
        let (ports, continuation) = AsyncStream.makeStream(of: HubServer.Listening.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run { continuation.yield($0) } }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next()).port
            let running = hubs.map { RunningServer(port: port, trust: .loopback, hub: $0) }
            let names = try hubs.map { try $0.identity().store.description }
            try await running[0].browsing { browser in
                try await browser.open(running[0].link().secret)
                #expect(browser.store == names[0])
                #expect(browser.cookies.first?.hasPrefix("cipherstore-") == true)
                #expect(try await browser.data().status == 200)
                #expect(try await browser.data(names[1]).status == 401)
                #expect(try await browser.data(String(repeating: "0", count: 32)).status == 401)
                #expect(try await browser.data("x").status == 401)
                // Its cookie under the name of the other store's.
                browser.cookies = browser.cookies.map {
                    $0.replacing(names[0].prefix(16), with: names[1].prefix(16))
                }
                #expect(try await browser.data(names[1]).status == 401)
                try await browser.open(running[1].link().secret)
                let data = try await browser.data(names[1]).document()
                #expect((data["store"] as? [String: Any])?["name"] as? String == "photos.db")
                let list = try await browser.send("GET", "/console/sessions").document()
                #expect((list["stores"] as? [[String: Any]])?.map { $0["name"] as? String } == ["photos.db"])
            }
            group.cancelAll()
        }
    }

    @Test func aRevocationEndsSessionsStreamsAndLinks() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 1)
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            // Another process revokes.
            let other = try ConsoleRegister(stores.open("hub.db"))
            let unused = try server.link()
            try await server.browsing { browser in
                try await browser.open(server.link().secret)
                var isRevoked = false
                let hasEnded = try await browser.follow { event in
                    if event.name == "state" && !isRevoked {
                        isRevoked = true
                        let linkCount = try other.revoke()
                        #expect(linkCount == 1)
                    }
                    return false
                }
                #expect(hasEnded && isRevoked)
                #expect(try await browser.data().problem?.title == "sessionEnded")
                #expect(try await browser.send("GET", "/console/sessions").text == #"{"stores":[]}"#)
                #expect(try await browser.open(unused.secret).status == 403)
                #expect(try await browser.open(server.link().secret).status == 201)
                #expect(try await browser.data().status == 200)
            }
        }
    }

    @Test func sessionsEndWithoutUseAndAfterHalfADay() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            try await server.browsing { browser in
                try await browser.open(server.link().secret)
                for _ in 0..<12 {
                    stores.clock.advance(milliseconds: 3_599_000)
                    #expect(try await browser.data().status == 200)
                }
                stores.clock.advance(milliseconds: 12_000)
                #expect(try await browser.data().status == 401)
                browser.cookies = []
                try await browser.open(server.link().secret)
                stores.clock.advance(milliseconds: 3_600_000)
                #expect(try await browser.data().status == 401)
            }
        }
    }

    @Test func whoEndsTheSessionIsOut() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            try await server.browsing { browser in
                try await browser.open(server.link().secret)
                let path = "/console/stores/\(browser.store)/session"
                let foreign = try await browser.send("DELETE", path, ["sec-fetch-site": "cross-site"])
                #expect(foreign.status == 400)
                #expect(try await browser.data().status == 200)
                let answer = try await browser.send("DELETE", path)
                #expect(answer.status == 204)
                #expect(answer.headers["set-cookie"]?.contains("Max-Age=0") == true)
                #expect(try await browser.data().status == 401)
            }
        }
    }

    @Test func requestsOfOtherSitesAreRefusedAndUseNothingUp() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let link = try server.link()
            try await server.browsing { browser in
                for headers in [
                    ["origin": "https://evil.example"], ["origin": "null"],
                    ["origin": "http://127.0.0.1:1"], ["sec-fetch-site": "cross-site"],
                    ["sec-fetch-site": "same-site"], ["sec-fetch-site": "none"],
                ] {
                    #expect(try await browser.open(link.secret, headers).status == 400, "\(headers)")
                }
                let own = ["origin": try server.address.url, "sec-fetch-site": "same-origin"]
                #expect(try await browser.open(link.secret, own).status == 201)
            }
        }
    }

    @Test func whoTriesManyLinksIsSlowedDown() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db")
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            try await server.browsing { browser in
                var statuses: Set<Int> = []
                for _ in 0..<2000 where !statuses.contains(503) {
                    statuses.insert(
                        try await browser.send("POST", "/console/sessions", body: "{}").status)
                }
                #expect(statuses == [400, 503])
                // Devices are let in all the same.
                #expect(try await browser.send("POST", "/v1/challenges").status == 201)
            }
        }
    }

    @Test func nothingSecretIsLogged() async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 1)
        let log = LogLines()
        let server = try HubServer(
            [hub], options: .init(host: "127.0.0.1", port: 0, tls: .plaintextOnLoopback),
            logger: Logger(label: "test") { _ in log })
        let (ports, continuation) = AsyncStream.makeStream(of: HubServer.Listening.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run { continuation.yield($0) } }
            var iterator = ports.makeAsyncIterator()
            let running = RunningServer(
                port: try #require(await iterator.next()).port, trust: .loopback, hub: hub)
            try await running.browsing { browser in
                let link = try running.link()
                try await browser.open(link.secret)
                _ = try await browser.data()
                try await browser.follow { $0.name == "state" }
                #expect(try await browser.open(link.secret).status == 403)
                let token = try #require(browser.cookies.first?.split(separator: "=").last)
                browser.cookies = []
                #expect(try await browser.data().status == 401)
                let text = log.lines.withLock { $0.joined(separator: "\n") }
                #expect(text.contains("somebody opened the page") && text.contains("invalidLink"))
                for secret in [
                    ByteText.base64(link.secret), ByteText.hex(link.secret), String(token), "from hub.db",
                ] {
                    #expect(!text.contains(secret), "\(secret)")
                }
            }
            group.cancelAll()
        }
    }
}
