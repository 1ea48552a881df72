import Foundation
import NIOHTTP1
import SyncHTTP
import Testing

@testable import SyncRelay

@Suite struct RelayPageTests {
    private static let paths = ["/", "/page/page.css", "/page/page.js", "/page/state"]

    private static let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }

    // MARK: The page

    @Test func thePageIsWhatItsFilesAre() async throws {
        let relay = try await RunningRelay()
        for (path, names, type) in [
            ("/", ["SyncRelay/Server/Page/Files/index.html"], "text/html"),
            ("/?a=1", ["SyncRelay/Server/Page/Files/index.html"], "text/html"),
            (
                "/page/page.css", ["SyncHTTP/Console/Page/page.css", "SyncRelay/Server/Page/Files/page.css"],
                "text/css"
            ),
            ("/page/page.js", ["SyncRelay/Server/Page/Files/page.js"], "text/javascript"),
        ] {
            let text = try names.map {
                try String(contentsOf: Self.root.appendingPathComponent("Sources/\($0)"), encoding: .utf8)
            }.joined()
            let answer = try await relay.request(.GET, path)
            #expect(answer.status == 200)
            #expect(String(decoding: answer.body, as: UTF8.self) == text, "run Scripts/embed-console")
            #expect(answer.headers["content-type"] == "\(type); charset=utf-8")
        }
    }

    @Test func nothingOfThePageComesFromElsewhereOrStaysBehind() async throws {
        let relay = try await RunningRelay()
        for path in Self.paths {
            let answer = try await relay.request(.GET, path)
            let policy = (answer.headers["content-security-policy"] ?? "").components(separatedBy: "; ")
            for part in [
                "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
                "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'",
                "require-trusted-types-for 'script'",
            ] { #expect(policy.contains(part), "\(path): \(part)") }
            for (name, value) in [
                ("cache-control", "no-store"), ("x-content-type-options", "nosniff"),
                ("referrer-policy", "no-referrer"), ("cross-origin-opener-policy", "same-origin"),
                ("cross-origin-resource-policy", "same-origin"),
            ] { #expect(answer.headers[name] == value, "\(path): \(name)") }
            #expect(
                answer.headers["set-cookie"] == nil && answer.headers["access-control-allow-origin"] == nil)
        }
        for text in [RelayPage.html, RelayPage.css, RelayPage.script] {
            for word in ["https://", "//cdn", "@import", "innerHTML", "eval(", "style=\"", "onclick="] {
                #expect(!text.contains(word), "\(word)")
            }
        }
    }

    @Test func headHasTheHeadersOfGet() async throws {
        let relay = try await RunningRelay()
        for path in Self.paths.dropLast() {
            let (get, head) = (
                try await relay.request(.GET, path), try await relay.request(.HEAD, path)
            )
            #expect(head.status == 200 && head.body.isEmpty && head.headers == get.headers)
            #expect(head.headers["content-length"] == String(get.body.count))
        }
        #expect(try await relay.request(.HEAD, "/page/state").status == 200)
    }

    // MARK: Who gets it

    @Test func nobodyFindsAnythingWhereThePageIsOff() async throws {
        let relay = try await RunningRelay { $0.showsPage = false }
        let unknown = try await relay.request(.GET, "/none")
        #expect(unknown.status == 404)
        for path in Self.paths + ["/metrics"] {
            #expect(try await relay.request(.GET, path) == unknown, "\(path)")
        }
        #expect(try await relay.request(.GET, "/health").status == 200)
    }

    @Test(arguments: [
        ("host", "relay.example"), ("host", "relay.example:7444"), ("host", "127.0.0.1.example"),
        ("forwarded", "for=192.0.2.1"), ("via", "1.1 proxy"), ("x-forwarded-for", "192.0.2.1"),
        ("X-Forwarded-Proto", "https"), ("x-real-ip", "127.0.0.1"), ("cf-connecting-ip", "192.0.2.1"),
        ("connection", "close"), ("Connection", "Close"),
    ])
    func whoComesFromElsewhereFindsNothing(name: String, value: String) async throws {
        let relay = try await RunningRelay()
        let headers = [(name, value)]
        let unknown = try await relay.request(.GET, "/none", headers: headers)
        #expect(unknown.status == 404 && unknown.problem == .missing)
        for path in Self.paths + ["/metrics"] {
            #expect(try await relay.request(.GET, path, headers: headers) == unknown, "\(path)")
        }
        // Not even in what is counted is it told apart.
        let text = String(decoding: try await relay.request(.GET, "/metrics").body, as: UTF8.self)
        #expect(text.contains(#"requests_total{request="other",status="404"} 6"#))
        #expect(!text.contains(#"request="page""#))
        #expect(!text.contains(#"{request="metrics",status="404"}"#))
    }

    @Test(arguments: ["localhost", "LOCALHOST:1", "127.0.0.1", "127.8.8.8:80", "[::1]", "[::1]:7444"])
    func thisMachineGetsItByAnyNameOfItsOwn(host: String) async throws {
        let relay = try await RunningRelay()
        for path in Self.paths {
            #expect(try await relay.request(.GET, path, headers: [("host", host)]).status == 200)
        }
    }

    @Test func otherMethodsAndPathsFindNothing() async throws {
        let relay = try await RunningRelay()
        let unknown = try await relay.request(.GET, "/none")
        for method in [HTTPMethod.POST, .PUT, .DELETE, .PATCH, .OPTIONS] {
            for path in Self.paths {
                #expect(try await relay.request(method, path) == unknown, "\(method) \(path)")
            }
        }
        for path in ["/page", "/page/", "/page/html", "/page/state/", "/page/page.html", "//", "/page/State"]
        {
            #expect(try await relay.request(.GET, path) == unknown, "\(path)")
        }
    }

    @Test func thePageIsAnsweredWhileClientsAskTooMuchAndHasABoundOfItsOwn() async throws {
        let relay = try await RunningRelay {
            $0.limits.requestBurst = 1
            $0.limits.requestsPerSecond = 0.001
        }
        _ = try await relay.request(.GET, "/health")
        #expect(try await relay.request(.GET, "/health").status == 429)
        for path in Self.paths { #expect(try await relay.request(.GET, path).status == 200) }
        let now = ContinuousClock.now
        let rates = RelayResponder.pageRates { now }
        for _ in 0..<100 { try rates.take("a") }
        #expect(throws: RelayProblem.self) { try rates.take("a") }
    }
}
