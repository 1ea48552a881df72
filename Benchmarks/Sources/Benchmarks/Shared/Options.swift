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
    /// Rows of two tables into trees of records.
    case recordTree = "record-tree"
    /// Rows into structs of a typed table.
    case typedFetch = "typed-fetch"
    /// Structs of a typed table into rows.
    case typedInsert = "typed-insert"
    /// One small typed query, built, run and decoded again and again.
    case typedQuery = "typed-query"
    /// One small query given as text again and again.
    case textQuery = "text-query"
    /// The opening of a pool.
    case poolOpen = "pool-open"
    /// Reads beside a writer.
    case poolRead = "pool-read"
    /// Reads that end with a check, and reads that do not.
    case verifiedRead = "verified-read"
    /// Pages of encrypted files, and of one that is not.
    case encryption
    /// Commits to a pool that is observed.
    case observations
    /// Rows from one store to another, against a C program that does the same.
    case push
    /// Rows from one store to another, folds, small pulls, and what the metadata take.
    case sync

    /// How many rows are measured unless the command line says otherwise.
    var rowCount: Int {
        switch self {
        case .fetch, .recordFetch, .typedFetch: 200_000
        case .insert, .tracked, .recordInsert, .recordTree, .typedInsert: 50_000
        case .poolOpen: 6
        case .poolRead: 8000
        case .verifiedRead, .typedQuery, .textQuery: 20_000
        case .encryption: 25_000
        case .observations: 10_000
        case .push: 100_000
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
    /// The files with the JSON of other programs, to be shown beside.
    private(set) var peerPaths: [String] = []
    /// The figures to measure.
    private(set) var figures: [Figure]
    private var rows: Int?

    /// Reads the arguments, without the program's name, of a program that can measure `figures`.
    init(_ arguments: some Sequence<String>, figures all: [Figure]) throws {
        var chosen: [Figure] = []
        var includesSync = false
        var words = Array(arguments)[...]
        while let word = words.popFirst() {
            switch word {
            case "--help", "-h": showsHelp = true
            case "--json": printsJSON = true
            case "--cpu": usesProcessorTime = true
            case "--sync" where all.contains(.sync): includesSync = true
            case "--runs": runCount = try Self.number(after: word, &words)
            case "--rows": rows = try Self.number(after: word, &words)
            case "--beside": peerPaths.append(try Self.value(after: word, "a file", &words))
            case "--only": chosen.append(try Self.figure(after: word, of: all, &words))
            default: throw UsageError(message: "unknown argument '\(word)'")
            }
        }
        if chosen.isEmpty { chosen = all.filter { $0 != .sync } }
        if includesSync { chosen.append(.sync) }
        figures = all.filter(chosen.contains)
    }

    /// How many rows a figure has.
    func rowCount(_ figure: Figure) -> Int { rows ?? figure.rowCount }

    private static func value(
        after word: String, _ what: String, _ words: inout ArraySlice<String>
    ) throws -> String {
        guard let value = words.popFirst() else { throw UsageError(message: "\(word) needs \(what)") }
        return value
    }

    private static func number(after word: String, _ words: inout ArraySlice<String>) throws -> Int {
        guard let number = Int(try value(after: word, "a number", &words)), number > 0 else {
            throw UsageError(message: "\(word) needs a positive number")
        }
        return number
    }

    private static func figure(
        after word: String, of all: [Figure], _ words: inout ArraySlice<String>
    ) throws -> Figure {
        let name = try value(after: word, "a figure", &words)
        guard let figure = Figure(rawValue: name), all.contains(figure) else {
            throw UsageError(message: "there is no figure '\(name)'")
        }
        return figure
    }

    /// How a program is used.
    static func help(_ program: Program) -> String {
        let sync =
            program.measureSync == nil
            ? ""
            : "\n  --sync         also measure synchronization: push, fold, small pulls, size of the metadata"
        return """
            usage: \(program.name) [OPTION...]

            \(program.summary)

              --only NAME    one figure; may be repeated: \(program.figures.map(\.rawValue).joined(separator: " "))\(sync)
              --runs N       take the median of N runs (default 5; sync is one run)
              --rows N       rows, instead of each figure's own number
              --cpu          give processor times, which are steadier on a busy machine
              --json         print JSON
              --beside FILE  also show the ratios of a report that the other program printed as JSON
              --help         print this text
            """
    }
}
