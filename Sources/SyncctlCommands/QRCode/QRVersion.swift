/// The sizes of QR codes at error correction level M.
struct QRVersion: Equatable {
    /// The largest version that is made: more modules than a terminal has rows for.
    static let numberMax = 20

    /// The version: 1 is the smallest.
    let number: Int

    /// For each version, the codewords of error correction of a block, and the number of blocks.
    private static let blocks = [
        (10, 1), (16, 1), (26, 1), (18, 2), (24, 2), (16, 4), (18, 4), (22, 4), (22, 5), (26, 5),
        (30, 5), (22, 8), (22, 9), (24, 9), (24, 10), (28, 10), (28, 11), (26, 13), (26, 14), (26, 16),
    ]

    /// The number of modules of a side.
    var size: Int { 17 + 4 * number }

    /// The bits that say how many bytes there are.
    var lengthBitCount: Int { number < 10 ? 8 : 16 }

    /// The bytes that fit.
    var byteCountMax: Int { dataCodewordCount - (4 + lengthBitCount + 7) / 8 }

    /// The codewords of data.
    var dataCodewordCount: Int { codewordCount - correctionCount * blockCount }

    private var correctionCount: Int { Self.blocks[number - 1].0 }
    private var blockCount: Int { Self.blocks[number - 1].1 }

    /// All codewords: the modules that are neither patterns nor format, in bytes.
    var codewordCount: Int {
        var modules = (16 * number + 128) * number + 64
        if number >= 2 {
            let count = number / 7 + 2
            modules -= (25 * count - 10) * count - 55
        }
        if number >= 7 { modules -= 36 }
        return modules / 8
    }

    /// The rows and columns in which alignment patterns have their centres.
    var alignmentPositions: [Int] {
        guard number > 1 else { return [] }
        let count = number / 7 + 2
        let step = (number * 4 + count * 2 + 1) / (count * 2 - 2) * 2
        return [6] + (0..<count - 1).reversed().map { size - 7 - $0 * step }
    }

    /// Splits data into blocks, adds the error correction of each, and takes codewords of all blocks in turn.
    func interleaved(_ data: [UInt8]) -> [UInt8] {
        let shortCount = blockCount - codewordCount % blockCount
        let length = codewordCount / blockCount - correctionCount
        let divisor = GaloisField.generator(degree: correctionCount)
        var parts: [(data: [UInt8], correction: [UInt8])] = []
        var start = 0
        for index in 0..<blockCount {
            let end = start + length + (index < shortCount ? 0 : 1)
            let part = Array(data[start..<end])
            parts.append((part, GaloisField.remainder(of: part, by: divisor)))
            start = end
        }
        var result: [UInt8] = []
        for index in 0...length {
            for part in parts where index < part.data.count { result.append(part.data[index]) }
        }
        for index in 0..<correctionCount {
            for part in parts { result.append(part.correction[index]) }
        }
        return result
    }
}

/// Arithmetic with bytes as polynomials modulo x⁸ + x⁴ + x³ + x² + 1, and the Reed–Solomon code over them.
enum GaloisField {
    private static func product(_ a: UInt8, _ b: UInt8) -> UInt8 {
        var result = 0
        for shift in stride(from: 7, through: 0, by: -1) {
            result = result << 1 ^ (result >> 7) * 0x11D
            result ^= Int(b >> UInt8(shift) & 1) * Int(a)
        }
        return UInt8(truncatingIfNeeded: result)
    }

    /// The polynomial whose roots are the first powers of 2, without its first coefficient, which is 1.
    static func generator(degree: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: degree - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in result.indices {
                result[index] = product(result[index], root)
                if index + 1 < degree { result[index] ^= result[index + 1] }
            }
            root = product(root, 2)
        }
        return result
    }

    /// The remainder of a division, which corrects errors.
    static func remainder(of data: [UInt8], by divisor: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: divisor.count)
        for byte in data {
            let factor = byte ^ result.removeFirst()
            result.append(0)
            for index in result.indices { result[index] ^= product(divisor[index], factor) }
        }
        return result
    }
}
