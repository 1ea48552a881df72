import Foundation
import SyncEngine
import Testing

@testable import SyncTesting

/// What each mailbox must do, whatever it is made of.
@Suite struct MailboxContractTests {
    private let path = NSTemporaryDirectory() + "mailbox-" + UUID().uuidString
    private let bundle = MailboxPath(
        folder: String(repeating: "0a", count: 16), name: "0001700000000000-00112233445566ff.bundle")

    @Test(arguments: MailboxContract.Clause.allCases)
    func aFolderKeepsIt(clause: MailboxContract.Clause) throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try MailboxContract.check(clause, of: LocalFolder(path: path))
    }

    @Test(arguments: MailboxContract.Clause.allCases)
    func aMailboxInMemoryKeepsIt(clause: MailboxContract.Clause) throws {
        try MailboxContract.check(clause, of: MemoryMailbox(seed: 1, faults: []))
    }

    /// A check that no mailbox could fail would say nothing.
    @Test(arguments: BrokenMailbox.Flaw.allCases)
    func aMailboxThatBreaksAPromiseIsFound(flaw: BrokenMailbox.Flaw) throws {
        #expect(throws: (any Error).self) {
            try MailboxContract.check(flaw.clause, of: BrokenMailbox(flaw))
        }
        try MailboxContract.check(flaw.clause, of: BrokenMailbox(nil))
    }

    private func write(
        _ mailbox: any Mailbox, _ path: MailboxPath, _ pieces: [[UInt8]], replacing: Bool = false
    ) throws {
        try mailbox.write(path, replacing: replacing) { sink in
            for piece in pieces { try sink(Data(piece)) }
        }
    }

    @Test func aFolderOfThisMachineHasRegularFilesOnlyThatOthersMayRead() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let folder = LocalFolder(path: path)
        try write(folder, bundle, [[1]])
        let place = path + "/\(bundle)"
        let attributes = try FileManager.default.attributesOfItem(atPath: place)
        #expect(attributes[.posixPermissions] as? Int == 0o644)
        let link = MailboxPath(folder: bundle.folder, name: "head")
        try FileManager.default.createSymbolicLink(atPath: path + "/\(link)", withDestinationPath: place)
        #expect(try folder.files(in: bundle.folder).map(\.name) == [bundle.name])
        let error = #expect(throws: MailboxError.self) { try folder.open(link) }
        #expect(error?.code == .missing)
    }

    @Test func equalSeedsGiveEqualFaults() throws {
        func course(_ seed: UInt64) -> [String] {
            let mailbox = MemoryMailbox(seed: seed)
            return (0..<200).map { number in
                do {
                    let file = MailboxPath(folder: bundle.folder, name: "\(number % 5)")
                    try write(mailbox, file, [[UInt8(number)]], replacing: true)
                    return "\(try mailbox.seen(from: 1).files(in: bundle.folder).map(\.name).sorted())"
                } catch {
                    return "\(error)"
                }
            }
        }
        #expect(course(1) == course(1))
        #expect(course(1) != course(2))
    }
}
