import Foundation

let program = Program(
    name: "PeerBenchmarks",
    summary: """
        Measures GRDB against C loops over the system's SQLite, side by side in one process, on files
        in the temporary folder that are not encrypted. The sources are those of Benchmarks.
        """,
    figures: [.fetch, .insert, .recordFetch, .recordInsert, .recordTree],
    hasBars: false,
    describeEngine: describeEngine,
    measure: { figure, folder, options in
        switch figure {
        case .fetch: try measureFetch(folder, options)
        case .insert: try measureInsert(folder, options)
        case .recordFetch: try measureRecordFetch(folder, options)
        case .recordInsert: try measureRecordInsert(folder, options)
        case .recordTree: try measureRecordTree(folder, options)
        case .tracked, .typedFetch, .typedInsert, .typedQuery, .textQuery, .poolOpen, .poolRead,
            .verifiedRead, .encryption, .observations, .push, .sync:
            []
        }
    },
    measureSync: nil)

exit(program.run(CommandLine.arguments.dropFirst()))
