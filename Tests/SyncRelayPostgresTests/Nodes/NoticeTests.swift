import Foundation
import SyncRelay
import TestSupport
import Testing

@testable import SyncRelayPostgres

/// What anybody can send to relays through the database, and what gets lost on the way.
@Suite(.needsPostgres, .fewAtATime, .timeLimit(.minutes(5))) struct NoticeTests {
    let database: TestDatabase

    init() throws { database = try TestDatabase() }

    @Test func noticesAreReadAsTheyWereWritten() {
        let channel = RelayChannelID.random()
        for position: RelayPosition? in [0, 1, .max, nil] {
            let notice = ChangeNotice(channel, position)
            #expect(ChangeNotice(notice.text) == notice)
        }
    }

    @Test(arguments: [
        "", " ", "x", "00000000000000000000000000000000", "00000000000000000000000000000000 ",
        "00000000000000000000000000000000 -1", "00000000000000000000000000000000 9223372036854775808",
        "00000000000000000000000000000000 1 2", "0000000000000000000000000000000G 1",
        "00000000000000000000000000000000 GONE", "00000000000000000000000000000000\u{0} 1",
        "００００００００００００００００ 1",
    ])
    func whatIsNoNoticeIsNone(_ text: String) { #expect(ChangeNotice(text) == nil) }

    @Test func foreignNotificationsTellNothingThatIsNotSo() async throws {
        let storage = try database.open { $0.lookSeconds = 3_600 }
        let channel = try await TestChannel(in: storage)
        try await storage.put("a", Data([1]), in: channel.id)
        let told = ToldMoments(storage, channel.id)
        while !storage.listener.isListening { await Task.yield() }
        var sql = ""
        for payload in [
            "", "nonsense", String(repeating: "x", count: 7_900), "\(channel.id) 9223372036854775807",
            "\(channel.id) 0", "\(channel.id) gone", "\(RelayChannelID.random()) 7", "\(channel.id) 1; DROP",
        ] {
            sql += "SELECT pg_notify('cipherstore_relay', '\(payload)');"
        }
        try database.run(sql)
        // The channel is looked at, and is as it was: position 1, and there.
        let epoch = try await storage.state(of: channel.id).epoch
        #expect(await told.wait { _ in true } == RelayMoment(epoch: epoch, position: 1))
        try await storage.put("b", Data([1]), in: channel.id)
        #expect(await told.wait { _ in true } == RelayMoment(epoch: epoch, position: 2))
    }

    @Test func aChangeThatNobodyToldOfIsFoundByLooking() async throws {
        let storage = try database.open { $0.lookSeconds = 0.05 }
        let channel = try await TestChannel(in: storage)
        let told = ToldMoments(storage, channel.id)
        // As by a relay that was killed between its commit and its notice.
        try database.run("UPDATE cipherstore_relay.channel SET position = 7")
        #expect(await told.wait { $0.position == 7 } != nil)
        try database.run("DELETE FROM cipherstore_relay.channel")
        #expect(await told.waitForRemoval())
    }

    @Test func afterTheListeningConnectionWasLostAllIsLookedAt() async throws {
        let one = try database.open { $0.lookSeconds = 3_600 }
        let two = try database.open { $0.lookSeconds = 3_600 }
        let channel = try await TestChannel(in: one)
        let told = ToldMoments(two, channel.id)
        while !two.listener.isListening || two.listener.lookCount == 0 { await Task.yield() }
        for number in 1...3 {
            try database.run(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                """)
            try await one.put("f\(number)", Data([1]), in: channel.id)
            #expect(await told.wait { $0.position >= number }?.position == Int64(number))
        }
    }

    @Test func aWatchLooksAtManyChannels() async throws {
        let storage = try database.open { $0.lookSeconds = 3_600 }
        var channels: [TestChannel] = []
        for _ in 0..<30 { channels.append(try await TestChannel(in: storage)) }
        let told = channels.map { ToldMoments(storage, $0.id) }
        try database.run("UPDATE cipherstore_relay.channel SET position = 9")
        try database.run(
            """
            SELECT pg_notify('cipherstore_relay', encode(id, 'hex') || ' 9') FROM cipherstore_relay.channel
            """)
        for one in told { #expect(await one.wait { $0.position == 9 } != nil) }
    }
}
