import Foundation

/// How much a sealed file is made longer than what it holds, so that its size says less about that.
///
/// Whoever sees the files sees their sizes, and the size of a small change is that of the text that somebody typed.
public enum SealedFilePadding: Equatable, Sendable {
    /// Nothing is added.
    case none
    /// The content becomes as long as the next Padmé number, and a multiple of 256 bytes: at most 256 bytes, or a
    /// sixteenth, are added. A size of `n` bits then tells its first `log n` bits instead of all.
    ///
    /// Source: Nikitin, Barman, Lueks, Underwood, Hubaux and Ford, "Reducing Metadata Leakage from Encrypted Files and
    /// Communication with PURBs" (2019), section 4.2.
    case padme

    /// Begins the padding. Zeros follow.
    static let mark: UInt8 = 0x80
    /// Small files are rounded up to it, where Padmé would tell nearly all of their size.
    private static let byteCountMin = 256

    /// The size of a content with its padding, at least one byte more than without; nil when there is no padding.
    func paddedByteCount(for count: Int) -> Int? {
        guard self == .padme else { return nil }
        let least = count + 1
        let exponent = Int.bitWidth - 1 - least.leadingZeroBitCount
        // As many bits as the exponent takes stay as they are, and those below become zero.
        let keptBitCount = Int.bitWidth - exponent.leadingZeroBitCount
        let step = max(Self.byteCountMin, 1 << max(0, exponent - keptBitCount))
        return (least + step - 1) / step * step
    }

    /// The size of the padding, at least one byte; nil when there is none.
    func paddingByteCount(for count: Int) -> Int? { paddedByteCount(for: count).map { $0 - count } }
}

/// Takes the padding off the end of a content that comes in pieces.
///
/// What looks like padding is content when something else follows. It is held back as a number, whatever its size is:
/// a file of zeros takes no memory.
struct UnpaddedContent {
    /// The zeros after a mark at the end of what came; nil when there is no mark before them.
    private var heldZeroCount: Int?
    /// What is handed out, before the rest of the piece: the former padding.
    private var isMarkDue = false
    private var dueZeroCount = 0
    private var piece = Data()

    /// Whether the padding was all that is left.
    var isAtEnd: Bool { heldZeroCount != nil }

    /// Takes a piece. ``next()`` has to have returned nil before.
    mutating func append(_ data: Data) {
        guard let last = data.lastIndex(where: { $0 != 0 }) else {
            if let count = heldZeroCount { heldZeroCount = count + data.count } else { piece = data }
            return
        }
        if let count = heldZeroCount { (isMarkDue, dueZeroCount) = (true, count) }
        if data[last] == SealedFilePadding.mark {
            heldZeroCount = data.endIndex - last - 1
            piece = data[..<last]
        } else {
            heldZeroCount = nil
            piece = data
        }
    }

    /// The next bytes of the content; nil when another piece has to come first.
    mutating func next() -> Data? {
        if isMarkDue {
            isMarkDue = false
            return Data([SealedFilePadding.mark])
        }
        if dueZeroCount > 0 {
            let count = min(dueZeroCount, ArchiveChunkCipher.chunkByteCount)
            dueZeroCount -= count
            return Data(count: count)
        }
        guard !piece.isEmpty else { return nil }
        defer { piece = Data() }
        return piece
    }
}
