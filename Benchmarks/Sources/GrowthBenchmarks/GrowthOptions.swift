/// What grows.
enum GrowthAxis: String, CaseIterable, Codable {
    case rows, replicas, tables, conflicts, parked

    /// The sizes that are measured unless others are asked for.
    var sizes: [Int] {
        switch self {
        case .rows: [10_000, 100_000, 1_000_000]
        case .replicas: [2, 10, 100, 1_000]
        case .tables: [1, 10, 100]
        case .conflicts, .parked: [1_000, 10_000, 100_000]
        }
    }

    /// The size that takes minutes.
    var largest: Int? {
        switch self {
        case .rows: 10_000_000
        case .conflicts, .parked: 1_000_000
        case .replicas, .tables: nil
        }
    }
}

/// The command line.
struct GrowthOptions {
    private(set) var axes: [GrowthAxis] = []
    private(set) var givenSizes: [Int]?
    private(set) var isFull = false
    private(set) var runCount = 5
    private(set) var isJSON = false
    /// The one size that this process measures for another one.
    private(set) var childSize: Int?

    /// - returns: nil when help is asked for.
    init?(_ arguments: [String]) throws {
        var rest = arguments[...]
        func value(of name: String) throws -> String {
            guard let value = rest.popFirst() else {
                throw WrongArguments(description: "\(name) needs a value")
            }
            return value
        }
        func number(_ text: String, of name: String) throws -> Int {
            guard let number = Int(text), (1...100_000_000).contains(number) else {
                throw WrongArguments(
                    description: "\(name) takes numbers from 1 to 100,000,000, and not '\(text)'")
            }
            return number
        }
        while let word = rest.popFirst() {
            switch word {
            case "--help", "-h": return nil
            case "--axis":
                let name = try value(of: word)
                guard let axis = GrowthAxis(rawValue: name) else {
                    throw WrongArguments(description: "nothing grows that is called '\(name)'; see --help")
                }
                axes.append(axis)
            case "--sizes":
                givenSizes = try value(of: word).split(separator: ",").map {
                    try number(String($0), of: word)
                }
            case "--full": isFull = true
            case "--runs": runCount = try number(value(of: word), of: word)
            case "--json": isJSON = true
            case "--child": childSize = try number(value(of: word), of: word)
            default: throw WrongArguments(description: "unknown argument '\(word)'; see --help")
            }
        }
        if axes.isEmpty { axes = GrowthAxis.allCases }
    }

    func sizes(of axis: GrowthAxis) -> [Int] {
        givenSizes ?? axis.sizes + (isFull ? [axis.largest].compactMap { $0 } : [])
    }
}
