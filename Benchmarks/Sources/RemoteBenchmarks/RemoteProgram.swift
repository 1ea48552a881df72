import CipherStore
import Foundation

/// A figure, and what it should be.
struct RemoteResult: Codable {
    let name: String
    let value: Double
    let unit: String
    private(set) var seconds: Double?
    private(set) var bar: Double?
    private(set) var isWithinBar: Bool?

    init(
        _ name: String, _ value: Double, _ unit: String, _ seconds: Double? = nil,
        atLeast least: Double? = nil, atMost most: Double? = nil
    ) {
        self.name = name
        self.value = value
        self.unit = unit
        self.seconds = seconds
        bar = least ?? most
        if let least { isWithinBar = value >= least }
        if let most { isWithinBar = value <= most }
    }

    var text: String {
        func column(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        let padded = name.padding(toLength: max(40, name.count), withPad: " ", startingAt: 0)
        let number = String(format: value >= 1000 ? "%.0f" : "%.1f", value)
        let verdict = bar.map { "  bar \(Int($0))  \(isWithinBar == true ? "ok" : "missed")" } ?? ""
        return padded + column(number, 10) + " " + unit.padding(toLength: 7, withPad: " ", startingAt: 0)
            + column(seconds.map { String(format: "%.2f s", $0) } ?? "", 9) + verdict
    }
}

/// What the command line asks for.
struct RemoteOptions {
    private(set) var figures: [RemoteFigure] = []
    private(set) var rowCount = 336_776
    private(set) var deviceCount = 50
    private(set) var changeCount = 1000
    private(set) var commitCount = 100
    private(set) var watchCount = 1000
    private(set) var memberCount = 1000
    private(set) var printsJSON = false
    private(set) var showsHelp = false

    init(_ arguments: some Sequence<String>) throws {
        var words = Array(arguments)[...]
        while let word = words.popFirst() {
            switch word {
            case "--help", "-h": showsHelp = true
            case "--json": printsJSON = true
            case "--only":
                guard let figure = words.popFirst().flatMap(RemoteFigure.init) else {
                    let names = RemoteFigure.allCases.map(\.rawValue).joined(separator: ", ")
                    throw BenchmarkError(description: "--only needs one of \(names)")
                }
                figures.append(figure)
            case "--rows": rowCount = try Self.number(after: word, &words)
            case "--devices": deviceCount = try Self.number(after: word, &words)
            case "--changes": changeCount = try Self.number(after: word, &words)
            case "--commits": commitCount = try Self.number(after: word, &words)
            case "--watches": watchCount = try Self.number(after: word, &words)
            case "--members": memberCount = try Self.number(after: word, &words)
            default: throw BenchmarkError(description: "unknown argument '\(word)'; hint: see --help")
            }
        }
        if figures.isEmpty { figures = RemoteFigure.allCases }
    }

    private static func number(after word: String, _ words: inout ArraySlice<String>) throws -> Int {
        guard let number = words.popFirst().flatMap({ Int($0) }), number > 0 else {
            throw BenchmarkError(description: "\(word) needs a positive number")
        }
        return number
    }
}

/// Measures remote peers: a server or a relay, and devices, in processes of their own, over TLS on this machine.
enum RemoteProgram {
    private static let help = """
        usage: RemoteBenchmarks [OPTION...]

        Measures synchronization over HTTPS between devices, with a server or through a relay, each in a process
        of its own, on encrypted files in the temporary folder. Times are by the clock on the wall. Those of
        removal are processor times; it invites the members one after the other, which takes minutes.

          --only NAME    one figure; may be repeated: transfer compressed devices shared live
                         relay-transfer relay-live relay-watches removal
          --rows N       rows of the transfers (default 336776)
          --devices N    devices at a time (default 50)
          --changes N    changes of each device (default 1000)
          --commits N    commits that are watched (default 100)
          --watches N    watches that wait at a relay (default 1000)
          --members N    members of whom one is removed, 2 or more (default 1000)
          --json         print JSON
          --help         print this text
        """

    private struct Report: Encodable {
        let engine: String
        let results: [RemoteResult]
    }

    /// - returns: The exit code: 0 measured, 1 not.
    static func run(_ arguments: some Sequence<String>) -> CInt {
        do {
            let options = try RemoteOptions(arguments)
            guard !options.showsHelp else {
                print(help)
                return 0
            }
            let engine = "SQLCipher \(EngineFeatures.current.cipherVersion ?? "?")"
            if !options.printsJSON { print(engine) }
            var results: [RemoteResult] = []
            for figure in options.figures {
                let found = try figure.measure(options)
                results += found
                guard !options.printsJSON else { continue }
                print("\n\(figure.rawValue)")
                for result in found { print(result.text) }
            }
            if options.printsJSON {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
                let report = try encoder.encode(Report(engine: engine, results: results))
                print(String(decoding: report, as: UTF8.self))
            }
            return 0
        } catch {
            FileHandle.standardError.write(Data("RemoteBenchmarks: error: \(error)\n".utf8))
            return 1
        }
    }
}
