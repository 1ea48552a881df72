/// The figures that can be measured.
enum Figure: String, CaseIterable, Sendable {
    /// Rows into structs.
    case fetch
    /// Structs into rows.
    case insert
    /// Rows into a table that is synchronized.
    case tracked
    /// Rows of mixed types into records.
    case recordFetch = "record-fetch"
    /// Records of mixed types into rows.
    case recordInsert = "record-insert"
    /// The opening of a pool.
    case poolOpen = "pool-open"
    /// Reads beside a writer.
    case poolRead = "pool-read"
    /// Rows from one store to another.
    case sync

    /// How many rows are measured unless the command line says otherwise.
    var rowCount: Int {
        switch self {
        case .fetch, .recordFetch: 200_000
        case .insert, .tracked, .recordInsert: 50_000
        case .poolOpen: 6
        case .poolRead: 8000
        case .sync: 336_776
        }
    }
}

/// A mistake in the command line.
struct UsageError: Error {
    let message: String
}

/// What the command line asks for.
struct Options {
    private(set) var printsJSON = false
    private(set) var showsHelp = false
    private(set) var runCount = 5
    private(set) var usesProcessorTime = false
    private var rows: Int?
    private var only: Figure?
    private var includesSync = false

    static let help = """
        usage: Benchmarks [--only NAME] [--sync] [--runs N] [--rows N] [--cpu] [--json] [--help]

        Measures the library against C loops over the same SQLCipher, side by side in one process,
        on encrypted files in the temporary folder.

          --only NAME   one figure: fetch, insert, tracked, record-fetch, record-insert, pool-open,
                        pool-read or sync
          --sync        also push rows between two stores
          --runs N      take the median of N runs (default 5; sync is one run)
          --rows N      rows, instead of each figure's own number
          --cpu         give processor times, which are steadier on a busy machine
          --json        print JSON
          --help        print this text
        """

    /// Reads the arguments, without the program's name.
    init(_ arguments: some Sequence<String>) throws {
        var words = Array(arguments)[...]
        while let word = words.popFirst() {
            switch word {
            case "--help", "-h": showsHelp = true
            case "--json": printsJSON = true
            case "--cpu": usesProcessorTime = true
            case "--sync": includesSync = true
            case "--runs": runCount = try Self.number(after: word, &words)
            case "--rows": rows = try Self.number(after: word, &words)
            case "--only":
                let name = words.popFirst() ?? ""
                guard let figure = Figure(rawValue: name) else {
                    throw UsageError(message: "there is no figure '\(name)'")
                }
                only = figure
            default: throw UsageError(message: "unknown argument '\(word)'")
            }
        }
    }

    /// The figures to measure.
    var figures: [Figure] {
        (only.map { [$0] } ?? Figure.allCases.filter { $0 != .sync })
            + (includesSync && only != .sync ? [.sync] : [])
    }

    /// How many rows a figure has.
    func rowCount(_ figure: Figure) -> Int { rows ?? figure.rowCount }

    private static func number(after word: String, _ words: inout ArraySlice<String>) throws -> Int {
        guard let number = words.popFirst().flatMap({ Int($0) }), number > 0 else {
            throw UsageError(message: "\(word) needs a positive number")
        }
        return number
    }
}
