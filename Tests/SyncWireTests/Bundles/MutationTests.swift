import TestSupport
import Testing

@testable import SyncWire

/// Bundles that were changed at random: whatever comes, a reader answers with a
/// bundle or with a ``WireError``, and never traps.
@Suite(.anyEngine) struct MutationTests {
    /// Changes some bytes of an array, preferring those that mean much.
    private func mutate(_ bytes: inout [UInt8], _ generator: inout SplitMix64) {
        let special: [UInt8] = [0, 1, 2, 0x7F, 0x80, 0x81, 0xFE, 0xFF]
        for _ in 0...generator.below(3) {
            let index = generator.below(bytes.count + 1)
            switch generator.below(6) {
            case 0 where index < bytes.count: bytes[index] ^= 1 << UInt8(generator.below(8))
            case 1 where index < bytes.count: bytes[index] = special[generator.below(special.count)]
            case 2 where index < bytes.count: bytes.remove(at: index)
            case 3: bytes.insert(special[generator.below(special.count)], at: index)
            case 4:
                let number = UInt64.max >> UInt64(generator.below(64))
                bytes.insert(contentsOf: FrameForge.unsigned(number), at: index)
            default:
                let end = min(bytes.count, index + generator.below(20))
                bytes.insert(contentsOf: bytes[index..<end], at: generator.below(bytes.count + 1))
            }
        }
    }

    private func outcome(_ frames: [[UInt8]]) throws -> (content: BundleContent?, code: WireError.Code?) {
        do {
            return (try BundleContent.reading(frames), nil)
        } catch let refusal as Refusal {
            return (nil, refusal.error?.code)
        }
    }

    private func seeds() throws -> [[[UInt8]]] {
        var seeds = try BundleVector.all().map(\.frameBytes).filter { $0.reduce(0) { $0 + $1.count } < 4_000 }
        for seed in 0..<10 as Range<UInt64> {
            var random = RandomBundle(seed: seed)
            random.rowCountMax = 6
            let frames = try random.content().frames()
            seeds += [frames, try frames.compressed()]
        }
        return seeds
    }

    @Test func aChangedBundleWhoseHashesAreNotRepairedIsRefused() throws {
        var generator = SplitMix64(seed: 8)
        let seeds = try seeds()
        for _ in 0..<3_000 {
            let original = seeds[generator.below(seeds.count)]
            var frames = original
            mutate(&frames[generator.below(frames.count)], &generator)
            #expect(try frames == original || outcome(frames).content == nil)
        }
    }

    @Test func aChangedBundleWhoseHashesAreRepairedDoesNoHarm() throws {
        var generator = SplitMix64(seed: 9)
        let seeds = try seeds()
        var counts: [String: Int] = [:]
        for _ in 0..<6_000 {
            var frames = seeds[generator.below(seeds.count)]
            mutate(&frames[generator.below(frames.count)], &generator)
            let outcome = try outcome(FrameForge.repaired(frames))
            counts[outcome.content == nil ? outcome.code?.rawValue ?? "no end" : "accepted", default: 0] += 1
            // What was accepted is a bundle like any other.
            if let content = outcome.content {
                #expect(try BundleContent.reading(content.frames()) == content)
            }
        }
        // Each way out was taken, or the mutations are too weak.
        for way in ["accepted", "truncated", "malformed", "tooLarge", "corrupted", "unsupported"] {
            #expect(counts[way, default: 0] > 20, "\(counts)")
        }
    }

    @Test func aChangedStreamDoesNoHarm() throws {
        var generator = SplitMix64(seed: 10)
        let seeds = try seeds()
        for _ in 0..<3_000 {
            let original = seeds[generator.below(seeds.count)]
            var stream = original.flatMap { $0 }
            mutate(&stream, &generator)
            var frames: [[UInt8]] = []
            do {
                try stream.withUnsafeBytes { try Frame.forEach(in: $0) { frames.append(Array($0)) } }
            } catch {
                #expect((error as? WireError)?.code == .truncated)
            }
            #expect(try frames == original || outcome(frames).content == nil)
        }
    }

    @Test func noiseDoesNoHarm() throws {
        var generator = SplitMix64(seed: 11)
        for _ in 0..<3_000 {
            var forge = FrameForge()
            if generator.oneIn(3) {
                forge.header(payload: Array("CSBN\u{1}".utf8) + generator.bytes(generator.below(200)))
            } else {
                forge.header(Sample.header())
            }
            // Rows whose flags and table are right get farther.
            let start: [UInt8] = generator.oneIn(2) ? [UInt8(generator.below(32)), 0] : []
            forge.chunk(start + generator.bytes(1 + generator.below(100)), flags: UInt8(generator.below(2)))
            forge.end(rowCount: UInt64(generator.below(3)))
            _ = try outcome(forge.frames)
        }
    }
}
