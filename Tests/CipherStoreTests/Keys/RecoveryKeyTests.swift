import Foundation
import TestSupport
import Testing

@testable import CipherStore

@Suite(.anyEngine) struct RecoveryKeyTests {
    private func text(_ key: borrowing RecoveryKey) throws -> String {
        try key.withText { String(decoding: $0, as: UTF8.self) }
    }

    @Test func aKeyIsReadAsItIsPrinted() throws {
        for _ in 0..<50 {
            let key = try RecoveryKey.generate()
            let text = try text(key)
            #expect(text.count == 44)
            #expect(text.split(separator: "-").map(\.count) == [Int](repeating: 4, count: 9))
            let read = try RecoveryKey(text)
            #expect(read.bytes.matches(key.bytes))
            let typed = try RecoveryKey(text.lowercased().replacingOccurrences(of: "-", with: " "))
            #expect(typed.bytes.matches(key.bytes))
            let sloppy = text.replacingOccurrences(of: "0", with: "o").replacingOccurrences(
                of: "1", with: "l")
            let readSloppy = try RecoveryKey(sloppy)
            #expect(readSloppy.bytes.matches(key.bytes))
        }
    }

    @Test func eachWrongCharacterIsFound() throws {
        // One key for ever: of random ones, one in 30,000 is met by another character that fits its check.
        let text = Array("P7ME-C4WQ-SJHD-7QDH-M5ZH-SB9H-FYGG-8JZB-YPR7")
        _ = try RecoveryKey(String(text))
        for index in text.indices where text[index] != "-" {
            var wrong = text
            wrong[index] = wrong[index] == "7" ? "8" : "7"
            let error = #expect(throws: StoreError.self) {
                let read = try RecoveryKey(String(wrong))
                _ = read.bytes
            }
            #expect(error?.code == .recoveryKeyInvalid)
        }
    }

    @Test func textThatIsNoKeyIsRefused() throws {
        for text in [
            "", "-", "ABCD", String(repeating: "A", count: 36), String(repeating: "A", count: 37), "ÄÖÜ",
            String(repeating: "U", count: 36),
        ] {
            let error = #expect(throws: StoreError.self) {
                let read = try RecoveryKey(text)
                _ = read.bytes
            }
            #expect(error?.code == .recoveryKeyInvalid)
        }
    }
}
