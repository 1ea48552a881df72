import Testing

@testable import SyncctlCommands
@testable import syncctl

/// What ssh is told.
@Suite struct SSHRemoteTests {
    private func command(_ remote: String) throws -> [UInt8]? {
        try SSHRemote(remote, command: "serve").arguments.last.map { Array($0.utf8) }
    }

    @Test func aConnectionThatIsGoneIsNotWaitedForLong() throws {
        let words = try SSHRemote("ssh://me@host:22/a.db", command: "serve").arguments
        #expect(words.starts(with: ["-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4"]))
        #expect(words.dropFirst(4) == ["-p", "22", "-l", "me", "host", "serve '/a.db'"])
    }

    /// The shell there looks at bytes. A quote that one of these marks follows is no `Character` of its own.
    @Test func thePathIsOneWordThere() throws {
        for mark in ["", "\u{301}", "\u{200D}", "\u{FE0F}"] {
            let expected = "serve '/a'\\''\(mark);touch x;'\\''\(mark).db'"
            #expect(
                try command("ssh://host/a'\(mark);touch x;'\(mark).db") == Array(expected.utf8), "\(expected)"
            )
        }
        #expect(try command("ssh://host/~/a.db") == Array("serve 'a.db'".utf8))
    }

    @Test func aPathIsNoOptionThere() throws {
        for mark in ["", "\u{301}", "\u{200D}"] {
            #expect(try command("ssh://host/~/-\(mark)a.db") == Array("serve './-\(mark)a.db'".utf8))
            #expect(CommandWords.unmistakable("-\(mark)a").utf8.starts(with: "./-".utf8))
            #expect(CommandWords.operand("-\(mark)a").utf8.starts(with: "-- ".utf8))
        }
    }
}
