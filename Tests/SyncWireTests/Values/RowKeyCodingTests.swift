import TestSupport
import Testing

@testable import SyncWire

/// Keys as text and as bytes.
@Suite(.anyEngine) struct RowKeyCodingTests {
    private func pack(_ text: [UInt8]) -> (kind: UInt8, bytes: [UInt8])? {
        var output: [UInt8] = Array(repeating: 0, count: 16)
        let kind = text.withUnsafeBytes { text in
            output.withUnsafeMutableBytes { RowKeyCoding.pack(text, into: $0) }
        }
        return kind.map { ($0, output) }
    }

    private func unpack(_ bytes: [UInt8], isUppercase: Bool) -> [UInt8] {
        var output: [UInt8] = Array(repeating: 0, count: 36)
        bytes.withUnsafeBytes { bytes in
            output.withUnsafeMutableBytes { RowKeyCoding.unpack(bytes, isUppercase: isUppercase, into: $0) }
        }
        return output
    }

    private func isText(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { RowKeyCoding.isText($0) } }

    private static let lower = Array("0190f5fe-7c00-7a00-8000-abcdefabcdef".utf8)
    private static let upper = Array("0190F5FE-7C00-7A00-8000-ABCDEFABCDEF".utf8)
    private static let bytes: [UInt8] = [
        0x01, 0x90, 0xF5, 0xFE, 0x7C, 0x00, 0x7A, 0x00, 0x80, 0x00, 0xAB, 0xCD, 0xEF, 0xAB, 0xCD, 0xEF,
    ]

    @Test func textInOneCaseIsPacked() {
        #expect(pack(Self.lower)?.kind == RowKeyCoding.lowercaseText)
        #expect(pack(Self.lower)?.bytes == Self.bytes)
        #expect(pack(Self.upper)?.kind == RowKeyCoding.uppercaseText)
        #expect(pack(Self.upper)?.bytes == Self.bytes)
        #expect(unpack(Self.bytes, isUppercase: false) == Self.lower)
        #expect(unpack(Self.bytes, isUppercase: true) == Self.upper)
    }

    @Test func digitsAlonePassForLowerCase() {
        #expect(pack(Array("01901234-7000-7000-8000-000000000000".utf8))?.kind == RowKeyCoding.lowercaseText)
    }

    @Test func textInMixedCaseIsNotPacked() {
        for index in Self.lower.indices where Self.lower[index] >= 0x61 {
            var mixed = Self.lower
            mixed[index] -= 0x20
            #expect(pack(mixed) == nil)
            #expect(isText(mixed))
        }
    }

    @Test func packingLosesNothing() {
        var generator = SplitMix64(seed: 7)
        for _ in 0..<500 {
            let bytes = generator.bytes(16)
            for isUppercase in [false, true] {
                let text = unpack(bytes, isUppercase: isUppercase)
                #expect(isText(text))
                let packed = pack(text)
                #expect(packed?.bytes == bytes)
                #expect(unpack(bytes, isUppercase: packed?.kind == RowKeyCoding.uppercaseText) == text)
            }
        }
    }

    @Test func anotherByteAnywhereIsNoUUID() {
        for index in 0..<36 {
            for byte in UInt8.min...UInt8.max {
                var text = Self.lower
                text[index] = byte
                let isHyphen = [8, 13, 18, 23].contains(index)
                let isDigit = Character(UnicodeScalar(byte)).isHexDigit && byte < 0x80
                let isExpected = isHyphen ? byte == 0x2D : isDigit
                #expect(isText(text) == isExpected, "byte \(byte) at \(index)")
                #expect(isExpected || pack(text) == nil, "byte \(byte) at \(index)")
            }
        }
    }

    @Test func onlyThirtySixCharactersAreAUUID() {
        for count in 0..<72 where count != 36 {
            let text = Array((Self.lower + Self.lower).prefix(count))
            #expect(!isText(text))
            #expect(pack(text) == nil)
        }
        #expect(pack(Self.lower + [0]) == nil)
    }
}
