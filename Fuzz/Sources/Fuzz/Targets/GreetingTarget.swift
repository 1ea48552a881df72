import Foundation

@testable import SyncWire

extension FuzzTarget {
    /// What a replica says of itself before anything else is known of it. The first byte says
    /// whether the length of the frame is made right, and which limits there are.
    static let greeting = FuzzTarget(
        name: "greeting", run: GreetingFuzzing.run, seeds: GreetingFuzzing.seeds,
        words: [
            [Greeting.frameType], Array("CSHI".utf8) + [1], [1, 0], [2, 0], [3, 0], [4, 0], [5, 16],
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
        ])
}

private enum GreetingFuzzing {
    static func run(_ input: [UInt8]) throws {
        guard let mode = input.first else { return }
        var frame = Array(input.dropFirst())
        if mode & 1 == 1, frame.count >= Frame.prefixByteCount {
            let length = UInt32(frame.count - Frame.prefixByteCount)
            withUnsafeBytes(of: length.littleEndian) { frame.replaceSubrange(1..<5, with: $0) }
        }
        guard let greeting = read(frame, limits: mode & 2 == 0 ? WireLimits() : small) else { return }
        // Unknown sections are left out, and the rest is written in one way and read as the same.
        let again = greeting.encode()
        guard let second = read(again, limits: WireLimits()) else {
            fatalError("broken promise: what was read can be written and read again")
        }
        require(second == greeting, "what was read again is the same")
        require(second.encode() == again, "there is one way to write it")
    }

    private static var small: WireLimits {
        var limits = WireLimits()
        limits.headerByteCountMax = 400
        limits.replicaCountMax = 4
        limits.sectionCountMax = 5
        limits.chainPointCountMax = 6
        return limits
    }

    private static func read(_ frame: [UInt8], limits: WireLimits) -> Greeting? {
        frame.withUnsafeBytes { bytes in
            // The only error that its reader has is of this type.
            try? Greeting(frame: bytes, limits: limits)
        }
    }

    static func seeds(_ schemas: String) throws -> [[UInt8]] {
        try SeedCorpus.hexadecimal(schemas + "/wire/vectors/greetings.json", key: "frame").flatMap { frame in
            (0...3 as ClosedRange<UInt8>).map { [$0] + frame }
        }
    }
}
