import CipherStore
import Foundation
import Hummingbird
import HummingbirdTesting
import SyncEngine
import SyncHTTP
import TestSupport
import Testing

/// The code of `Examples/TeamServer`, all but its command line.
@Suite(.timeLimit(.minutes(10))) struct TeamServerTests {
    private let folder: String
    private let users: Users
    private let team: Team

    init() throws {
        DerivedKeys.remember()
        folder = NSTemporaryDirectory() + "team-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        users = try Users(path: folder + "/users.db", configuration: Self.configuration("battery staple"))
        team = try Team(path: folder + "/team.db", configuration: Self.configuration("correct horse"))
    }

    private static func configuration(_ passphrase: String) -> Configuration {
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { try $0.usePassphrase(passphrase) }
        return configuration
    }

    private static func headers(_ name: String, _ password: String) -> HTTPFields {
        [.authorization: "Basic " + Data("\(name):\(password)".utf8).base64EncodedString()]
    }

    private func add(_ title: String, team name: String) throws {
        try team.synchronizer.writer.write { db in
            let id = UUID().uuidString.lowercased()
            try db.execute(
                sql: "INSERT INTO project VALUES (?, ?, ?)", arguments: [id, name, title])
        }
    }

    private func titles(_ database: some DatabaseReader) throws -> [String] {
        try database.read { try String.fetchAll($0, sql: "SELECT title FROM project ORDER BY title") }
    }

    /// Serves the tasks while a closure runs.
    private func serving(_ body: () async throws -> Void) async throws {
        let server = try HubServer([team.synchronizer], options: .init(host: "127.0.0.1", port: 0))
        let (listening, continuation) = AsyncStream.makeStream(of: ServerAddress.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await server.run { listening in
                    let address = try? ServerAddress(
                        host: "127.0.0.1", port: listening.port, trust: listening.trust)
                    if let address { continuation.yield(address) }
                }
            }
            var addresses = listening.makeAsyncIterator()
            guard let address = await addresses.next() else {
                try await group.next()
                throw Problem("the server has ended")
            }
            try team.devices.noteAddress(address)
            defer { group.cancelAll() }
            try await body()
        }
    }

    /// What blocks its thread gets one of its own.
    private func apart<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }

    private func join(_ link: InviteLink, _ name: String) async throws {
        let path = "\(folder)/\(name)"
        try await apart {
            try Synchronizer.join(link, at: path, passphrase: Passphrase("phone"))
            return
        }
    }

    private struct Answer: Decodable { let link: String }

    private func link(_ client: some TestClientProtocol, _ name: String, _ user: (String, String))
        async throws
        -> InviteLink?
    {
        try await client.execute(
            uri: "/devices", method: .post, headers: Self.headers(user.0, user.1),
            body: ByteBuffer(string: #"{"name":"\#(name)"}"#)
        ) { response in
            #expect(response.status == .ok)
            return InviteLink(try JSONDecoder().decode(Answer.self, from: Data(buffer: response.body)).link)
        }
    }

    @Test func passwordsAreCheckedAndNotKept() async throws {
        try await users.set("anna", team: "red", role: .writer, password: "a long password")
        #expect(try await users.user("anna", password: "a long password")?.team == "red")
        #expect(try await users.user("anna", password: "another password") == nil)
        #expect(try await users.user("boris", password: "a long password") == nil)
        await #expect(throws: Problem.self) {
            try await users.set("anna", team: "red", role: .writer, password: "short")
        }
        for name in ["", "a/b", "a:b", "a b", "a/\u{301}b", "ä", String(repeating: "a", count: 41)] {
            await #expect(throws: Problem.self) {
                try await users.set(name, team: "red", role: .writer, password: "a long password")
            }
        }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/users.db"))
        #expect(
            bytes.range(of: Data("a long password".utf8)) == nil && bytes.range(of: Data("anna".utf8)) == nil)
        #expect(try await users.remove("anna"))
        #expect(try await users.remove("anna") == false)
    }

    @Test func aDeviceGetsTheRowsOfItsTeamOnly() async throws {
        try await users.set("anna", team: "red", role: .writer, password: "a long password")
        try add("Garden", team: "red")
        try add("Secret", team: "blue")
        let portal = Application(router: Portal(users: users, team: team).router())
        let path = folder + "/phone.db"
        try await serving {
            try await portal.test(.router) { client in
                let link = try #require(try await link(client, "phone", ("anna", "a long password")))
                try await join(link, "phone.db")
                let phone = try Synchronizer(
                    existing: DatabaseQueue(path: path, configuration: Self.configuration("phone")))
                let transport = try RemoteBook(phone).transport()
                // A device that gets a part begins without rows.
                _ = try await phone.sync(with: transport)
                #expect(try titles(phone.writer) == ["Garden"])
                try await phone.writer.write { db in
                    try db.execute(sql: "UPDATE project SET title = 'Orchard'")
                }
                _ = try await phone.sync(with: transport)
                #expect(try titles(team.synchronizer.writer) == ["Orchard", "Secret"])
                let list = try await client.execute(
                    uri: "/devices", method: .get, headers: Self.headers("anna", "a long password"))
                let text = String(buffer: list.body)
                #expect(text.contains(#""name":"phone""#) && text.contains(#""isReadOnly":false"#))
                // Of another team, and as a reader: its edits are refused from now on.
                try await users.set("anna", team: "blue", role: .reader, password: "a long password")
                let anna = try #require(try await users.user("anna", password: "a long password"))
                try team.update(anna)
                #expect(try team.devices(of: "anna").map(\.device.isReadOnly) == [true])
                _ = try await phone.sync(with: transport)
                #expect(try titles(phone.writer) == ["Secret"])
                // Revoked by its user.
                let revocation = try await client.execute(
                    uri: "/devices/phone", method: .delete, headers: Self.headers("anna", "a long password"))
                #expect(revocation.status == .noContent)
                await #expect(throws: RemoteError.self) { try await phone.sync(with: transport) }
            }
        }
    }

    /// Names that begin alike, marks that join the slash, and a second device under one name, which is refused.
    @Test func eachUserReachesTheirOwnDevicesAndAllOfThem() async throws {
        for name in ["ann", "anna"] {
            try await users.set(name, team: "red", role: .writer, password: "a long password")
        }
        let portal = Application(router: Portal(users: users, team: team).router())
        try await serving {
            try await portal.test(.router) { client in
                let first = try #require(try await link(client, "phone", ("anna", "a long password")))
                #expect(throws: RemoteError.self) {
                    _ = try team.devices.invite(
                        label: "anna/phone", scope: .tables(["project", "task"]), address: first.address)
                }
                try await join(first, "first.db")
                let marked = try #require(
                    try await link(client, "\u{301}x", ("anna", "a long password")))
                try await join(marked, "marked.db")
                #expect(try team.devices(of: "ann").isEmpty)
                let names = try team.devices(of: "anna").map(\.name)
                #expect(names.sorted() == ["phone", "\u{301}x"].sorted())
                #expect(try team.revoke(of: "ann") == 0)
                try await users.set("anna", team: "blue", role: .reader, password: "a long password")
                try team.update(try #require(try await users.user("anna", password: "a long password")))
                #expect(try team.devices(of: "anna").allSatisfy(\.device.isReadOnly))
                #expect(try team.revoke(of: "anna") == names.count)
                #expect(try team.devices(of: "anna").isEmpty)
            }
        }
    }

    @Test func aLinkOfBeforeLetsNobodyInAfterAChange() async throws {
        try await users.set("anna", team: "red", role: .writer, password: "a long password")
        let portal = Application(router: Portal(users: users, team: team).router())
        try await serving {
            try await portal.test(.router) { client in
                let link = try #require(try await link(client, "phone", ("anna", "a long password")))
                try team.update(try #require(try await users.user("anna", password: "a long password")))
                await #expect(throws: RemoteError.self) {
                    try await join(link, "phone.db")
                }
            }
        }
    }

    @Test func thePortalRefusesWhatItShould() async throws {
        try await users.set("anna", team: "red", role: .writer, password: "a long password")
        let portal = Application(router: Portal(users: users, team: team).router())
        try await serving {
            try await portal.test(.router) { client in
                let good = Self.headers("anna", "a long password")
                let requests: [(String, HTTPRequest.Method, HTTPFields, String, HTTPResponse.Status)] = [
                    ("/devices", .get, [:], "", .unauthorized),
                    ("/devices", .get, Self.headers("anna", "wrong"), "", .unauthorized),
                    ("/devices", .get, [.authorization: "Basic %%%"], "", .unauthorized),
                    ("/devices", .post, good, "{", .badRequest),
                    ("/devices", .post, good, #"{"name":""}"#, .badRequest),
                    ("/devices", .post, good, #"{"name":"a\u0001"}"#, .conflict),
                    ("/devices/none", .delete, good, "", .notFound),
                ]
                for (uri, method, headers, body, expected) in requests {
                    let answer = try await client.execute(
                        uri: uri, method: method, headers: headers, body: ByteBuffer(string: body))
                    #expect(answer.status == expected, "\(method) \(uri) \(body)")
                }
            }
        }
    }
}
