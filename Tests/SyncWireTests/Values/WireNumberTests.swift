import TestSupport
import Testing

@testable import SyncWire

/// Numbers of variable length.
@Suite(.anyEngine) struct WireNumberTests {
    private struct NumberVector: Decodable {
        let unsigned: VectorNumber<UInt64>?
        let signed: VectorNumber<Int64>?
        let error: String?
        let hex: VectorBytes
    }

    private func written(_ write: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        write(&writer)
        return Array(writer.bytes)
    }

    private func read<Value>(
        _ bytes: [UInt8], _ read: (inout WireReader) throws -> Value
    ) throws -> Value {
        try bytes.withUnsafeBytes { buffer in
            var reader = WireReader(buffer)
            let value = try read(&reader)
            #expect(reader.isAtEnd)
            #expect(reader.position == bytes.count)
            #expect(reader.remaining == 0)
            return value
        }
    }

    @Test func aNumberIsWrittenAndReadAsItsVectorSays() throws {
        for vector in try VectorFile<NumberVector>.load("numbers") {
            if let number = vector.unsigned?.value {
                #expect(written { $0.unsigned(number) } == vector.hex.bytes, "\(number)")
                #expect(try read(vector.hex.bytes) { try $0.unsigned() } == number)
            }
            if let number = vector.signed?.value {
                #expect(written { $0.signed(number) } == vector.hex.bytes, "\(number)")
                #expect(try read(vector.hex.bytes) { try $0.signed() } == number)
            }
        }
    }

    @Test func aNumberThatIsCutTooLongOrTooGreatIsRefused() throws {
        let vectors = try VectorFile<NumberVector>.load("numbers").filter { $0.error != nil }
        #expect(!vectors.isEmpty)
        for vector in vectors {
            let error = #expect(throws: WireError.self) { try read(vector.hex.bytes) { try $0.unsigned() } }
            #expect(error?.code.rawValue == vector.error, "\(Hexadecimal.text(vector.hex.bytes))")
        }
    }

    @Test func everyNumberSurvives() throws {
        var generator = SplitMix64(seed: 1)
        for _ in 0..<5_000 {
            let number = generator.next() >> UInt64(generator.below(64))
            #expect(try read(written { $0.unsigned(number) }) { try $0.unsigned() } == number)
            let signed = Int64(bitPattern: generator.next()) >> Int64(generator.below(64))
            #expect(try read(written { $0.signed(signed) }) { try $0.signed() } == signed)
            let fixed = UInt32(truncatingIfNeeded: number)
            #expect(try read(written { $0.fixed32(fixed) }) { try $0.fixed32() } == fixed)
        }
    }

    @Test func aNumberHasOneForm() throws {
        var generator = SplitMix64(seed: 2)
        var acceptedCount = 0
        for _ in 0..<5_000 {
            // All bytes but the last announce another.
            var bytes = generator.bytes(1 + generator.below(11)).map { $0 | 0x80 }
            bytes[bytes.count - 1] &= generator.oneIn(4) ? 0 : 0x7F
            guard let number = try? read(bytes, { try $0.unsigned() }) else { continue }
            acceptedCount += 1
            #expect(written { $0.unsigned(number) } == bytes)
        }
        #expect(acceptedCount > 100)
    }

    @Test func aFixedNumberHasItsLowestByteFirst() {
        #expect(written { $0.fixed32(0x0102_0304) } == [4, 3, 2, 1])
    }

    @Test func aCountIsHeldAgainstItsLimit() throws {
        #expect(try read([5]) { try $0.count(upTo: 5, "things") } == 5)
        let error = #expect(throws: WireError.self) { try read([6]) { try $0.count(upTo: 5, "things") } }
        #expect(error == WireError(.tooLarge, "things: 6 is over the limit of 5"))
        #expect(error?.description == "tooLarge bundle: things: 6 is over the limit of 5")
    }

    @Test func anIndexIsBelowTheCount() throws {
        #expect(try read([4]) { try $0.index(below: 5, "table") } == 4)
        let error = #expect(throws: WireError.self) { try read([5]) { try $0.index(below: 5, "table") } }
        #expect(error == WireError(.malformed, "table 5 does not exist"))
    }

    @Test func theWriterForgetsItsFirstBytes() {
        var writer = WireWriter(capacity: 0)
        writer.raw(Array(0..<100))
        writer.removeFirst(98)
        writer.byte(7)
        #expect(Array(writer.bytes) == [98, 99, 7])
        writer.removeAll()
        #expect(writer.bytes.isEmpty)
    }
}
