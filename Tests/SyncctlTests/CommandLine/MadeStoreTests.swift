import CipherStore
import Foundation
import Testing

@testable import SyncctlCommands

/// `syncctl init` when the store that it has made can't be opened again.
@Suite struct MadeStoreTests {
    /// Asks for the status of a new store under a passphrase that is not its own.
    private func failure(_ place: Workplace, _ options: [String]) throws -> Failure? {
        let path = place.path("new.db")
        try place.makeStore("new.db", "a", rows: 0..<3)
        let command = try InitCommand.parse([path] + options)
        let secret = Secret(try Passphrase(Workplace.passphrase("wrong")))
        var failure: Failure?
        try CommandContext.run(GlobalOptions.parse([])) { context in
            do {
                _ = try command.firstStatus(path, secret, context)
            } catch {
                failure = Failure(explaining: error)
            }
            return .success
        }
        return failure
    }

    /// The invitation is used up by then, and other programs may have opened the file.
    @Test(arguments: [
        ["--clone", "a.db"], ["--join", "dir:/media/stick"], ["--invitation-file", "link"],
    ])
    func aReplicaStays(options: [String]) throws {
        let place = try Workplace()
        let shown = try failure(place, options)
        let isTold = shown?.hints.last?.contains("the store is made, and stays") == true
        #expect(isTold, "\(shown?.description ?? "no failure")")
        #expect(try place.rows("new.db", "a").count == 3)
    }

    @Test(arguments: [[], ["--from", "plain.sqlite"]] as [[String]])
    func aStoreThatIsMadeAgainByTheSameCommandIsRemoved(options: [String]) throws {
        let place = try Workplace()
        #expect(try failure(place, options) != nil)
        #expect(try place.contents().isEmpty)
    }
}
