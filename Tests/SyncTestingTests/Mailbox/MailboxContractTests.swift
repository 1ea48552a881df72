import Foundation
import SyncEngine
import Testing

@testable import SyncTesting

/// What each mailbox must do, whatever it is made of.
@Suite struct MailboxContractTests {
    private struct Stopped: Error {}

    private let path = NSTemporaryDirectory() + "mailbox-" + UUID().uuidString
    private let bundle = MailboxPath(
        folder: String(repeating: "0a", count: 16), name: "0001700000000000-00112233445566ff.bundle")

    private func withEach(_ body: (any Mailbox) throws -> Void) throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(LocalFolder(path: path))
        try body(MemoryMailbox(seed: 1, faults: []))
    }

    private func write(
        _ mailbox: any Mailbox, _ path: MailboxPath, _ pieces: [[UInt8]], replacing: Bool = false
    ) throws {
        try mailbox.write(path, replacing: replacing) { sink in
            for piece in pieces { try sink(Data(piece)) }
        }
    }

    private func read(_ mailbox: any Mailbox, _ path: MailboxPath, by count: Int = 3) throws -> [UInt8] {
        let reader = try mailbox.open(path)
        var bytes: [UInt8] = []
        while true {
            let piece = try reader.read(upTo: count)
            #expect(piece.count <= count)
            if piece.isEmpty { break }
            bytes += piece
        }
        #expect(bytes.count == reader.byteCount)
        return bytes
    }

    @Test func aPlaceThatNobodyWroteIntoIsEmpty() throws {
        try withEach { mailbox in
            #expect(try mailbox.folders().isEmpty && mailbox.files(in: bundle.folder).isEmpty)
            let error = #expect(throws: MailboxError.self) { try mailbox.open(bundle) }
            #expect(error?.code == .missing)
            try mailbox.remove(bundle)
        }
    }

    @Test func aFileIsReadAsItWasWrittenInPiecesOfAnyLength() throws {
        try withEach { mailbox in
            try write(mailbox, bundle, [[1, 2], [3], [4, 5, 6, 7]])
            for count in 1...8 { #expect(try read(mailbox, bundle, by: count) == [1, 2, 3, 4, 5, 6, 7]) }
            #expect(try mailbox.folders() == [bundle.folder])
            let files = try mailbox.files(in: bundle.folder)
            #expect(files.map(\.name) == [bundle.name] && files.first?.byteCount == 7)
            try mailbox.remove(bundle)
            #expect(try mailbox.files(in: bundle.folder).isEmpty)
        }
    }

    @Test func aFileIsReplacedOnlyWhenThatIsWanted() throws {
        try withEach { mailbox in
            try write(mailbox, bundle, [[1]])
            let error = #expect(throws: MailboxError.self) { try write(mailbox, bundle, [[2]]) }
            #expect(error?.code == .exists)
            #expect(try read(mailbox, bundle) == [1])
            try write(mailbox, bundle, [[3, 4]], replacing: true)
            #expect(try read(mailbox, bundle) == [3, 4])
        }
    }

    @Test func whoReadsAFileHasOneVersionOfIt() throws {
        try withEach { mailbox in
            try write(mailbox, bundle, [[1, 1, 1, 1]])
            let reader = try mailbox.open(bundle)
            var bytes = try reader.read(upTo: 2)
            try write(mailbox, bundle, [[2, 2, 2, 2, 2]], replacing: true)
            while bytes.count < 4 { bytes += try reader.read(upTo: 4) }
            #expect(Array(bytes) == [1, 1, 1, 1])
        }
    }

    @Test func aWriteThatIsStoppedLeavesWhatWasThere() throws {
        try withEach { mailbox in
            for isThere in [false, true] {
                if isThere { try write(mailbox, bundle, [[1]]) }
                #expect(throws: Stopped.self) {
                    try mailbox.write(bundle, replacing: true) { sink in
                        try sink(Data([2]))
                        #expect(
                            try mailbox.files(in: bundle.folder).contains { $0.name == bundle.name }
                                == isThere)
                        throw Stopped()
                    }
                }
                #expect(try mailbox.files(in: bundle.folder).count == (isThere ? 1 : 0))
            }
            #expect(try read(mailbox, bundle) == [1])
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
