/// Cuts frames out of a byte stream that comes in pieces, such as a file's.
///
/// No more than one frame is held at a time, and an announced length is checked before memory is
/// allocated for it.
public struct FrameAssembler {
    private let limits: WireLimits
    private var pending: [UInt8] = []

    /// Makes an assembler.
    public init(limits: WireLimits = WireLimits()) { self.limits = limits }

    /// Takes the next bytes of the stream.
    ///
    /// - parameter bytes: What came.
    /// - parameter onFrame: Called with each frame that is complete. Its bytes are valid during the call.
    /// - throws: ``WireError``, or what the closure throws.
    public mutating func append(
        _ bytes: UnsafeRawBufferPointer, onFrame: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var rest = bytes
        if !pending.isEmpty {
            while let missing = try missingByteCount(pending.withUnsafeBytes { $0 }), missing > 0 {
                guard !rest.isEmpty else { return }
                let part = rest.prefix(missing)
                pending.append(contentsOf: part)
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
            }
            try pending.withUnsafeBytes { try onFrame($0) }
            pending.removeAll(keepingCapacity: true)
        }
        while !rest.isEmpty {
            let count = try frameByteCount(rest)
            guard let count, count <= rest.count else { break }
            try onFrame(UnsafeRawBufferPointer(rebasing: rest.prefix(count)))
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
        pending.append(contentsOf: rest)
    }

    /// Ends the stream.
    ///
    /// - throws: ``WireError`` of code `truncated` when it ends inside of a frame.
    public func finish() throws {
        guard pending.isEmpty else { throw WireError(.truncated, "the stream ends inside of a frame") }
    }

    /// How many bytes are missing to the end of a frame, or of its prefix.
    private func missingByteCount(_ bytes: UnsafeRawBufferPointer) throws -> Int? {
        try (frameByteCount(bytes) ?? Frame.prefixByteCount) - bytes.count
    }

    /// The size of the frame that begins here; nil when its prefix is not complete.
    private func frameByteCount(_ bytes: UnsafeRawBufferPointer) throws -> Int? {
        guard bytes.count >= Frame.prefixByteCount else { return nil }
        var reader = WireReader(bytes)
        let type = try reader.byte()
        let length = Int(try reader.fixed32())
        guard let kind = Frame.Kind(rawValue: type) else {
            throw WireError(.unsupported, "frame type \(type)")
        }
        let most =
            switch kind {
            case .bundle: limits.headerByteCountMax
            case .chunk: ChunkLayout.prefixByteCount + limits.chunkByteCountMax
            case .end: BundleHash.byteCount + 20
            }
        guard length <= most else { throw WireError(.tooLarge, "a frame announces \(length) bytes") }
        return Frame.prefixByteCount + length
    }
}
