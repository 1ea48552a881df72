import Foundation

/// What one of the programs measures. There are two: this library's, and its peer's, which
/// compiles the sources of this folder against GRDB in a package of its own, because both export
/// the same names and no process may have SQLite twice.
struct Program {
    let name: String
    let summary: String
    /// The figures that it can measure.
    let figures: [Figure]
    /// Whether the bars count, which are this library's aims.
    let hasBars: Bool
    let describeEngine: (StoreFolder) throws -> Engine
    let measure: (Figure, StoreFolder, Options) throws -> [Comparison]
    let measureSync: ((StoreFolder, Options) throws -> [SyncResult])?

    /// Measures, then prints. Exit codes: 0 measured, 1 failed, 64 wrong command line. A figure
    /// that misses its bar is a result, not a failure.
    func run(_ arguments: some Sequence<String>) -> CInt {
        do {
            let options = try Options(arguments, figures: figures)
            if options.showsHelp {
                print(Options.help(self))
                return 0
            }
            let peers = try options.peerPaths.map(Report.init(contentsOf:))
            let report = try makeReport(options, peers)
            print(options.printsJSON ? try report.json() : report.text)
            return 0
        } catch let error as UsageError {
            complain("\(error.message); hint: see --help")
            return 64
        } catch {
            complain("\(error)")
            return 1
        }
    }

    /// Measures the figures that the options ask for.
    private func makeReport(_ options: Options, _ peers: [Report]) throws -> Report {
        let folder = try StoreFolder()
        // These come first, because the peak of memory is the process's.
        let sync = options.figures.contains(.sync) ? try measureSync?(folder, options) ?? [] : []
        let comparisons = try options.figures.flatMap { try measure($0, folder, options) }
        return Report(
            engine: try describeEngine(folder), runCount: options.runCount,
            usesProcessorTime: options.usesProcessorTime,
            comparisons: comparisons.map { hasBars ? $0 : $0.withoutBar },
            sync: sync, peers: peers)
    }

    private func complain(_ message: String) {
        FileHandle.standardError.write(Data("\(name): error: \(message)\n".utf8))
    }
}
