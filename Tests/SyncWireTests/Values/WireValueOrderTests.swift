import TestSupport
import Testing

@testable import SyncWire

/// The order of values, by which replicas agree on a winner.
@Suite(.anyEngine) struct WireValueOrderTests {
    private func compare(_ left: ValueContent, _ right: ValueContent) -> Int {
        left.withWireValue { left in right.withWireValue { left.compare($0).signum() } }
    }

    private func ascendingValues() throws -> [ValueContent] {
        try VectorFile<VectorValue>.load("order").map(\.content)
    }

    @Test func valuesAreOrderedAsTheVectorSays() throws {
        let values = try ascendingValues()
        for (left, one) in values.enumerated() {
            for (right, other) in values.enumerated() {
                #expect(compare(one, other) == (left - right).signum(), "\(one) and \(other)")
            }
        }
    }

    @Test func theOrderIsTotalOverAllEdges() throws {
        var values = try ascendingValues()
        values += [
            .real(bits: 0x7FF4_0000_0000_0000), .real(bits: 0xFFF4_0000_0000_0000), .text([0xC3, 0xA9, 0]),
        ]
        for x in values {
            for y in values {
                let order = compare(x, y)
                #expect(order == -compare(y, x), "\(x) and \(y)")
                #expect((order == 0) == (x == y), "\(x) and \(y)")
                guard order < 0 else { continue }
                for z in values where compare(y, z) < 0 {
                    #expect(compare(x, z) < 0, "\(x), \(y) and \(z)")
                }
            }
        }
    }

    @Test func numbersAreOrderedAsSwiftOrdersThemTotally() {
        var generator = SplitMix64(seed: 5)
        for _ in 0..<5_000 {
            // NaN, infinity and what is next to them one half of the time.
            let exponent: UInt64 = generator.oneIn(2) ? 0x7FF << 52 : 0
            let one = Double(bitPattern: generator.next() | exponent)
            // Close to the other one half of the time, so that late bits decide.
            let near = one.bitPattern ^ 1 << UInt64(generator.below(64))
            let other = Double(bitPattern: generator.oneIn(2) ? near : generator.next())
            let isOrdered = compare(.real(bits: one.bitPattern), .real(bits: other.bitPattern)) <= 0
            #expect(isOrdered == one.isTotallyOrdered(belowOrEqualTo: other), "\(one) and \(other)")
        }
    }

    @Test func bytesAreOrderedWithoutASign() {
        var generator = SplitMix64(seed: 6)
        for _ in 0..<2_000 {
            let one = generator.bytes(generator.below(6))
            let other = Array(one.prefix(generator.below(6))) + generator.bytes(generator.below(2))
            let isLess = one.lexicographicallyPrecedes(other)
            #expect((compare(.text(one), .text(other)) < 0) == isLess)
            #expect((compare(.blob(one), .blob(other)) < 0) == isLess)
        }
    }
}
