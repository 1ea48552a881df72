/// A QR code of bytes, as ISO/IEC 18004 describes it: byte mode, error correction level M, versions 1 to 20.
package struct QRCode: Equatable, Sendable {
    /// The most bytes that fit.
    package static let byteCountMax = QRVersion(number: QRVersion.numberMax).byteCountMax

    /// The number of modules of a side, without the quiet zone around.
    package let size: Int
    /// The rows of modules, from the top; true is dark.
    let modules: [[Bool]]

    /// Encodes a text as UTF-8, in the smallest version that holds it.
    ///
    /// - parameter mask: The mask, from 0 to 7; nil for the one that is read best.
    /// - returns: nil for a text that is too long.
    package init?(_ text: String, mask: Int? = nil) {
        let bytes = Array(text.utf8)
        let versions = (1...QRVersion.numberMax).lazy.map(QRVersion.init)
        guard let version = versions.first(where: { $0.byteCountMax >= bytes.count }) else { return nil }
        let codewords = version.interleaved(Self.dataCodewords(bytes, version))
        var matrix = QRMatrix(version)
        matrix.placeCodewords(codewords)
        let masked = (0..<8).filter { mask == nil || $0 == mask }.map { matrix.masked($0) }
        guard let best = masked.min(by: { $0.penalty < $1.penalty }) else { return nil }
        size = version.size
        modules = best.modules
    }

    /// Mode, length, bytes and padding.
    private static func dataCodewords(_ bytes: [UInt8], _ version: QRVersion) -> [UInt8] {
        var bits = BitWriter()
        bits.append(0b0100, count: 4)
        bits.append(bytes.count, count: version.lengthBitCount)
        for byte in bytes { bits.append(Int(byte), count: 8) }
        let capacity = version.dataCodewordCount * 8
        bits.append(0, count: min(4, capacity - bits.count))
        bits.append(0, count: (8 - bits.count % 8) % 8)
        var codewords = bits.bytes
        var padding: UInt8 = 0xEC
        while codewords.count < version.dataCodewordCount {
            codewords.append(padding)
            padding = padding == 0xEC ? 0x11 : 0xEC
        }
        return codewords
    }

    /// Bits that become bytes, the first one the highest.
    private struct BitWriter {
        private(set) var bytes: [UInt8] = []
        private(set) var count = 0

        mutating func append(_ value: Int, count: Int) {
            for shift in stride(from: count - 1, through: 0, by: -1) {
                if self.count % 8 == 0 { bytes.append(0) }
                if value >> shift & 1 == 1 { bytes[self.count / 8] |= 0x80 >> UInt8(self.count % 8) }
                self.count += 1
            }
        }
    }
}
