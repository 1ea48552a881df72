import SyncWire

/// The frames of the bundle in a spool, one by one, while it may still be written.
struct SpoolFrames {
    private let spool: ByteSpool
    private var offset: Int64 = 0
    private var assembler = FrameAssembler()
    /// Those that were cut out already, the next one last.
    private var frames: [[UInt8]] = []

    init(_ spool: ByteSpool) { self.spool = spool }

    /// Waits for the next frame.
    ///
    /// - returns: nil at the end.
    /// - throws: `WireError` when the last one is not whole; the failure of the spool.
    mutating func next() throws -> [UInt8]? {
        while frames.isEmpty {
            let piece = try spool.read(from: offset)
            guard !piece.isEmpty else {
                try assembler.finish()
                return nil
            }
            offset += Int64(piece.count)
            try piece.withUnsafeBytes { bytes in
                try assembler.append(bytes) { frames.append(Array($0)) }
            }
            frames.reverse()
        }
        return frames.popLast()
    }
}

extension ByteSpool {
    /// What takes the frames of one bundle into the spool.
    ///
    /// - parameter isCompressed: Whether they are compressed before.
    func sink(isCompressed: Bool) throws -> (UnsafeRawBufferPointer) throws -> Void {
        guard isCompressed else { return { try self.append($0) } }
        let compressor = try FrameCompressor()
        return { try compressor.compress($0, to: self.append) }
    }

    /// Hands out all bytes in order.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var offset: Int64 = 0
        while true {
            let piece = try read(from: offset)
            guard !piece.isEmpty else { return }
            try piece.withUnsafeBytes { try body($0) }
            offset += Int64(piece.count)
        }
    }

    /// Hands out the frames of the bundle that it has.
    ///
    /// - throws: `WireError` when the last one is not whole, or what `body` throws.
    func forEachFrame(_ body: @escaping (UnsafeRawBufferPointer) throws -> Void) throws {
        var assembler = FrameAssembler()
        try forEachPiece { try assembler.append($0, onFrame: body) }
        try assembler.finish()
    }
}
