/// A set of small numbers, as bits. What was not written is not in it.
struct BitRow: Hashable, Sendable {
    private(set) var words: [UInt64] = []

    /// Whether a number is in the set.
    func contains(_ number: Int) -> Bool {
        let word = number >> 6
        return word < words.count && words[word] >> UInt64(number & 63) & 1 == 1
    }

    var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

    mutating func insert(_ number: Int) {
        let word = number >> 6
        while words.count <= word { words.append(0) }
        words[word] |= 1 << UInt64(number & 63)
    }

    mutating func formUnion(_ other: BitRow) {
        if words.isEmpty {
            words = other.words
            return
        }
        while words.count < other.words.count { words.append(0) }
        for index in other.words.indices { words[index] |= other.words[index] }
    }

    /// Whether a number is in both sets.
    func intersects(_ other: BitRow) -> Bool {
        for index in 0..<min(words.count, other.words.count) where words[index] & other.words[index] != 0 {
            return true
        }
        return false
    }

    /// Whether a number is in this set and another one, and not in a third. The last numbers are looked at
    /// first.
    func intersects(_ other: BitRow, outside known: BitRow) -> Bool {
        var index = min(words.count, other.words.count)
        while index > 0 {
            index -= 1
            let outside = index < known.words.count ? ~known.words[index] : ~0
            if words[index] & other.words[index] & outside != 0 { return true }
        }
        return false
    }

    func isSubset(of other: BitRow) -> Bool {
        for index in words.indices {
            let there = index < other.words.count ? other.words[index] : 0
            if words[index] & ~there != 0 { return false }
        }
        return true
    }

    /// Calls for each number, in ascending order.
    func visit(_ body: (Int) -> Void) {
        for index in words.indices {
            var word = words[index]
            while word != 0 {
                body(index << 6 + word.trailingZeroBitCount)
                word &= word - 1
            }
        }
    }

    /// The numbers in ascending order.
    var numbers: [Int] {
        var numbers: [Int] = []
        visit { numbers.append($0) }
        return numbers
    }
}
