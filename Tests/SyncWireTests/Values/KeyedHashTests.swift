import SyncWire
import TestSupport
import Testing

@Suite(.anyEngine) struct KeyedHashTests {
    private func hash(_ words: [UInt64]) -> [UInt64] {
        var hash = KeyedHash(key: (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908))
        for word in words { hash.add(word) }
        let (first, second) = hash.finish()
        return [first.byteSwapped, second.byteSwapped]
    }

    /// The vectors of the reference implementation for messages of 0 and 8 bytes.
    @Test func itIsSipHashOf128Bits() {
        #expect(hash([]) == [0xa381_7f04_ba25_a8e6, 0x6df6_7214_c755_0293])
        #expect(hash([0x0706_0504_0302_0100]) == [0x3b62_a9ba_6258_f561, 0x0f83_e264_f314_97b4])
    }

    private func sum(_ bytes: [UInt8], tag: UInt8 = 3) -> [UInt64] {
        var hash = KeyedHash(key: (1, 2))
        bytes.withUnsafeBytes { hash.add($0, tag: tag) }
        let (first, second) = hash.finish()
        return [first, second]
    }

    @Test func bytesOfAnotherLengthOrTagHaveAnotherHash() {
        let inputs: [[UInt8]] = [
            [], [0], [0, 0], [0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0], Array(repeating: 0, count: 9),
            [1],
        ]
        var seen = Set(inputs.map { sum($0) })
        #expect(seen.count == inputs.count)
        seen.formUnion(inputs.map { sum($0, tag: 4) })
        #expect(seen.count == 2 * inputs.count)
    }

    @Test func sumsDoNotDependOnTheOrderAndMembersCanBeTakenOut() {
        let hasher = StateHasher(store: Identifier128(high: 1, low: 2))
        func row(_ number: UInt8) -> DigestSum {
            Array(repeating: number, count: 16).withUnsafeBytes {
                hasher.row($0, isText: false, life: 1, timestamp: 5, replica: Identifier128(high: 3, low: 4))
            }
        }
        var forward = DigestSum()
        var backward = DigestSum()
        for number in 0..<UInt8(20) { forward += row(number) }
        for number in (0..<UInt8(20)).reversed() { backward += row(number) }
        #expect(forward == backward)
        forward -= row(7)
        #expect(forward != backward && forward.count == 19)
        forward += row(7)
        #expect(forward == backward)
        for number in 0..<UInt8(20) { forward -= row(number) }
        #expect(forward.isZero)
    }

    @Test func anotherDatabaseHasOtherHashes() {
        let sums = [UInt64(1), 2].map { low in
            Array(repeating: UInt8(9), count: 16).withUnsafeBytes {
                StateHasher(store: Identifier128(high: 0, low: low)).row(
                    $0, isText: false, life: 1, timestamp: 5, replica: Identifier128(high: 3, low: 4))
            }
        }
        #expect(sums[0] != sums[1])
    }

    @Test func typesOfValuesDiffer() {
        let hasher = StateHasher(store: Identifier128(high: 1, low: 2))
        let key = Array(repeating: UInt8(1), count: 16)
        let one = Array("1".utf8)
        let sums = key.withUnsafeBytes { key in
            one.withUnsafeBytes { one in
                [
                    WireValue.null, .integer(1), .real(1), .text(one), .blob(one), .integer(0), .real(-0.0),
                    .real(0),
                ]
                .map { hasher.value(key, isText: false, column: 1, $0) }
            }
        }
        #expect(Set(sums).count == sums.count)
    }
}
