import Foundation
import SyncRelay
import TestSupport
import Testing

@testable import SyncRelayPostgres

/// Connections that end in the midst of each kind of call: what was asked for is done once, whether or not the server had
/// done it when its answer was lost.
@Suite(.needsPostgres, .fewAtATime, .timeLimit(.minutes(5))) struct LostAnswerTests {
    /// Each statement of each kind of call.
    static let statements = [
        "begin", "channel-lock", "commit", "commit-files", "commit-write", "commit-uploads", "commit-finish",
        "commit-remove", "commit-discard", "body-numbers", "registration", "channel-count-lock",
        "channel-insert", "channel", "version", "block", "page", "upload-sum", "upload-insert",
        "upload-append",
        "upload-abandon", "invitation-known", "invitation-insert", "invitation-there", "invitation-take",
        "invitation-remove-taken", "invitation-remove", "keep", "kept", "figures", "tidy-invitations",
        "remove-channel", "remove-file", "clean-take", "clean-blocks", "rollback",
    ]

    private func open(_ database: TestDatabase) throws -> (CuttingProxy, PostgresRelayStorage) {
        let proxy = try CuttingProxy(toServerIn: database.server.folder)
        var options = PostgresRelayStorage.Options()
        options.connectionCountMax = 1
        options.secondsMax = 60
        // The listener's connection is none of these tests.
        options.lookSeconds = 3_600
        let address = try PostgresAddress("postgresql://relay@/\(database.name)?host=\(proxy.folder)")
        return (proxy, try PostgresRelayStorage(address, options: options))
    }

    @Test(arguments: statements, CuttingProxy.Place.allCases)
    func eachCallIsMadeOnce(_ statement: String, _ place: CuttingProxy.Place) async throws {
        let database = try TestDatabase()
        let (proxy, storage) = try open(database)
        proxy.cut(statement, place)
        let channel = TestChannel()
        #expect(try await storage.makeChannel(channel.id, channel.registration))
        #expect(
            try await storage.put("a", Data([1]), in: channel.id, replacing: false)
                == .init(position: 1, isNew: true))
        proxy.cut(statement, place)
        #expect(try await storage.put("a", Data([2]), in: channel.id) == .init(position: 2, isNew: false))
        let content = pattern(600_000)
        #expect(try await storage.upload("large", content, to: channel.id) == .init(position: 3, isNew: true))
        proxy.cut(statement, place)
        #expect(try await storage.upload("large", content, to: channel.id).position == 4)
        #expect(try await storage.content("large", in: channel.id) == content)
        await expectProblem(.exists) {
            try await storage.put("a", Data([3]), in: channel.id, replacing: false)
        }
        await expectProblem(.exists) {
            try await storage.begin("a", content, to: channel.id, replacing: false)
        }
        let given = try await storage.begin("given-up", content, to: channel.id)
        await storage.abandon(given)
        #expect(try await storage.remove("large", in: channel.id) == 5)
        #expect(try await storage.remove("large", in: channel.id) == 5)
        try await invite(storage, channel)
        #expect(try await storage.keep(Data([1]), as: "value") == Data([1]))
        #expect(try await storage.kept("value") == Data([1]))
        try await storage.tidy()
        let listing = try await storage.listing(channel.id)
        #expect(listing.files.keys.map(\.name) == ["a"] && listing.last.position == 5)
        #expect(try await storage.state(of: channel.id).byteCount == 1)
        #expect(try await storage.figures().fileCount == 1)
        try await storage.removeChannel(channel.id)
        await expectProblem(.unauthorized) { try await storage.state(of: channel.id) }
        while !storage.cleaner.isIdle { await Task.yield() }
        #expect(proxy.cutCount > 0, "the statement was never run")
        storage.close()
    }

    private func invite(_ storage: PostgresRelayStorage, _ channel: TestChannel) async throws {
        let (first, second) = (RelayInvitationID.random(), RelayInvitationID.random())
        try await storage.leave(.init(sealed: Data([1]), seconds: 60), as: first, in: channel.id)
        try await storage.leave(.init(sealed: Data([2]), seconds: 60), as: second, in: channel.id)
        #expect(try await storage.takeInvitation(first).sealed == Data([1]))
        await expectProblem(.missing) { try await storage.takeInvitation(first) }
        try await storage.removeInvitation(second, of: channel.id)
        await expectProblem(.missing) { try await storage.takeInvitation(second) }
    }

    @Test(arguments: CuttingProxy.Place.allCases)
    func aGroupWhoseCommitWasLostIsMadeOnceAlthoughOthersWroteMeanwhile(_ place: CuttingProxy.Place)
        async throws
    {
        let database = try TestDatabase()
        let (proxy, storage) = try open(database)
        let other = try database.open()
        let channel = try await TestChannel(in: storage)
        let positions = try await withThrowingTaskGroup(of: RelayPosition.self) { group in
            for number in 0..<60 {
                let node = number % 2 == 0 ? storage : other
                group.addTask {
                    if number % 10 == 0 { proxy.cut("commit", place) }
                    return try await node.put("f\(number)", pattern(100), in: channel.id).position
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(positions.sorted() == Array(1...60) && proxy.cutCount > 0)
        #expect(try await other.state(of: channel.id).fileCount == 60)
    }

    @Test func ticketsTellWhetherACommitTookEffect() {
        func ticket(_ number: UInt8) -> Data { Data(repeating: number, count: 8) }
        let none = CommitTickets(Data())
        let one = none.adding(ticket(1))
        #expect(one.tells(ticket(1), after: none) == true && none.tells(ticket(1), after: none) == false)
        // Others came after, with and without it.
        #expect(one.adding(ticket(2)).tells(ticket(1), after: none) == true)
        #expect(one.adding(ticket(3)).tells(ticket(2), after: one) == false)
        var many = one
        for number in 10..<25 { many = many.adding(ticket(UInt8(number))) }
        #expect(many.bytes.count == 128 && many.tells(ticket(1), after: none) == true)
        #expect(many.tells(ticket(2), after: one) == false)
        // Too many: nobody can say.
        many = many.adding(ticket(25))
        #expect(many.tells(ticket(2), after: one) == nil && many.tells(ticket(1), after: none) == nil)
    }
}
