/// A set of changes, by their numbers in the order in which they were made.
///
/// A vector can't stand for it where two files write under one identity: there, one number
/// names two changes.
struct ChangeSet: Equatable {
    private var words: [UInt64] = []

    func contains(_ number: Int) -> Bool {
        number >> 6 < words.count && words[number >> 6] >> UInt64(number & 63) & 1 == 1
    }

    mutating func insert(_ number: Int) {
        while words.count <= number >> 6 { words.append(0) }
        words[number >> 6] |= 1 << UInt64(number & 63)
    }

    mutating func remove(_ number: Int) {
        guard number >> 6 < words.count else { return }
        words[number >> 6] &= ~(1 << UInt64(number & 63))
    }

    mutating func formUnion(_ other: ChangeSet) {
        while words.count < other.words.count { words.append(0) }
        for index in other.words.indices { words[index] |= other.words[index] }
    }

    func subtracting(_ other: ChangeSet) -> ChangeSet {
        var result = self
        for index in 0..<min(words.count, other.words.count) { result.words[index] &= ~other.words[index] }
        return result
    }

    /// The numbers, in order.
    var numbers: [Int] {
        var numbers: [Int] = []
        for (index, word) in words.enumerated() {
            var rest = word
            while rest != 0 {
                numbers.append(index << 6 + rest.trailingZeroBitCount)
                rest &= rest - 1
            }
        }
        return numbers
    }
}
