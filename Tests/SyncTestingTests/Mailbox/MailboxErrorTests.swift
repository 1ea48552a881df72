import CipherStore
import Foundation
import SyncEngine
import SyncWire
import Testing

@testable import SyncTesting

/// A mailbox whose calls all fail in one way.
private struct FailingMailbox: Mailbox {
    enum Call { case folders, files, open, write }

    let failing: Call
    let code: MailboxError.Code
    let mailbox = MemoryMailbox(seed: 1, faults: [])

    var name: String { mailbox.name }
    var location: String { mailbox.location }

    private func check(_ call: Call) throws {
        if call == failing { throw MailboxError(code, "it is said why") }
    }

    func folders() throws -> [String] {
        try check(.folders)
        // Files are only asked for of a folder that is there.
        return try mailbox.folders() + (failing == .files ? [String(repeating: "0", count: 32)] : [])
    }

    func files(in folder: String) throws -> [MailboxFile] {
        try check(.files)
        return try mailbox.files(in: folder)
    }

    func open(_ path: MailboxPath) throws -> any MailboxReader {
        try check(.open)
        return try mailbox.open(path)
    }

    func write(
        _ path: MailboxPath, replacing: Bool,
        _ body: (_ sink: @escaping (Data) throws -> Void) throws -> Void
    ) throws {
        try check(.write)
        try mailbox.write(path, replacing: replacing, body)
    }

    func remove(_ path: MailboxPath) throws { try mailbox.remove(path) }
}

@Suite struct MailboxErrorTests {
    private func error(_ call: FailingMailbox.Call, _ code: MailboxError.Code) throws -> (any Error)? {
        let mailbox = FailingMailbox(failing: call, code: code)
        let stores = try MailboxReplicas(1, seed: 1) { _ in mailbox }
        try stores.insert(0, 1)
        do {
            try stores.sync(0)
            return nil
        } catch {
            return error
        }
    }

    @Test func aPlaceThatDoesNotAnswerEndsTheSynchronizationAsThat() throws {
        for call in [FailingMailbox.Call.folders, .files, .write] {
            let error = try #require(try error(call, .unreachable) as? MailboxError, "\(call)")
            #expect(error.code == .unreachable && error.location?.isEmpty != true)
        }
    }

    @Test func whatAPlaceRefusesIsAnErrorOfAFileThatIsNamed() throws {
        let full = try #require(try error(.write, .full) as? StoreError)
        #expect(full.code == .full && full.path?.hasPrefix("memory:mailbox/") == true)
        let refused = try #require(try error(.write, .notPermitted) as? StoreError)
        #expect(refused.code == .cannotWrite && refused.message == "it is said why")
        let unlisted = try #require(try error(.folders, .notPermitted) as? StoreError)
        #expect(unlisted.code == .cannotRead && unlisted.path == "memory:mailbox")
    }

    @Test func aFolderThatCannotBeListedIsAsIfItWereEmpty() throws {
        #expect(try error(.files, .notPermitted) == nil)
    }
}
