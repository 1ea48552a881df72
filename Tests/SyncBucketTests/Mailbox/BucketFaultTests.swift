import Foundation
import SyncEngine
import SyncTesting
import TestSupport
import Testing

@testable import SyncBucket

/// A server that fails in the ways of servers, networks and gateways.
@Suite(.s3Server, .anyEngine) struct BucketFaultTests {
    private let path = MailboxPath(folder: String(repeating: "0a", count: 16), name: "1-2.bundle")

    private func write(_ mailbox: BucketMailbox, _ text: String, replacing: Bool = false) throws {
        try mailbox.write(path, replacing: replacing) { try $0(Data(text.utf8)) }
    }

    private func read(_ mailbox: BucketMailbox) throws -> String {
        let reader = try mailbox.open(path)
        return String(decoding: try reader.read(upTo: 1 << 20), as: UTF8.self)
    }

    /// What passes is not noticed, whichever request it hits.
    @Test(arguments: ["500", "503", "drop", "lost", "cut", "double"]) func aFaultThatPassesIsNotNoticed(
        kind: String
    ) throws {
        let server = try S3Server()
        let mailbox = try server.mailbox()
        for method in ["PUT", "GET", "DELETE", "POST"] {
            try server.fail(.init(kind, method: method, count: 2))
            try write(mailbox, "text")
            #expect(throws: MailboxError.self) { try write(mailbox, "other") }
            #expect(try mailbox.folders() == [path.folder])
            let fresh = try server.mailbox(prefix: mailbox.state.client.address.prefix)
            #expect(try read(fresh) == "text")
            let second = MailboxPath(folder: path.folder, name: "head")
            try mailbox.write(second, replacing: true) { try $0(Data([1])) }
            try mailbox.remove(method == "POST" ? [path, second] : [second])
            try mailbox.remove(path)
            #expect(try mailbox.folders().isEmpty)
            if kind != "double" {
                #expect(try server.reset().filter { $0.fault == kind }.count == 2, "\(method)")
            }
        }
    }

    @Test func aServerThatDoesNotComeBackIsOutOfReach() throws {
        let server = try S3Server()
        let mailbox = try server.mailbox(attempts: 3)
        for kind in ["500", "drop", "cut"] {
            try server.fail(.init(kind, count: 100))
            let error = #expect(throws: MailboxError.self) { try mailbox.folders() }
            #expect(error?.code == .unreachable)
            #expect(try server.reset().count == 3)
        }
    }

    @Test func aPortWhereNobodyListensIsOutOfReach() throws {
        let address = try BucketAddress(bucket: "test", endpoint: "http://127.0.0.1:1")
        let mailbox = BucketMailbox(
            address, CredentialSource(try TestCredentials.usual),
            HTTPCarrier(connectSeconds: 2, silenceSeconds: 2, trustRootsFile: nil),
            RequestRetry(attemptCountMax: 2, sleep: { _, _ in }, random: { 0 }), BucketMailbox.Options())
        let error = #expect(throws: MailboxError.self) { try mailbox.folders() }
        #expect(error?.code == .unreachable && error?.message.contains("127.0.0.1:1") == true)
    }

    @Test func anAnswerWithoutAnEndIsBounded() throws {
        let server = try S3Server()
        let mailbox = try server.mailbox()
        try write(mailbox, "text")
        try server.fail(.init("huge", method: "GET", count: 100))
        for body in [{ _ = try mailbox.folders() }, { _ = try read(mailbox) }] as [() throws -> Void] {
            let error = #expect(throws: MailboxError.self) { try body() }
            #expect(error?.message.contains("the answer has over") == true)
            #expect(error?.message.contains("a storage for buckets at the endpoint") == true)
        }
        try server.fail(.init("endless", count: 100))
        let error = #expect(throws: MailboxError.self) { try mailbox.folders() }
        #expect(error?.message.contains("no end") == true)
    }

    @Test func aSilentServerEndsWithTheWishForIt() throws {
        struct Stopped: Error {}
        let server = try S3Server()
        try server.fail(.init("hang", count: 100))
        let begin = ContinuousClock.now
        let mailbox = try server.mailbox(check: {
            if ContinuousClock.now - begin > .milliseconds(300) { throw Stopped() }
        })
        #expect(throws: Stopped.self) { try mailbox.folders() }
        #expect(ContinuousClock.now - begin < .seconds(20))
        try server.release()
    }

    @Test func aWrongClockHasAName() throws {
        let server = try S3Server()
        let late = SyncEnvironment(
            milliseconds: { SyncEnvironment.system.milliseconds() - 3_600_000 }, random: { 1 })
        let error = #expect(throws: BucketError.self) { try server.mailbox(environment: late).folders() }
        #expect(error?.code == .clockSkewed && error?.message.contains("60 min behind") == true)
    }

    @Test func whatConcernsTheWholeBucketHasAName() throws {
        let server = try S3Server()
        let mailbox = try server.mailbox()
        try server.fail(.init("region"))
        let region = #expect(throws: BucketError.self) { try mailbox.folders() }
        #expect(region?.code == .wrongRegion && region?.region == "eu-central-1")
        try server.fail(.init("redirect"))
        #expect(#expect(throws: BucketError.self) { try mailbox.folders() }?.code == .redirected)
        try server.fail(.init("denied"))
        #expect(#expect(throws: BucketError.self) { try write(mailbox, "text") }?.code == .accessDenied)
        let missing = #expect(throws: BucketError.self) { try server.mailbox(bucket: "nowhere").folders() }
        #expect(missing?.code == .noSuchBucket && missing?.message.contains("nowhere") == true)
        let wrong = try BucketCredentials(keyID: server.keyID, secretKey: "wrong")
        #expect(
            #expect(throws: BucketError.self) { try server.mailbox(credentials: wrong).folders() }?.code
                == .credentialsRefused)
        let unknown = try BucketCredentials(keyID: "NOBODY", secretKey: "wrong")
        #expect(
            #expect(throws: BucketError.self) { try server.mailbox(credentials: unknown).folders() }?.code
                == .credentialsRefused)
    }

    @Test func aFileThatIsRefusedConcernsThatFileOnly() throws {
        let server = try S3Server()
        let mailbox = try server.mailbox()
        try write(mailbox, "text")
        try server.fail(.init("denied", method: "GET"))
        let error = #expect(throws: MailboxError.self) { try read(mailbox) }
        #expect(error?.code == .notPermitted)
    }

    @Test func aPartOfAnUploadThatFailsLeavesNothing() throws {
        let server = try S3Server()
        let mailbox = try server.mailbox(attempts: 2)
        let piece = Data(count: MailboxPath.pieceByteCountMax)
        for fault in [
            S3Server.Fault("500", method: "PUT", match: "partNumber=2", count: 2),
            .init("500", method: "POST", match: "uploadId", count: 2),
        ] {
            try server.fail(fault)
            #expect(throws: MailboxError.self) {
                try mailbox.write(path, replacing: false) { sink in for _ in 0..<17 { try sink(piece) } }
            }
            #expect(try mailbox.folders().isEmpty)
            #expect(try server.reset().contains { $0.method == "DELETE" && $0.status == 204 })
        }
        try server.fail(.init("lost", method: "POST", match: "uploadId"))
        try mailbox.write(path, replacing: false) { sink in for _ in 0..<17 { try sink(piece) } }
        #expect(try mailbox.files(in: path.folder).map(\.byteCount) == [17 << 20])
    }
}
