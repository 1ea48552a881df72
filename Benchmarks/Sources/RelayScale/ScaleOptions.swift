import Foundation

/// What was typed wrongly.
struct WrongArguments: Error, CustomStringConvertible {
    let description: String
}

/// The command line.
struct ScaleOptions {
    private(set) var deviceCounts = [1_000, 10_000, 100_000]
    private(set) var day = DeviceDay()
    private(set) var times = ServiceTimes()
    private(set) var processorsOfNode = 2
    private(set) var seed: UInt64 = 1
    private(set) var isJSON = false
    /// How many requests of each kind are measured; nil for the model.
    private(set) var measuredCount: Int?

    /// - returns: nil when help is asked for.
    init?(_ arguments: [String]) throws {
        var rest = arguments[...]
        func value(of name: String) throws -> String {
            guard let value = rest.popFirst() else {
                throw WrongArguments(description: "\(name) needs a value; see --help")
            }
            return value
        }
        func number(_ text: String, of name: String, to most: Int) throws -> Int {
            guard let number = Int(text), (1...most).contains(number) else {
                throw WrongArguments(
                    description: "\(name) takes numbers from 1 to \(most), and not '\(text)'")
            }
            return number
        }
        var isMeasuring = false
        var count = 2_000
        while let word = rest.popFirst() {
            switch word {
            case "--help", "-h": return nil
            case "--devices":
                deviceCounts = try value(of: word).split(separator: ",").map {
                    try number(String($0), of: word, to: 3_000_000)
                }
            case "--full": deviceCounts.append(1_000_000)
            case "--edits": day.editsPerHour = Double(try number(value(of: word), of: word, to: 60))
            case "--team": day.sizes[3].deviceCount = try number(value(of: word), of: word, to: 10_000)
            case "--processors": processorsOfNode = try number(value(of: word), of: word, to: 1_024)
            case "--seed": seed = UInt64(try number(value(of: word), of: word, to: .max))
            case "--times":
                let path = try value(of: word)
                guard let data = FileManager.default.contents(atPath: path) else {
                    throw WrongArguments(description: "\(path): cannot be read")
                }
                do {
                    times = try JSONDecoder().decode(ServiceTimes.self, from: data)
                } catch {
                    throw WrongArguments(description: "\(path): is not what --measure prints: \(error)")
                }
            case "--json": isJSON = true
            case "--measure": isMeasuring = true
            case "--count": count = try number(value(of: word), of: word, to: 1_000_000)
            default: throw WrongArguments(description: "unknown argument '\(word)'; see --help")
            }
        }
        measuredCount = isMeasuring ? count : nil
    }
}
