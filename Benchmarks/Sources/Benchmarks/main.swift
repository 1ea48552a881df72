import Foundation

let program = Program(
    name: "Benchmarks",
    summary: """
        Measures the library against C loops over the same SQLCipher, side by side in one process,
        on encrypted files in the temporary folder.
        """,
    figures: Figure.allCases,
    hasBars: true,
    describeEngine: describeEngine,
    measure: { figure, folder, options in
        switch figure {
        case .fetch: try measureFetch(folder, options)
        case .insert: try measureInsert(folder, options)
        case .tracked: try measureTracked(folder, options)
        case .recordFetch: try measureRecordFetch(folder, options)
        case .recordInsert: try measureRecordInsert(folder, options)
        case .recordTree: try measureRecordTree(folder, options)
        case .typedFetch: try measureTypedFetch(folder, options)
        case .typedInsert: try measureTypedInsert(folder, options)
        case .typedQuery: try measureTypedQuery(folder, options)
        case .textQuery: try measureTextQuery(folder, options)
        case .poolOpen: try measurePoolOpening(folder, options)
        case .poolRead: try measureReadersBesideWriter(folder, options)
        case .verifiedRead: try measureVerifiedReads(folder, options)
        case .encryption: try measureEncryption(folder, options)
        case .observations: try measureObservations(folder, options)
        case .push: try measurePushes(folder, options)
        case .sync: []
        }
    },
    measureSync: measureSync)

exit(program.run(CommandLine.arguments.dropFirst()))
