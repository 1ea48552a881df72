import ArgumentParser
import SyncHTTP
import SyncRelay
import Testing

@testable import syncctl

/// Options that bound what others can make servers and relays do.
@Suite struct LimitOptionTests {
    @Test func aServerBehindABalancerMayHaveMoreConnectionsOfOneAddress() throws {
        let usual = try ServeCommand.parse(["hub.db"]).limits
        #expect(usual.addressConnectionCountMax == HubServer.Limits().addressConnectionCountMax)
        let many = try ServeCommand.parse(["hub.db", "--connections-per-address", "16384"]).limits
        #expect(many.addressConnectionCountMax == 16_384 && many.connectionCountMax == 16_384)
    }

    @Test(arguments: ["0", "-1", "16385", "many"])
    func connectionsThatThereCanNotBeAreRefused(number: String) {
        #expect(throws: (any Error).self) {
            _ = try ServeCommand.parse(["hub.db", "--connections-per-address", number])
        }
    }

    private func relay(_ words: String...) throws -> RelayServer.Limits {
        try RelayCommand.parse(["--storage", "relay.db"] + words).limits
    }

    @Test func aChannelMayHaveMoreWatches() throws {
        let usual = RelayServer.Limits()
        let limits = try relay("--watches-per-channel", "9000")
        #expect(limits.channelWatchCountMax == 9_000)
        #expect(limits.addressWatchCountMax == usual.addressWatchCountMax)
        let both = try relay("--watches-per-channel", "9000", "--requests-per-second", "200")
        #expect(both.channelWatchCountMax == 9_000 && both.addressWatchCountMax == usual.watchCountMax)
    }

    @Test func aSizeThatIsNoneIsToldWithTheFormsOfOne() throws {
        let error = #expect(throws: (any Error).self) { _ = try relay("--quota", "10X") }
        let message = try RelayCommand.message(for: #require(error))
        #expect(message.contains("write it as 500M, 10G, 2T"), "\(message)")
        let quota = try RelayCommand.parse(["--storage", "relay.db", "--quota", "10g"]).quota
        #expect(quota?.byteCount == 10 << 30)
    }

    @Test func aRelayTakesNoWords() throws {
        let error = #expect(throws: (any Error).self) { _ = try RelayCommand.parse(["list"]) }
        let message = try RelayCommand.message(for: #require(error))
        #expect(message.contains("no list"), "\(message)")
    }

    @Test func aWatchWaitsForAStoreAsLongAsItIsTold() throws {
        #expect(try WatchCommand.parse(["a.db", "--wait", "3"]).wait == 3)
        #expect(throws: (any Error).self) { _ = try WatchCommand.parse(["a.db", "--wait", "-1"]) }
    }

    @Test func withoutTLSARelayIsForThisMachineOnly() throws {
        #expect(throws: (any Error).self) {
            _ = try relay("--plaintext-on-loopback", "--listen", "0.0.0.0:7444")
        }
        _ = try relay("--plaintext-on-loopback", "--listen", "[::1]:7444")
    }

    @Test func answersMayHaveMoreMemory() throws {
        let quarter = try relay("--answer-memory", "1G")
        #expect(quarter.heldAnswerByteCountMax == 1 << 30)
        #expect(quarter.addressHeldAnswerByteCountMax == 256 << 20)
        let all = try relay("--answer-memory", "1G", "--requests-per-second", "200")
        #expect(all.addressHeldAnswerByteCountMax == 1 << 30)
        let usual = try relay()
        #expect(usual.heldAnswerByteCountMax == RelayServer.Limits().heldAnswerByteCountMax)
    }

    @Test(arguments: [
        ("--watches-per-channel", "0"), ("--watches-per-channel", "15001"), ("--answer-memory", "1K"),
        ("--answer-memory", "2T"), ("--answer-memory", "much"),
    ])
    func boundsThatThereCanNotBeAreRefused(option: String, value: String) {
        #expect(throws: (any Error).self) { _ = try relay(option, value) }
    }
}
