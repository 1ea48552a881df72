import Foundation

/// Measures what synchronization costs as stores grow: each size in a process of its own, whose memory is its own too.
enum GrowthProgram {
    static let usage = """
        usage: GrowthBenchmarks [--axis rows|replicas|tables|conflicts|parked]... [--sizes N,N,...] [--full] [--runs N]
                                [--json]

        What a synchronization, and what looks at a store, take as the store grows: one table for each axis, a column
        for each size, and how many times the figure of the largest size is that of the smallest one.

          --axis NAME   one of them; may be repeated: rows (of one table), replicas (that a store knows), tables (that
                        are tracked), conflicts (that are open), parked (rows that wait for their place)
          --sizes LIST  these sizes instead of each axis's own
          --full        also the largest sizes: 10 million rows, 1 million conflicts and parked rows
          --runs N      take the median of N runs, 5 unless given
          --json        print JSON
        """

    /// Runs the program.
    ///
    /// - returns: The exit code: 0 when all was measured, 1 when it could not be, 64 for a wrong command line.
    static func run(_ arguments: [String]) -> Int32 {
        do {
            guard let options = try GrowthOptions(arguments) else {
                print(usage)
                return 0
            }
            if let size = options.childSize, let axis = options.axes.first {
                try printLine(GrowthRun(axis: axis, size: size, runCount: options.runCount).measure())
                return 0
            }
            try report(options)
            return 0
        } catch let error as WrongArguments {
            return fail(error.description, code: 64)
        } catch {
            return fail("\(error)", code: 1)
        }
    }

    private static func fail(_ words: String, code: Int32) -> Int32 {
        FileHandle.standardError.write(Data("growth: error: \(words)\n".utf8))
        return code
    }

    private static func report(_ options: GrowthOptions) throws {
        var tables: [GrowthTable] = []
        for axis in options.axes {
            var columns: [GrowthColumn] = []
            for size in options.sizes(of: axis) {
                FileHandle.standardError.write(Data("growth: \(axis.rawValue) \(size)\n".utf8))
                columns.append(try child(axis, size, options))
            }
            let table = GrowthTable(axis: axis, columns: columns)
            tables.append(table)
            if !options.isJSON { print(table.text, terminator: "\n\n") }
        }
        if options.isJSON { try printLine(tables) }
    }

    /// Measures one size in a process of its own.
    private static func child(_ axis: GrowthAxis, _ size: Int, _ options: GrowthOptions) throws
        -> GrowthColumn
    {
        guard let path = Bundle.main.executablePath else {
            throw GrowthError("the program does not know where it is")
        }
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = [
            "--child", String(size), "--axis", axis.rawValue, "--runs", String(options.runCount),
        ]
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw GrowthError(
                "the process for \(axis.rawValue) \(size) ended with \(process.terminationStatus)")
        }
        return try JSONDecoder().decode(GrowthColumn.self, from: data)
    }

    private static func printLine(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        print(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}

/// A failure, or two stores that disagree.
struct GrowthError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

struct WrongArguments: Error, CustomStringConvertible {
    let description: String
}
