/// The modules of a QR code while it is being made.
struct QRMatrix {
    private let version: QRVersion
    private(set) var modules: [[Bool]]
    /// Modules of patterns and format, which no mask changes.
    private var isFixed: [[Bool]]

    private var size: Int { version.size }

    /// Draws the patterns, and keeps the place of the format.
    init(_ version: QRVersion) {
        self.version = version
        let empty = [[Bool]](
            repeating: [Bool](repeating: false, count: version.size), count: version.size)
        (modules, isFixed) = (empty, empty)
        for index in 0..<size {
            set(6, index, index % 2 == 0)
            set(index, 6, index % 2 == 0)
        }
        for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] { drawFinder(row, column) }
        let positions = version.alignmentPositions
        for row in positions {
            for column in positions where !isAtFinder(row, column) { drawAlignment(row, column) }
        }
        drawFormat(mask: 0)
        drawVersion()
    }

    private mutating func set(_ row: Int, _ column: Int, _ isDark: Bool) {
        modules[row][column] = isDark
        isFixed[row][column] = true
    }

    // MARK: Patterns

    private mutating func drawFinder(_ row: Int, _ column: Int) {
        for y in -4...4 {
            for x in -4...4 {
                guard modules.indices.contains(row + y), modules.indices.contains(column + x) else {
                    continue
                }
                let distance = max(abs(x), abs(y))
                set(row + y, column + x, distance != 2 && distance != 4)
            }
        }
    }

    private func isAtFinder(_ row: Int, _ column: Int) -> Bool {
        let (first, last) = (6, size - 7)
        return (row == first && (column == first || column == last)) || (row == last && column == first)
    }

    private mutating func drawAlignment(_ row: Int, _ column: Int) {
        for y in -2...2 {
            for x in -2...2 { set(row + y, column + x, max(abs(x), abs(y)) != 1) }
        }
    }

    /// The level, M, and the mask, with their error correction, twice.
    private mutating func drawFormat(mask: Int) {
        var remainder = mask
        for _ in 0..<10 { remainder = remainder << 1 ^ (remainder >> 9) * 0x537 }
        let bits = (mask << 10 | remainder) ^ 0x5412
        func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
        for index in 0...5 { set(index, 8, bit(index)) }
        set(7, 8, bit(6))
        set(8, 8, bit(7))
        set(8, 7, bit(8))
        for index in 9..<15 { set(8, 14 - index, bit(index)) }
        for index in 0..<8 { set(8, size - 1 - index, bit(index)) }
        for index in 8..<15 { set(size - 15 + index, 8, bit(index)) }
        set(size - 8, 8, true)
    }

    /// The version, which large codes say twice.
    private mutating func drawVersion() {
        guard version.number >= 7 else { return }
        var remainder = version.number
        for _ in 0..<12 { remainder = remainder << 1 ^ (remainder >> 11) * 0x1F25 }
        let bits = version.number << 12 | remainder
        for index in 0..<18 {
            let isDark = bits >> index & 1 == 1
            let (long, short) = (index / 3, size - 11 + index % 3)
            set(long, short, isDark)
            set(short, long, isDark)
        }
    }

    // MARK: Data

    /// Fills the free modules, in columns of two from the right, upwards and downwards in turn.
    mutating func placeCodewords(_ codewords: [UInt8]) {
        var index = 0
        var isUpward = true
        for right in stride(from: size - 1, to: 0, by: -2) {
            // The column of the timing pattern is left out.
            let right = right <= 6 ? right - 1 : right
            for step in 0..<size {
                let row = isUpward ? size - 1 - step : step
                for column in [right, right - 1] where !isFixed[row][column] && index < codewords.count * 8 {
                    modules[row][column] = codewords[index / 8] >> UInt8(7 - index % 8) & 1 == 1
                    index += 1
                }
            }
            isUpward.toggle()
        }
    }

    /// The matrix under a mask.
    func masked(_ mask: Int) -> QRMatrix {
        var matrix = self
        for row in 0..<size {
            for column in 0..<size where !isFixed[row][column] && Self.inverts(mask, row, column) {
                matrix.modules[row][column].toggle()
            }
        }
        matrix.drawFormat(mask: mask)
        return matrix
    }

    private static func inverts(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
        let product = row * column
        return switch mask {
        case 0: (row + column) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (row + column) % 3 == 0
        case 4: (row / 2 + column / 3) % 2 == 0
        case 5: product % 2 + product % 3 == 0
        case 6: (product % 2 + product % 3) % 2 == 0
        default: ((row + column) % 2 + product % 3) % 2 == 0
        }
    }
}

/// What makes a code hard to read, by the rules of the standard: of the masks, the one with the least is taken.
extension QRMatrix {
    var penalty: Int {
        let columns = modules.indices.map { column in modules.map { $0[column] } }
        let lines = (modules + columns).reduce(0) { $0 + Self.penalty(of: $1) }
        return lines + penaltyOfSquares + penaltyOfBalance
    }

    /// Runs of one colour, and what looks like a finder pattern.
    private static func penalty(of line: [Bool]) -> Int {
        var (penalty, run) = (0, 0)
        for index in line.indices {
            run = index > 0 && line[index] == line[index - 1] ? run + 1 : 1
            if run == 5 { penalty += 3 } else if run > 5 { penalty += 1 }
        }
        let finder = [true, false, true, true, true, false, true]
        for start in 0...(line.count - finder.count) where Array(line[start..<start + 7]) == finder {
            // Outside is light.
            let before = line[max(0, start - 4)..<start]
            let after = line[(start + 7)..<min(line.count, start + 11)]
            if !before.contains(true) || !after.contains(true) { penalty += 40 }
        }
        return penalty
    }

    private var penaltyOfSquares: Int {
        var penalty = 0
        for row in 0..<modules.count - 1 {
            for column in 0..<modules.count - 1 {
                let color = modules[row][column]
                let isSquare =
                    modules[row][column + 1] == color && modules[row + 1][column] == color
                    && modules[row + 1][column + 1] == color
                if isSquare { penalty += 3 }
            }
        }
        return penalty
    }

    private var penaltyOfBalance: Int {
        let dark = modules.joined().reduce(0) { $0 + ($1 ? 1 : 0) }
        let total = modules.count * modules.count
        return abs(dark * 20 - total * 10) / total * 10
    }
}
