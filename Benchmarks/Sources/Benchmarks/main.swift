import Foundation

// Measures, then prints. Exit codes: 0 measured, 1 failed, 64 wrong command line. A figure that
// misses its bar is a result, not a failure.
do {
    let options = try Options(CommandLine.arguments.dropFirst())
    if options.showsHelp {
        print(Options.help)
    } else {
        let report = try Report.measure(options)
        print(options.printsJSON ? try report.json() : report.table)
    }
} catch let error as UsageError {
    FileHandle.standardError.write(Data("benchmarks: error: \(error.message); hint: see --help\n".utf8))
    exit(64)
} catch {
    FileHandle.standardError.write(Data("benchmarks: error: \(error)\n".utf8))
    exit(1)
}
