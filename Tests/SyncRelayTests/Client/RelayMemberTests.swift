import CipherStore
import Crypto
import Foundation
import SyncHTTP
import SyncMembers
import TestSupport
import Testing

@testable import SyncEngine
@testable import SyncRelay

/// Members of a database that meets at a relay.
@Suite struct RelayMemberTests {
    private let folder: String
    private let relay = MemoryRelay()
    private let channel = RelayChannel.random()

    init() throws {
        DerivedKeys.remember()
        folder = NSTemporaryDirectory() + "relay-members-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private struct Replica {
        let queue: DatabaseQueue
        let synchronizer: Synchronizer
        let mailbox: RelayMailbox
        let transport: MailboxTransport

        func insert(_ title: String) throws {
            try queue.write {
                try $0.execute(sql: "INSERT INTO note VALUES (randomblob(16), ?)", arguments: [title])
            }
        }

        func titles() throws -> Set<String> {
            try queue.read { try Set(String.fetchAll($0, sql: "SELECT title FROM note")) }
        }

        /// Synchronizes, and says what that took.
        func sync() throws -> (cost: Int, report: FolderReport) {
            let before = mailbox.requestCounts
            let report = try synchronizer.run(.both, transport)
            return ((mailbox.requestCounts - before).total, report)
        }
    }

    private func open(_ name: String) throws -> Replica {
        var configuration = Configuration()
        configuration.encryption = .required
        configuration.usePassphrase(try Passphrase("store"))
        let queue = try DatabaseQueue(path: "\(folder)/\(name)", configuration: configuration)
        if name == "a.db" {
            try queue.write { try $0.execute(sql: "CREATE TABLE note (id BLOB PRIMARY KEY, title TEXT)") }
        }
        let mailbox = try relay.mailbox(channel)
        return Replica(
            queue: queue, synchronizer: try Synchronizer(queue, tables: name == "a.db" ? ["note"] : []),
            mailbox: mailbox, transport: try channel.key.transport(through: mailbox))
    }

    private func join(_ name: String, by inviter: Replica, as role: MemberRole = .writer) throws -> Replica {
        let invitation = try inviter.synchronizer.membership.invite(MemberName(name), as: role)
        _ = try inviter.sync()
        let link = RelayLink(address: try RelayAddress(host: "relay.example"))
        // As it travels.
        let sealed = try link.seal(channel, invitation)
        let opened = try link.open(RelayInvitation(channel: channel.id, sealed: sealed))
        try Synchronizer.join(
            opened.channel.key.transport(through: relay.mailbox(channel)), at: "\(folder)/\(name)",
            passphrase: Passphrase("store"), invitation: opened.membership)
        let replica = try open(name)
        _ = try replica.sync()
        return replica
    }

    private func remove() { try? FileManager.default.removeItem(atPath: folder) }

    @Test func aLinkBringsAMembershipAlong() throws {
        defer { remove() }
        let a = try open("a.db")
        _ = try a.synchronizer.membership.found(MemberName("anna"))
        let invitation = try a.synchronizer.membership.invite(MemberName("ben"), as: .reader)
        let link = RelayLink(address: try RelayAddress(host: "relay.example", fingerprint: Array(0..<32)))
        let sealed = try link.seal(channel, invitation)
        #expect(sealed.count <= RelayBounds.invitationByteCountMax)
        let opened = try link.open(RelayInvitation(channel: channel.id, sealed: sealed))
        #expect(opened.channel == channel)
        #expect(opened.membership?.rawRepresentation == invitation.rawRepresentation)
        let secret = ByteText.hex(invitation.rawRepresentation.dropFirst(32).prefix(64))
        #expect(!link.description.contains(secret))
        // One by an older program does not name the database.
        let bytes = Array(invitation.rawRepresentation.prefix(MembershipInvitation.byteCountWithoutStore))
        let old = try link.seal(channel, MembershipInvitation(rawRepresentation: bytes))
        let read = try link.open(RelayInvitation(channel: channel.id, sealed: old))
        #expect(read.membership?.rawRepresentation == bytes)
    }

    @Test func withMembersNothingNewCostsOneRequestAndAnEditTwo() throws {
        defer { remove() }
        let a = try open("a.db")
        try a.insert("first")
        _ = try a.synchronizer.membership.found(MemberName("anna"))
        _ = try a.sync()
        try a.synchronizer.publishSnapshot(in: a.transport)
        let b = try join("b.db", by: a)
        for replica in [a, b, a, b] { _ = try replica.sync() }
        #expect(try a.sync().cost == 1 && b.sync().cost == 1)
        for number in 0..<3 {
            try a.insert("edit \(number)")
            let writing = try a.sync()
            #expect(writing.cost == 2 && writing.report.pushed?.rowCount == 1, "\(writing)")
            let reading = try b.sync()
            #expect(reading.cost <= 4 && reading.report.pulled?.rowCount == 1, "\(reading)")
            #expect(reading.report.refused.isEmpty && reading.report.remarks.isEmpty)
        }
        #expect(try a.titles() == b.titles())
    }

    @Test func aRemovedMemberIsShutOutOfTheChannel() throws {
        defer { remove() }
        let a = try open("a.db")
        _ = try a.synchronizer.membership.found(MemberName("anna"))
        _ = try a.sync()
        try a.synchronizer.publishSnapshot(in: a.transport)
        let b = try join("b.db", by: a)
        try b.insert("of b")
        for replica in [b, a] { _ = try replica.sync() }
        let member = try #require(
            try a.synchronizer.membership.members()?.first { $0.member.name.text == "b.db" })
        #expect(member.standing == .active && member.replicas.count == 1)
        try a.synchronizer.membership.remove(member.member.id)
        try a.insert("without b")
        try b.insert("too late")
        for replica in [a, b, a] { _ = try replica.sync() }
        #expect(try a.titles() == ["of b", "without b"])
        #expect(try b.titles() == ["of b", "too late"])
        #expect(try b.sync().report.unsent?.reason == .removed)
        #expect(try a.sync().report.refused.map(\.reason) == [.removed])
    }
}
