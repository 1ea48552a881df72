import TestSupport
import Testing

@testable import SyncWire

/// The vectors of bundles that are valid.
@Suite(.anyEngine) struct ValidVectorTests {
    private struct ValueVector: Decodable {
        let about: String
        let value: VectorValue
        let hex: VectorBytes
    }

    @Test func aBundleIsReadAsItsVectorSays() throws {
        for vector in try BundleVector.all() {
            let content = try BundleContent.reading(vector.frameBytes, limits: vector.limits)
            let expected = try vector.content()
            #expect(content.header == expected.header, "\(vector.name)")
            #expect(content.rows == expected.rows, "\(vector.name)")
        }
    }

    @Test func aBundleIsWrittenAsItsVectorSays() throws {
        for vector in try BundleVector.all() where vector.decodeOnly == nil {
            let frames = try vector.content().frames(limits: vector.limits, maskedRows: vector.maskedRows)
            #expect(frames == vector.frameBytes, "\(vector.name)")
        }
    }

    @Test func whatIsMarkedDecodeOnlyIsWrittenInOtherBytes() throws {
        let vectors = try BundleVector.all().filter { $0.decodeOnly != nil }
        #expect(!vectors.isEmpty)
        for vector in vectors {
            let frames = try vector.content().frames(limits: vector.limits)
            #expect(frames != vector.frameBytes, "\(vector.name)")
            #expect(try BundleContent.reading(frames) == vector.content(), "\(vector.name)")
        }
    }

    @Test func theFramesOfAStreamAreFound() throws {
        for vector in try BundleVector.all() {
            var frames: [[UInt8]] = []
            try vector.frameBytes.flatMap { $0 }.withUnsafeBytes { stream in
                try Frame.forEach(in: stream) { frames.append(Array($0)) }
            }
            #expect(frames == vector.frameBytes, "\(vector.name)")
        }
    }

    @Test func aValueIsWrittenAndReadAsItsVectorSays() throws {
        for vector in try VectorFile<ValueVector>.load("values") {
            var writer = WireWriter()
            vector.value.content.withWireValue { writer.value($0) }
            #expect(Array(writer.bytes) == vector.hex.bytes, "\(vector.about)")
            try vector.hex.bytes.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                let value = ValueContent(try reader.value())
                #expect(value == vector.value.content, "\(vector.about)")
                #expect(reader.isAtEnd, "\(vector.about)")
            }
        }
    }

    @Test func aValueThatIsCutIsRefused() throws {
        for vector in try VectorFile<ValueVector>.load("values") {
            for length in 0..<vector.hex.bytes.count {
                let cut = Array(vector.hex.bytes[..<length])
                #expect(throws: WireError.self, "\(vector.about), \(length) bytes") {
                    try cut.withUnsafeBytes { bytes in
                        var reader = WireReader(bytes)
                        _ = try reader.value()
                    }
                }
            }
        }
    }
}
