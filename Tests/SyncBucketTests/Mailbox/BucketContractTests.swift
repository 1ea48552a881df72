import Foundation
import SyncEngine
import SyncTesting
import TestSupport
import Testing

@testable import SyncBucket

@Suite(.s3Server, .anyEngine) struct BucketContractTests {
    private let path = MailboxPath(folder: String(repeating: "0a", count: 16), name: "1-2.bundle")

    @Test(arguments: MailboxContract.Clause.allCases) func aBucketKeepsIt(clause: MailboxContract.Clause)
        throws
    {
        try MailboxContract.check(clause, of: S3Server.shared.mailbox())
    }

    @Test(arguments: MailboxContract.Clause.allCases)
    func aBucketKeepsItWithTheTokenOfASession(clause: MailboxContract.Clause) throws {
        let credentials = try S3Server.shared.sessionCredentials()
        try MailboxContract.check(clause, of: S3Server.shared.mailbox(credentials: credentials))
    }

    /// The proxy checks each signature with Amazon's own library.
    @Test(arguments: ["a b/c+d", "ü&<'\"*()!~", "%41/=?#;@:,$", "...a/ x ", "\u{1F600}\u{300}"])
    func aPrefixMayBeOdd(prefix: String) throws {
        let mailbox = try S3Server.shared.mailbox(prefix: UUID().uuidString + prefix)
        try MailboxContract.check(.removal, of: mailbox)
        try MailboxContract.check(.reading, of: S3Server.shared.mailbox(prefix: UUID().uuidString + prefix))
    }

    @Test func twoPrefixesAreTwoPlaces() throws {
        let prefix = UUID().uuidString
        let (one, other) = try (
            S3Server.shared.mailbox(prefix: prefix), S3Server.shared.mailbox(prefix: prefix + "2")
        )
        try other.write(path, replacing: false) { try $0(Data([1])) }
        #expect(try one.folders().isEmpty && other.folders() == [path.folder])
    }

    @Test func aFileOfManyPartsIsReadInRanges() throws {
        let mailbox = try S3Server.shared.mailbox()
        let piece = Data((0..<MailboxPath.pieceByteCountMax).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try mailbox.write(path, replacing: false) { sink in
            for _ in 0..<17 { try sink(piece) }
            try sink(Data([1, 2, 3]))
        }
        #expect(mailbox.requestCounts.multipart == 4 && mailbox.requestCounts.put == 0)
        let again = #expect(throws: MailboxError.self) {
            try mailbox.write(path, replacing: false) { sink in for _ in 0..<17 { try sink(piece) } }
        }
        #expect(again?.code == .exists)
        let before = mailbox.requestCounts
        let reader = try mailbox.open(path)
        var count = 0
        while case let data = try reader.read(upTo: 1 << 20), !data.isEmpty {
            #expect(count == 17 << 20 ? data == Data([1, 2, 3]) : data == piece)
            count += data.count
        }
        #expect(count == (17 << 20) + 3 && (mailbox.requestCounts - before).get == 3)
    }

    @Test func aFileThatIsReplacedBetweenTwoRangesIsRefused() async throws {
        let server = try S3Server()
        let mailbox = try server.mailbox()
        let piece = Data(count: MailboxPath.pieceByteCountMax)
        try mailbox.write(path, replacing: true) { sink in for _ in 0..<9 { try sink(piece) } }
        // The second range is not answered before there is another file.
        try server.fail(.init("hang", method: "GET", match: path.name, skip: 1))
        let reading = Task {
            // Not in a thread of Swift's pool: it waits.
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { [path] in
                    continuation.resume(returning: Result { try mailbox.open(path).byteCount })
                }
            }
        }
        while try !server.requests().contains(where: { $0.fault == "hang" && $0.status != 0 }) {
            try await Task.sleep(for: .milliseconds(10))
        }
        let other = try server.mailbox(prefix: mailbox.state.client.address.prefix)
        try other.write(path, replacing: true) { sink in
            for _ in 0..<9 { try sink(Data(piece.map { _ in 1 })) }
        }
        try server.release()
        let result = await reading.value
        let error = #expect(throws: MailboxError.self) { try result.get() }
        #expect(error?.code == .failed && error?.message.contains("replaced while it was read") == true)
    }

    @Test func aListingOfSeveralPagesIsReadToItsEnd() throws {
        let mailbox = try S3Server.shared.mailbox()
        let paths = (0..<1001).map { MailboxPath(folder: path.folder, name: "\($0)-0.bundle") }
        for path in paths { try mailbox.write(path, replacing: true) { try $0(Data([1])) } }
        let before = mailbox.requestCounts
        #expect(try mailbox.folders() == [path.folder])
        #expect(try mailbox.files(in: path.folder).count == 1001)
        #expect((mailbox.requestCounts - before).list == 2)
        try mailbox.remove(paths)
        #expect((mailbox.requestCounts - before).delete == 2)
        #expect(try mailbox.folders().isEmpty)
    }
}
