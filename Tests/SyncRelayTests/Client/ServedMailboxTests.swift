import CipherStore
import Foundation
import SyncEngine
import SyncTesting
import Testing

@testable import SyncRelay

/// The client against the relay itself, over HTTPS on loopback.
@Suite struct ServedMailboxTests {
    private let channel = RelayChannel.random()
    private let path = MailboxPath(folder: String(repeating: "0a", count: 16), name: "head")

    private func mailbox(_ relay: LoopbackRelay) throws -> RelayMailbox {
        let client = relay.client()
        try client.make(channel)
        return RelayMailbox(channel, client: client)
    }

    @Test func aServedChannelKeepsTheContractOfMailboxes() async throws {
        let relay = try await LoopbackRelay()
        for clause in MailboxContract.Clause.allCases {
            try await blocking {
                let client = relay.client()
                let channel = RelayChannel.random()
                try client.make(channel)
                try MailboxContract.check(clause, of: RelayMailbox(channel, client: client))
            }
        }
    }

    @Test func whatIsRemovedMakesRoomForWhatComesWithIt() async throws {
        var storage = SQLiteRelayStorage.Options()
        storage.channelByteCountMax = 1_000
        let relay = try await LoopbackRelay(storage: storage)
        try await blocking { [self] in
            let (writer, reader) = try (mailbox(relay), mailbox(relay))
            let bundles = (1...3).map { MailboxPath(folder: path.folder, name: "\($0).bundle") }
            try writer.write(bundles[0], replacing: false) { try $0(Data(count: 900)) }
            _ = try writer.folders()
            let batch = writer.batch()
            try batch.write(bundles[1], replacing: false) { try $0(Data(count: 500)) }
            try batch.write(path, replacing: true) { try $0(Data(count: 400)) }
            // Nothing changes by the removal of a file that is not there.
            try batch.remove([bundles[0], bundles[2]])
            try batch.commit()
            _ = try reader.folders()
            #expect(writer.known == reader.known && writer.known?.position == 4)
            for file in [bundles[1], path] {
                let position = try #require(writer.state.directory?[file]?.position)
                #expect(position == reader.state.directory?[file]?.position)
            }
        }
    }

    @Test func onlyWhoHasTheKeyUsesAChannel() async throws {
        let relay = try await LoopbackRelay()
        try await blocking { [self] in
            _ = try mailbox(relay)
            let client = relay.client()
            #expect(try client.state(of: channel).position == 0)
            for stranger in [RelayChannel(id: channel.id, key: RelayChannelKey()), .random()] {
                let error = #expect(throws: RelayError.self) { try client.state(of: stranger) }
                #expect(error?.code == .unauthorized)
                #expect(throws: RelayError.self) { try client.invite(to: stranger, seconds: 60) }
            }
            let error = #expect(throws: RelayError.self) {
                try client.make(RelayChannel(id: channel.id, key: RelayChannelKey()))
            }
            #expect(error?.code == .conflict)
            try client.make(channel)
            try client.delete(channel)
            #expect(throws: RelayError.self) { try client.state(of: channel) }
        }
    }

    @Test func channelsAreMadeByThoseWhoAreAdmitted() async throws {
        let token = RelayToken.random()
        let relay = try await LoopbackRelay(.init(port: 0, admission: token))
        try await blocking { [self] in
            for wrong in [nil, RelayToken.random()] {
                let error = #expect(throws: RelayError.self) {
                    try relay.client().make(channel, admission: wrong)
                }
                #expect(error?.code == .unauthorized && error?.message.contains("admission") == true)
            }
            try relay.client().make(channel, admission: token)
        }
    }

    @Test func aLinkIsUsedOnce() async throws {
        let relay = try await LoopbackRelay()
        try await blocking { [self] in
            _ = try mailbox(relay)
            let link = try relay.client().invite(to: channel, seconds: 60)
            let read = try #require(RelayLink(link.description))
            #expect(read.address == relay.address)
            #expect(try RelayClient(read.address).take(read) == channel)
            let error = #expect(throws: RelayError.self) { try RelayClient(read.address).take(read) }
            #expect(error?.code == .noSuchInvitation)
            try relay.client().leave(link, to: channel, seconds: 60)
            #expect(try RelayClient(read.address).take(read) == channel)
        }
    }

    @Test func anotherCertificateIsRefused() async throws {
        let relay = try await LoopbackRelay()
        let address = try relay.address.pinning([UInt8](repeating: 1, count: 32))
        let roots = try relay.address.pinning(nil)
        try await blocking { [self] in
            for address in [address, roots] {
                let client = RelayClient(address)
                let error = #expect(throws: RelayError.self) { try client.make(channel) }
                #expect(error?.code == .wrongCertificate && client.requestCounts.total == 1)
            }
            #expect(relay.address.shownFingerprint() == relay.address.fingerprint)
        }
    }

    @Test func whoeverShowsNoCertificateIsNotTakenForAnother() async throws {
        let server = try await ClosingServer()
        try await blocking { [self] in
            var options = RelayClient.Options()
            options.attemptCountMax = 1
            let client = RelayClient(server.address, options: options)
            let error = #expect(throws: RelayError.self) { try client.make(channel) }
            #expect(error?.code == .unreachable && error?.message.contains("certificate") == true)
        }
    }

    @Test func whoCancelsDoesNotWaitForACertificate() async throws {
        let server = try await ClosingServer(isSilent: true)
        try await blocking { [self] in
            let start = ContinuousClock.now
            var options = RelayClient.Options()
            // The connection comes about first: on loopback that takes no time.
            options.check = {
                if ContinuousClock.now - start > .milliseconds(300) { throw CancellationError() }
            }
            let client = RelayClient(server.address, options: options)
            #expect(throws: CancellationError.self) { try client.make(channel) }
            #expect(ContinuousClock.now - start < .seconds(5))
        }
    }

    @Test func aChannelThatIsFullIsReadAndEmptied() async throws {
        var bounds = SQLiteRelayStorage.Options()
        bounds.channelByteCountMax = 10_000
        let relay = try await LoopbackRelay(storage: bounds)
        try await blocking { [self] in
            let mailbox = try mailbox(relay)
            try mailbox.write(path, replacing: true) { try $0(Data(count: 9000)) }
            let second = MailboxPath(folder: path.folder, name: "1.bundle")
            let error = #expect(throws: MailboxError.self) {
                try mailbox.write(second, replacing: true) { try $0(Data(count: 2000)) }
            }
            #expect(error?.code == .full && error?.message.contains("10000") == true)
            #expect(try mailbox.open(path).byteCount == 9000)
            try mailbox.remove(path)
            try mailbox.write(second, replacing: true) { try $0(Data(count: 2000)) }
        }
    }

    @Test func aLargeFileGoesThereAndBack() async throws {
        let relay = try await LoopbackRelay()
        try await blocking { [self] in
            let mailbox = try mailbox(relay)
            let piece = Data((0..<MailboxPath.pieceByteCountMax).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            // A head is not as long.
            let path = MailboxPath(folder: path.folder, name: "1.bundle")
            try mailbox.write(path, replacing: false) { sink in
                for _ in 0..<20 { try sink(piece) }
                try sink(Data([1, 2, 3]))
            }
            let client = relay.client()
            let reader = try RelayMailbox(channel, client: client).open(path)
            var count = 0
            while case let data = try reader.read(upTo: 1 << 20), !data.isEmpty {
                #expect(count == 20 << 20 ? data == Data([1, 2, 3]) : data == piece)
                count += data.count
            }
            #expect(count == (20 << 20) + 3 && client.requestCounts.get == 3)
        }
    }

    // MARK: Replicas

    private func store(_ folder: String, _ name: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.usePassphrase(try Passphrase("store"))
        return try DatabaseQueue(path: "\(folder)/\(name)", configuration: configuration)
    }

    @Test func replicasMeetByFewRequests() async throws {
        let relay = try await LoopbackRelay()
        let folder = NSTemporaryDirectory() + "relay-stores-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await blocking { [self] in
            let one = try store(folder, "a.db")
            try one.write { try $0.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT)") }
            let first = try Synchronizer(one, tables: ["note"])
            let insert = "INSERT INTO note VALUES (randomblob(16), 'x')"
            try one.write { try $0.execute(sql: insert) }
            let (mine, theirs) = try (mailbox(relay), mailbox(relay))
            let transport = try channel.key.transport(through: mine)
            _ = try first.run(.both, transport)
            try first.publishSnapshot(in: transport)
            let joined = "\(folder)/b.db"
            try Synchronizer.join(
                channel.key.transport(through: theirs), at: joined, passphrase: Passphrase("store"))
            let other = try store(folder, "b.db")
            let second = try Synchronizer(existing: other)
            let way = try channel.key.transport(through: theirs)
            _ = try second.run(.both, way)
            // The snapshot names nobody's keys.
            #expect(try RelayBook(second).relays().isEmpty)
            // Nothing new: one request.
            _ = try first.run(.both, transport)
            var before = mine.requestCounts
            _ = try first.run(.both, transport)
            #expect((mine.requestCounts - before).total == 1, "\(mine.requestCounts - before)")
            // One edit: a look, and one request that makes it; up to four where it goes.
            try one.write { try $0.execute(sql: insert) }
            before = mine.requestCounts
            _ = try first.run(.both, transport)
            #expect((mine.requestCounts - before).description == "2 requests (1 list, 1 put)")
            before = theirs.requestCounts
            let report = try second.run(.both, way)
            #expect((theirs.requestCounts - before).total <= 4, "\(theirs.requestCounts - before)")
            #expect(report.pulled?.rowCount == 1 && report.remarks.isEmpty)
            #expect(try other.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM note") } == 2)
            #expect(mine.takeEvents().isEmpty && theirs.takeEvents().isEmpty)
        }
    }

    @Test func aStoreKeepsItsRelaysAndACopyDoesNot() async throws {
        let folder = NSTemporaryDirectory() + "relay-stores-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let queue = try store(folder, "a.db")
        let synchronizer = try Synchronizer(queue)
        let book = RelayBook(synchronizer)
        let address = try RelayAddress(host: "relay.example", fingerprint: [UInt8](repeating: 3, count: 32))
        let relay = KnownRelay(name: "relay", address: address, channel: channel)
        try book.save(relay)
        let moment = RelayMoment(epoch: .random(), position: 7)
        try book.note(moment, of: relay)
        #expect(try book.relay().seen == moment && book.relay().channel == channel)
        #expect(try book.relay().address == address && synchronizer.relayNames() == ["relay"])
        #expect(!"\(try book.relay())".contains(channel.key.secretText))
        try synchronizer.clone(to: "\(folder)/b.db", passphrase: Passphrase("store"))
        #expect(try RelayBook(Synchronizer(existing: store(folder, "b.db"))).relays().isEmpty)
        try await blocking { [self] in
            // Nobody answers there.
            let away = try RelayAddress(host: "127.0.0.1", port: 1)
            try book.save(KnownRelay(name: "away", address: away, channel: channel))
            var options = RelayClient.Options()
            options.attemptCountMax = 1
            let mailbox = RelayMailbox(channel, client: RelayClient(away, options: options))
            let transport = try channel.key.transport(through: mailbox)
            #expect(throws: (any Error).self) { try synchronizer.run(.push, transport) }
            #expect(try synchronizer.status().remotes.map(\.name) == [away.url])
            try book.remove("away")
            #expect(try synchronizer.status().remotes.isEmpty)
        }
        try book.remove("relay")
        let error = #expect(throws: RelayError.self) { try book.relay() }
        #expect(error?.code == .noSuchRelay)
    }

    /// As while a watch goes on, and another process replaces the relay, or forgets it.
    @Test func whatWasSeenOfARelayThatWasReplacedOrForgottenIsNotNoted() async throws {
        let folder = NSTemporaryDirectory() + "relay-stores-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let book = RelayBook(try Synchronizer(store(folder, "a.db")))
        let address = try RelayAddress(host: "relay.example", fingerprint: [UInt8](repeating: 3, count: 32))
        let former = KnownRelay(name: "relay", address: address, channel: channel)
        let moment = RelayMoment(epoch: .random(), position: 7)
        let renewed = try RelayAddress(host: "relay.example", fingerprint: [UInt8](repeating: 4, count: 32))
        for relay in [
            KnownRelay(name: "relay", address: address, channel: .random()),
            KnownRelay(name: "relay", address: renewed, channel: channel),
        ] {
            try book.save(relay)
            try book.note(moment, of: former)
            #expect(try book.relay() == relay)
        }
        try book.remove("relay")
        try book.note(moment, of: former)
        #expect(try book.relays().isEmpty)
    }
}
