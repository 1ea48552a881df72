@testable import SyncWire

/// Makes frames with right lengths and hashes around payloads that need not be right.
struct FrameForge {
    private var hash = BundleHash()
    private var chunkCount: UInt32 = 0
    private(set) var frames: [[UInt8]] = []

    static func frame(_ type: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let length = UInt32(payload.count)
        return [type] + (0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) } + payload
    }

    /// An unsigned number's bytes.
    static func unsigned(_ value: UInt64) -> [UInt8] {
        var writer = WireWriter()
        writer.unsigned(value)
        return Array(writer.bytes)
    }

    mutating func header(payload: [UInt8]) {
        payload.withUnsafeBytes { hash.addHeader($0) }
        frames.append(Self.frame(1, payload))
    }

    mutating func header(_ header: BundleHeader) {
        var writer = WireWriter()
        header.encode(to: &writer)
        self.header(payload: Array(writer.bytes))
    }

    mutating func chunk(_ body: [UInt8], flags: UInt8 = 0, codec: UInt8 = 0) {
        let number = (0..<4).map { UInt8(truncatingIfNeeded: chunkCount >> ($0 * 8)) }
        let prefix = number + [flags, codec]
        let digest = prefix.withUnsafeBytes { prefix in
            body.withUnsafeBytes { hash.addChunk(prefix: prefix, body: $0) }
        }
        frames.append(Self.frame(2, prefix + digest + body))
        chunkCount += 1
    }

    mutating func end(rowCount: UInt64) {
        frames.append(
            Self.frame(3, Self.unsigned(UInt64(chunkCount)) + Self.unsigned(rowCount) + hash.value))
    }

    /// Frames with payloads of others, whose lengths, numbers and hashes are made right again.
    static func repaired(_ frames: [[UInt8]]) -> [[UInt8]] {
        var forge = FrameForge()
        for frame in frames {
            let payload = Array(frame.dropFirst(Frame.prefixByteCount))
            switch frame.first {
            case 1:
                forge.header(payload: payload)
            case 2 where payload.count >= ChunkLayout.prefixByteCount:
                forge.chunk(
                    Array(payload[ChunkLayout.prefixByteCount...]), flags: payload[4], codec: payload[5])
            case 3 where payload.count > BundleHash.byteCount:
                let counts = payload.dropLast(BundleHash.byteCount)
                forge.frames.append(Self.frame(3, counts + forge.hash.value))
            default:
                forge.frames.append(frame)
            }
        }
        return forge.frames
    }
}
