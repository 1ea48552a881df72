/// Aggregates with an order and a condition, for engines without `ORDER BY` or `FILTER` in functions.
///
/// The arguments are the condition, a text with a letter for each term of the order (behind an equals sign when equal
/// arguments count once), those of the function, and the terms:
/// `cipherstore_group_concat(done, 'd', title, ', ', created)` stands for
/// `group_concat(title, ', ' ORDER BY created DESC) FILTER (WHERE done)`.
enum OrderedAggregates {
    static let all = [
        aggregate("cipherstore_group_concat") { OrderedTexts() },
        aggregate("cipherstore_json_group_array") { OrderedJSON(isObject: false) },
        aggregate("cipherstore_json_group_object") { OrderedJSON(isObject: true) },
        aggregate("cipherstore_jsonb_group_array") { OrderedJSON(isObject: false, isBinary: true) },
        aggregate("cipherstore_jsonb_group_object") { OrderedJSON(isObject: true, isBinary: true) },
    ]

    private static func aggregate(
        _ name: String, _ make: @escaping FunctionRegistration.MakeAggregate
    ) -> DatabaseFunction {
        DatabaseFunction(
            name, argumentCount: nil, traits: [.deterministic, .innocuous, .readsSubtypes, .marksResult],
            makeAggregate: make)
    }
}

/// Rows with the values that order them.
private struct OrderedRows<Payload: Hashable> {
    private var rows: [(keys: [OrderedValue], payload: Payload)] = []
    private var form: [UInt8] = []
    private var isDistinct = false
    private var known: Set<Payload> = []

    /// Adds a row, unless its condition is not met.
    ///
    /// - parameters:
    ///     - argumentCount: How many arguments the function itself has.
    ///     - payload: What is kept of the arguments, which begin at the index, or nil for nothing.
    mutating func add(
        _ call: FunctionCall, argumentCount: Int, _ payload: (_ first: Int) throws -> Payload?
    ) throws {
        guard call.argumentCount >= 2 + argumentCount else {
            throw DatabaseError(message: "wrong number of arguments to an ordered aggregate")
        }
        guard call[0].double != 0 else { return }
        if rows.isEmpty {
            form = [UInt8](call[1].text)
            isDistinct = form.first == UInt8(ascii: "=")
            if isDistinct { form.removeFirst() }
        }
        guard call.argumentCount == 2 + argumentCount + form.count else {
            throw DatabaseError(message: "wrong number of arguments to an ordered aggregate")
        }
        guard let kept = try payload(2), !isDistinct || known.insert(kept).inserted else { return }
        let keys = (2 + argumentCount..<call.argumentCount).map { OrderedValue(call[$0]) }
        rows.append((keys, kept))
    }

    /// The rows in order; equal ones stay as they came.
    func sorted() -> [Payload] {
        rows.enumerated().sorted { left, right in
            for (index, letter) in form.enumerated() {
                let (first, second) = (left.element.keys[index], right.element.keys[index])
                let isUpper = letter < UInt8(ascii: "a")
                let order = first.compare(second, nullIsGreatest: isUpper)
                guard order != 0 else { continue }
                return letter | 0x20 == UInt8(ascii: "d") ? order > 0 : order < 0
            }
            return left.offset < right.offset
        }.map(\.element.payload)
    }
}

/// `group_concat` with an order.
private final class OrderedTexts: AggregateState {
    private struct Text: Hashable {
        let text: [UInt8]
        let separator: [UInt8]
    }

    private var rows = OrderedRows<Text>()

    func step(_ call: FunctionCall) throws {
        try rows.add(call, argumentCount: 2) { first in
            guard call[first].storageClass != RawColumn.nullClass else { return nil }
            let text = [UInt8](call[first].text)
            let hasSeparator = call[first + 1].storageClass != RawColumn.nullClass
            return Text(text: text, separator: hasSeparator ? [UInt8](call[first + 1].text) : [])
        }
    }

    func finalize(_ call: FunctionCall) {
        let sorted = rows.sorted()
        guard let first = sorted.first else { return call.returnNull() }
        var output = first.text
        for row in sorted.dropFirst() { output += row.separator + row.text }
        output.withUnsafeBytes { call.returnText($0) }
    }
}

/// `json_group_array` and `json_group_object` with an order.
private final class OrderedJSON: AggregateState {
    private var rows = OrderedRows<[UInt8]>()
    private let isObject: Bool
    private let isBinary: Bool

    init(isObject: Bool, isBinary: Bool = false) {
        self.isObject = isObject
        self.isBinary = isBinary
    }

    func step(_ call: FunctionCall) throws {
        try rows.add(call, argumentCount: isObject ? 2 : 1) { first in
            var output: [UInt8] = []
            if isObject {
                guard call[first].storageClass != RawColumn.nullClass else { return nil }
                JSONString.append(call[first].text, to: &output)
                output.append(UInt8(ascii: ":"))
            }
            try JSONFunctions.appendValue(call, isObject ? first + 1 : first, to: &output)
            return output
        }
    }

    func finalize(_ call: FunctionCall) throws {
        var output = [UInt8(ascii: isObject ? "{" : "[")]
        for (index, row) in rows.sorted().enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            output += row
        }
        output.append(UInt8(ascii: isObject ? "}" : "]"))
        try JSONFunctions.returnJSON(output[...], call.returning(isBinary))
    }
}

/// A value that is compared as SQLite compares without a collation.
private enum OrderedValue {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])

    init(_ value: RawValue) {
        switch value.storageClass {
        case RawColumn.nullClass: self = .null
        case RawColumn.integerClass: self = .integer(value.int64)
        case RawColumn.realClass: self = .real(value.double)
        case RawColumn.textClass: self = .text([UInt8](value.text))
        default: self = .blob([UInt8](value.blob))
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }

    /// Less than, equal to or more than 0.
    func compare(_ other: OrderedValue, nullIsGreatest: Bool) -> Int {
        let ranks = [rank, other.rank].map { $0 == 0 && nullIsGreatest ? 4 : $0 }
        guard ranks[0] == ranks[1] else { return ranks[0] - ranks[1] }
        switch (self, other) {
        case (.integer(let left), .integer(let right)): return left < right ? -1 : left > right ? 1 : 0
        case (.integer(let left), .real(let right)): return Self.compare(left, right)
        case (.real(let left), .integer(let right)): return -Self.compare(right, left)
        case (.real(let left), .real(let right)): return left < right ? -1 : left > right ? 1 : 0
        case (.text(let left), .text(let right)), (.blob(let left), .blob(let right)):
            return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
        default: return 0
        }
    }

    /// Compares without rounding the integer.
    private static func compare(_ left: Int64, _ right: Double) -> Int {
        if right >= 0x1p63 { return -1 }
        if right < -0x1p63 { return 1 }
        let whole = Int64(right.rounded(.towardZero))
        if left != whole { return left < whole ? -1 : 1 }
        let fraction = right - right.rounded(.towardZero)
        return fraction > 0 ? -1 : fraction < 0 ? 1 : 0
    }
}
