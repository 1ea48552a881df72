import Foundation

/// Finds the types of the columns of a file. A column is numeric only when the database gives back every value as
/// the text that it was; one other value makes it text, which keeps all characters as they are.
struct ColumnTypeInference {
    fileprivate struct Facts {
        var hasInteger = false, hasReal = false, hasText = false, hasBlob = false
        /// Whether a real has the value of an integer, as which a column of both would keep it.
        var hasIntegralReal = false
        /// Whether there was a text for an infinite number, which JSON cannot write.
        var hasInfinity = false
        var hasOnlyUUIDs = true

        /// How many kinds of values there are.
        var kindCount: Int { [hasInteger, hasReal, hasText, hasBlob].count { $0 } }
    }

    private(set) var rowCount = 0
    private var facts: [Facts]
    private let nulls: NullWords

    init(columnCount: Int, nulls: NullWords = .standard) {
        facts = Array(repeating: Facts(), count: columnCount)
        self.nulls = nulls
    }

    mutating func observe(_ record: borrowing CSVRecord) {
        rowCount += 1
        for column in facts.indices where !facts[column].hasText || facts[column].hasOnlyUUIDs {
            record.withField(column) { bytes, isQuoted in
                Self.observe(bytes, isQuoted: isQuoted, nulls: nulls, in: &facts[column])
            }
        }
    }

    /// Learns from a line of JSON: a value for each column, nil for one that the line has not.
    ///
    /// - parameter columnCount: The columns that were seen up to this line.
    mutating func observe(_ values: [JSONField?], columnCount: Int) {
        while facts.count < columnCount {
            // The lines before have no UUID in a column that they have not.
            facts.append(Facts(hasOnlyUUIDs: rowCount == 0))
        }
        rowCount += 1
        for column in facts.indices {
            let value = column < values.count ? values[column] : nil
            facts[column].observe(value ?? .null)
        }
    }

    /// The type of each column of JSON. One with values of several kinds has no type, and keeps them as they are.
    var jsonTypes: [ColumnType] {
        facts.map { facts in
            var facts = facts
            if facts.hasInfinity && !(facts.hasReal && !facts.hasText) { facts.hasText = true }
            guard facts.kindCount <= 1 else { return .any }
            if facts.hasBlob { return .blob }
            return facts.hasInteger ? .integer : facts.hasReal ? .real : .text
        }
    }

    /// The type of each column. A column without values is text.
    var types: [ColumnType] {
        facts.map { facts in
            if facts.hasText { return .text }
            if facts.hasReal { return !facts.hasInteger ? .real : facts.hasIntegralReal ? .text : .numeric }
            return facts.hasInteger ? .integer : .text
        }
    }

    /// Whether the column can name its rows across devices: every row has a UUID in it. That no UUID comes
    /// twice is not checked.
    func isUUIDKey(_ column: Int) -> Bool { rowCount > 0 && facts[column].hasOnlyUUIDs }

    private static func observe(
        _ bytes: UnsafeRawBufferPointer, isQuoted: Bool, nulls: NullWords, in facts: inout Facts
    ) {
        if facts.hasOnlyUUIDs { facts.hasOnlyUUIDs = WrittenBlob.isUUID(bytes) }
        if facts.hasText || nulls.contains(bytes, isQuoted: isQuoted) { return }
        guard let number = WrittenNumber(bytes), number.isCanonical(writtenAs: bytes) else {
            facts.hasText = true
            return
        }
        facts.observe(number, writtenAs: bytes)
    }
}

extension ColumnTypeInference.Facts {
    fileprivate mutating func observe(_ value: JSONField) {
        if hasOnlyUUIDs { hasOnlyUUIDs = value.isUUID }
        switch value {
        case .null: break
        case .integer: hasInteger = true
        case .real: hasReal = true
        case .blob: hasBlob = true
        case .text(let text):
            if JSONField.infinity(text) != nil { hasInfinity = true } else { hasText = true }
        case .other: hasText = true
        }
    }

    fileprivate mutating func observe(_ number: WrittenNumber, writtenAs bytes: UnsafeRawBufferPointer) {
        if number.integer != nil {
            hasInteger = true
            return
        }
        hasReal = true
        let value = number.doubleValue(writtenAs: bytes)
        // Larger ones are no integers to the database.
        if value.magnitude < 0x1p63, value == value.rounded() { hasIntegralReal = true }
    }
}
