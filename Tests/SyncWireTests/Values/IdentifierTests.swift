import TestSupport
import Testing

@testable import SyncWire

/// Identifiers of replicas and stores.
@Suite(.anyEngine) struct IdentifierTests {
    private func identifier(_ bytes: [UInt8]) -> Identifier128? {
        bytes.withUnsafeBytes { Identifier128(bytes: $0) }
    }

    @Test func anIdentifierIsItsBytesInOrder() {
        let bytes: [UInt8] = Array(0x10...0x1F)
        let identifier = identifier(bytes)
        #expect(identifier == Identifier128(high: 0x1011_1213_1415_1617, low: 0x1819_1A1B_1C1D_1E1F))
        #expect(identifier?.bytes == bytes)
    }

    @Test func onlySixteenBytesAreAnIdentifier() {
        for count in 0..<40 where count != 16 {
            #expect(identifier(Array(repeating: 1, count: count)) == nil)
        }
    }

    @Test func identifiersAreReadAtAnyAlignment() {
        let bytes: [UInt8] = Array(0..<24)
        for start in 0..<8 {
            let part = Array(bytes[start..<(start + 16)])
            let identifier = bytes.withUnsafeBytes {
                Identifier128(bytes: UnsafeRawBufferPointer(rebasing: $0[start..<(start + 16)]))
            }
            #expect(identifier?.bytes == part)
        }
    }

    @Test func identifiersAreOrderedAsTheirBytes() {
        var generator = SplitMix64(seed: 3)
        for _ in 0..<500 {
            // Few different bytes, so that identifiers differ late or not at all.
            let left = (0..<16).map { _ in UInt8(generator.below(2) * 0x80) }
            let right = generator.oneIn(4) ? left : (0..<16).map { _ in UInt8(generator.below(2) * 0x80) }
            guard let one = identifier(left), let other = identifier(right) else {
                Issue.record("16 bytes are no identifier")
                return
            }
            #expect((one < other) == left.lexicographicallyPrecedes(right))
            #expect((one == other) == (left == right))
            #expect((one == other) == (one.hashValue == other.hashValue) || one != other)
        }
    }

    @Test func anIdentifierIsShownInHexadecimal() {
        let identifier = Identifier128(high: 0x000F_A000_0000_0001, low: 0xFF)
        #expect(identifier.description == "000fa0000000000100000000000000ff")
        #expect(identifier.shortDescription == "000f")
        #expect(Identifier128(high: 0, low: 0).description == String(repeating: "0", count: 32))
    }
}
