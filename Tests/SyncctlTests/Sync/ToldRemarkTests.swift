import Testing

@testable import SyncctlCommands

/// What is said of files that are not taken in, of several exchanges.
@Suite struct ToldRemarkTests {
    @Test func aWatchSaysOnceWhatStaysSo() {
        let told = ToldRemarks()
        let watched = PreparedExchange.Output.watched(onConnection: {})
        let first = told.lines(of: ["no key opens them", "nothing is sent"], watched)
        #expect(first.count == 2)
        // Each line has the time before it, as those of exchanges have.
        #expect(first.first?.hasSuffix("  no key opens them") == true, "\(first)")
        #expect(told.lines(of: ["no key opens them", "nothing is sent"], watched).isEmpty)
        #expect(told.lines(of: ["no key opens them"], watched).isEmpty)
        #expect(told.lines(of: ["no key opens them", "nothing is sent"], watched).count == 1)
    }

    @Test func otherwiseItIsSaidEachTime() {
        let told = ToldRemarks()
        for _ in 0..<2 { #expect(told.lines(of: ["no key opens them"], .once) == ["no key opens them"]) }
        for _ in 0..<2 { #expect(told.lines(of: ["no key opens them"], .repeated).count == 1) }
    }
}
