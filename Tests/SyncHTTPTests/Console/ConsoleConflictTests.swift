import CipherStore
import Foundation
import TestSupport
import Testing

@testable import SyncEngine
@testable import SyncHTTP

/// Conflicts on the server's page: both values, what happened to the row, and what a person chooses.
@Suite(.timeLimit(.minutes(10))) struct ConsoleConflictTests {
    private static func path(_ browser: Browser, _ id: Any) -> String {
        "/console/stores/\(browser.store)/conflicts/\(id)"
    }

    /// Serves a store in which a value of the hub lost against one of the phone, to a browser with a session.
    private func withConflict(
        lost: String = "of the hub", _ body: @Sendable (RunningServer, Browser, Int64) async throws -> Void
    ) async throws {
        let stores = try ServedStores()
        let hub = try stores.create("hub.db", rows: 1)
        try await RunningServer.serving(hub, tls: .plaintextOnLoopback) { server in
            let phone = try await stores.join(try server.invite("Anna's phone"), "phone.db")
            let transport = try RemoteBook(phone).transport(options: .hasty)
            _ = try await phone.sync(with: transport)
            try await hub.writer.write { db in
                try db.execute(sql: "UPDATE note SET title = ?", arguments: [lost])
            }
            _ = try hub.foldedReach()
            stores.clock.advance(milliseconds: 5000)
            // The triggers have a clock of their own.
            try await phone.writer.write { try $0.execute(sql: "UPDATE note SET title = 'of the phone'") }
            // Who receives a value keeps the one that loses against it.
            _ = try await phone.push(to: transport)
            let conflict = try #require(try hub.conflicts().first)
            try await server.browsing { browser in
                try await browser.open(server.link().secret)
                try await body(server, browser, conflict.id)
            }
        }
    }

    private func title(_ server: RunningServer) throws -> String? {
        try server.hub.writer.read { try String.fetchOne($0, sql: "SELECT title FROM note") }
    }

    @Test func bothValuesAndTheHistoryOfTheRowAreShown() async throws {
        try await withConflict { _, browser, id in
            let answer = try await browser.send("GET", Self.path(browser, id))
            #expect(answer.status == 200 && answer.headers["cache-control"] == "no-store")
            let document = try answer.document()
            #expect(document["table"] as? String == "note" && document["column"] as? String == "title")
            #expect(document["lost"] as? String == "of the hub")
            #expect(document["current"] as? String == "of the phone")
            #expect(document["open"] as? Bool == true && document["rowExists"] as? Bool == true)
            #expect((document["writer"] as? [String: Any])?["name"] as? String == "this store")
            #expect((document["winner"] as? [String: Any])?["name"] as? String == "Anna's phone")
            let history = try #require(document["history"] as? [[String: Any]])
            #expect(
                history.contains {
                    $0["by"] as? String == "Anna's phone" && $0["operation"] as? String == "update"
                })
            #expect(history.contains { $0["operation"] as? String == "insert" })
            #expect(history.allSatisfy { $0["at"] is Int })
        }
    }

    @Test func theLostValueIsRestoredOnce() async throws {
        try await withConflict { server, browser, id in
            let answer = try await browser.send(
                "POST", Self.path(browser, id), ["sec-fetch-site": "same-origin"],
                body: #"{"choice":"restore"}"#)
            #expect(answer.status == 200)
            let document = try answer.document()
            #expect(document["resolved"] as? Int == 1 && document["restoredValues"] as? Int == 1)
            #expect(try title(server) == "of the hub")
            let shown = try await browser.send("GET", Self.path(browser, id)).document()
            #expect(shown["open"] as? Bool == false)
            let data = try await browser.data().document()
            #expect((data["conflicts"] as? [String: Any])?["open"] as? Int == 0)
            let again = try await browser.send("POST", Self.path(browser, id), body: #"{"choice":"keep"}"#)
            #expect(again.status == 409 && again.problem?.detail.contains("was resolved before") == true)
            #expect(try title(server) == "of the hub")
        }
    }

    @Test func aValueThatNobodySawIsNotWrittenOver() async throws {
        try await withConflict { server, browser, id in
            let state = try #require(
                try await browser.send("GET", Self.path(browser, id)).document()["state"] as? String)
            try await server.hub.writer.write { try $0.execute(sql: "UPDATE note SET title = 'later'") }
            let choice = #"{"choice":"restore","state":"\#(state)"}"#
            let answer = try await browser.send("POST", Self.path(browser, id), body: choice)
            #expect(answer.status == 409 && answer.problem?.detail.contains("look at it again") == true)
            #expect(try title(server) == "later")
            let now = try #require(
                try await browser.send("GET", Self.path(browser, id)).document()["state"] as? String)
            let again = #"{"choice":"restore","state":"\#(now)"}"#
            #expect(try await browser.send("POST", Self.path(browser, id), body: again).status == 200)
            #expect(try title(server) == "of the hub")
        }
    }

    @Test func whatIsThereCanBeKept() async throws {
        try await withConflict { server, browser, id in
            let answer = try await browser.send("POST", Self.path(browser, id), body: #"{"choice":"keep"}"#)
            let document = try answer.document()
            #expect(answer.status == 200 && document["restoredValues"] as? Int == 0)
            #expect(try title(server) == "of the phone")
            #expect(try server.hub.conflictCount() == 0)
        }
    }

    @Test func nobodyElseCanSeeOrChooseAnything() async throws {
        try await withConflict { server, browser, id in
            let path = Self.path(browser, id)
            let choice = #"{"choice":"restore"}"#
            // Another site's page, words that are no choice, and numbers that are none.
            #expect(
                try await browser.send("POST", path, ["sec-fetch-site": "cross-site"], body: choice).status
                    == 400)
            #expect(
                try await browser.send("POST", path, ["origin": "https://elsewhere.example"], body: choice)
                    .status == 400)
            for body in [
                "", "{", #"{"choice":"both"}"#, #"{"choice":1}"#, String(repeating: "x", count: 5000),
            ] {
                #expect((400..<500).contains(try await browser.send("POST", path, body: body).status))
            }
            for number in ["0", "-1", "99", "01", "1e3", "9223372036854775808", "x"] {
                #expect(try await browser.send("GET", Self.path(browser, number)).status == 404)
                #expect(
                    (400..<500).contains(
                        try await browser.send("POST", Self.path(browser, number), body: choice).status))
            }
            let stranger = try Browser(server)
            #expect(try await stranger.send("GET", path).status == 401)
            #expect(try await stranger.send("POST", path, body: choice).status == 401)
            try await stranger.close()
            _ = try ConsoleRegister(server.hub).revoke()
            #expect(try await browser.send("GET", path).status == 401)
            #expect(try await browser.send("POST", path, body: choice).status == 401)
            #expect(try title(server) == "of the phone")
            #expect(try server.hub.conflictCount() == 1)
        }
    }

    /// A letter with any number of marks is one character.
    @Test func aLetterWithManyMarksIsShortened() async throws {
        try await withConflict(lost: "a" + String(repeating: "\u{301}", count: 300_000)) { _, browser, id in
            let answer = try await browser.send("GET", Self.path(browser, id))
            #expect(answer.body.count < 60_000)
            let data = try await browser.data()
            #expect(data.body.count < 10_000)
        }
    }

    @Test func aLongValueIsShortened() async throws {
        try await withConflict(lost: String(repeating: "é", count: 300_000)) { _, browser, id in
            let answer = try await browser.send("GET", Self.path(browser, id))
            #expect(answer.body.count < 60_000)
            #expect((try answer.document()["lost"] as? String)?.count == 20_001)
        }
    }
}
