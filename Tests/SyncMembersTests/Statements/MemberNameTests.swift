import TestSupport
import Testing

@testable import SyncMembers

@Suite(.anyEngine) struct MemberNameTests {
    @Test func aNameIsNormalizedWhenItIsMade() throws {
        let name = try MemberName("Zoe\u{308}")
        #expect(Array(name.text.utf8) == Array("Zo\u{EB}".utf8))
        #expect(try MemberName(asWritten: "Zoe\u{308}") != name)
    }

    @Test func namesHaveABound() throws {
        #expect(try MemberName(String(repeating: "x", count: 128)).text.count == 128)
        for text in ["", String(repeating: "x", count: 129), String(repeating: "\u{1F600}", count: 33)] {
            let error = #expect(throws: MembershipError.self) { try MemberName(text) }
            #expect(error?.code == .nameInvalid)
        }
    }

    @Test func whatHidesOrReordersTextIsRefused() {
        for scalar in [
            "\u{0}", "\n", "\u{7F}", "\u{85}", "\u{202E}", "\u{2028}", "\u{2066}", "\u{FEFF}", "\u{200F}",
        ] {
            #expect(throws: MembershipError.self) { try MemberName("a\(scalar)b") }
        }
        for text in ["Ada Lovelace", "\u{5D0}\u{5D1}", "\u{1F469}\u{200D}\u{1F4BB}", "\u{633}\u{644}"] {
            #expect(throws: Never.self) { try MemberName(text) }
        }
    }
}
