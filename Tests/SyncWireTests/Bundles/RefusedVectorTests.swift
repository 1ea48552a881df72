import TestSupport
import Testing

@testable import SyncWire

/// The vectors of streams that are refused, and the rules that make more of them.
@Suite(.anyEngine) struct RefusedVectorTests {
    private struct RefusedVector: Decodable {
        let name: String
        let error: String
        let frame: Int
        let frames: [VectorBytes]
    }

    /// What a stream comes to: the error's code and frame, or what it holds.
    private func refusal(_ frames: [[UInt8]], limits: WireLimits = WireLimits()) throws -> Refusal? {
        do {
            _ = try BundleContent.reading(frames, limits: limits)
            return nil
        } catch let refusal as Refusal {
            return refusal
        }
    }

    @Test func eachVectorIsRefusedAtItsFrameWithItsError() throws {
        for vector in try VectorFile<RefusedVector>.load("refused") {
            let refusal = try refusal(vector.frames.map(\.bytes))
            let found = refusal?.description ?? "accepted"
            #expect(refusal?.error?.code.rawValue == vector.error, "\(vector.name): \(found)")
            #expect(refusal?.frame == vector.frame, "\(vector.name)")
        }
    }

    @Test func aFlippedBitIsNoticed() throws {
        for vector in try BundleVector.all() {
            let frames = vector.frameBytes
            for index in frames.indices {
                // A step without a common factor with 8 comes to each bit of a byte.
                for bit in Campaign.every(7, of: 0..<(frames[index].count * 8)) {
                    var damaged = frames
                    damaged[index][bit / 8] ^= 1 << UInt8(bit % 8)
                    let refusal = try refusal(damaged, limits: vector.limits)
                    #expect(refusal?.error != nil, "\(vector.name), frame \(index), bit \(bit)")
                }
            }
        }
    }

    @Test func aStreamThatIsCutIsTruncatedOrHasNoEnd() throws {
        for vector in try BundleVector.all() {
            let stream = vector.frameBytes.flatMap { $0 }
            var ends: Set<Int> = [0]
            for frame in vector.frameBytes { ends.insert((ends.max() ?? 0) + frame.count) }
            for length in 0..<stream.count {
                var frames: [[UInt8]] = []
                var code: WireError.Code?
                do {
                    try stream.withUnsafeBytes { bytes in
                        let part = UnsafeRawBufferPointer(rebasing: bytes[..<length])
                        try Frame.forEach(in: part) { frames.append(Array($0)) }
                    }
                } catch let error as WireError {
                    code = error.code
                }
                #expect(code == (ends.contains(length) ? nil : .truncated), "\(vector.name), \(length) bytes")
                let refusal = try refusal(frames, limits: vector.limits)
                #expect(refusal != nil && refusal?.error == nil, "\(vector.name), \(length) bytes")
            }
        }
    }

    @Test func aFrameThatIsCutIsRefused() throws {
        for vector in try BundleVector.all() {
            for (index, frame) in vector.frameBytes.enumerated() {
                for length in 0..<frame.count {
                    var frames = vector.frameBytes
                    frames[index] = Array(frame[..<length])
                    let refusal = try refusal(frames, limits: vector.limits)
                    #expect(refusal?.error?.code == .truncated, "\(vector.name), frame \(index), \(length)")
                    #expect(refusal?.frame == index)
                }
            }
        }
    }

    @Test func aHeaderWhoseContentIsCutIsTruncated() throws {
        for vector in try BundleVector.all() {
            let payload = vector.frameBytes[0].dropFirst(Frame.prefixByteCount)
            for length in 0..<payload.count {
                let refusal = try refusal([FrameForge.frame(1, Array(payload.prefix(length)))])
                #expect(refusal?.error?.code == .truncated, "\(vector.name), \(length) bytes")
            }
        }
    }

    @Test func aFrameThatIsLeftOutIsNoticed() throws {
        for vector in try BundleVector.all() {
            for index in vector.frameBytes.indices {
                var frames = vector.frameBytes
                frames.remove(at: index)
                #expect(try refusal(frames, limits: vector.limits) != nil, "\(vector.name), frame \(index)")
            }
        }
    }

    @Test func framesInAnotherOrderAreNoticed() throws {
        for vector in try BundleVector.all() {
            for index in vector.frameBytes.indices.dropLast() {
                var frames = vector.frameBytes
                frames.swapAt(index, index + 1)
                let refusal = try refusal(frames, limits: vector.limits)
                #expect(refusal?.error != nil, "\(vector.name), frame \(index)")
            }
        }
    }
}
