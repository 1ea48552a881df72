import Foundation
import Testing

/// What SQLite or a keyring would take for its own is never written beside a store.
@Suite struct ReservedNameTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeStore("a.db", "a", rows: 0..<3)
    }

    private func commands(to target: String) -> [[String]] {
        let store = place.path("a.db")
        let (own, other) = (
            ["--passphrase-file", place.secret("a")], ["--to-passphrase-file", place.secret("b")]
        )
        return [
            ["init", target, "--passphrase-file", place.secret("b")],
            ["init", target, "--clone", store, "--clone-passphrase-file", place.secret("a")]
                + ["--passphrase-file", place.secret("b")],
            ["clone", store, target] + own + other,
            ["export", store, "--to", target] + own + other,
            ["export", store, "--to", target, "--plaintext"] + own,
            ["export", store, "--to", target, "--format", "csv"] + own,
            ["export", store, "--to", target, "--format", "csv", "--table", "person"] + own,
            ["bundle", "create", store, "--to", target, "--since-nothing", "--plaintext"] + own,
            ["key", "identity", "--to", target],
            ["key", "add", store, "--new-key-file", target] + own,
            ["completion", "install", "bash", "--to", target],
            ["manual", "--to", target],
        ]
    }

    @Test(arguments: ["-journal", "-wal", "-shm", ".keys", ".keys.bak"])
    func nothingIsMadeWhereAStoreHasItsFiles(suffix: String) throws {
        let target = place.path("a.db" + suffix)
        let owner = place.path("a.db") + (suffix.hasPrefix(".") ? " has this name" : ", and")
        let before = try place.contents()
        for command in commands(to: target) {
            let result = try place.run(command)
            #expect(result.status == 1, "\(command): \(result.errors)")
            for words in ["\(target): ", owner, "choose another name"] {
                #expect(result.errors.contains(words), "\(command): \(result.errors)")
            }
            #expect(try place.contents() == before, "\(command)")
        }
    }
}
