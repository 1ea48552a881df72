import Foundation

/// This program in another role, in a process of its own: it prints lines of JSON.
final class ChildProcess {
    private let process = Process()
    private let output = Pipe()
    private let input = Pipe()
    private var rest = Data()

    init(_ role: String, _ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: try Self.ownPath())
        process.arguments = ["--role", role] + arguments
        process.standardOutput = output
        process.standardInput = input
        try process.run()
    }

    deinit {
        if process.isRunning { process.terminate() }
    }

    private static func ownPath() throws -> String {
        guard let path = Bundle.main.executablePath else {
            throw BenchmarkError(description: "the program does not know where it is")
        }
        return path
    }

    /// Waits for the next line.
    func next<Line: Decodable>(_ type: Line.Type) throws -> Line {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = rest[rest.startIndex..<end]
                rest = Data(rest[(end + 1)...])
                return try JSONDecoder().decode(type, from: line)
            }
            let piece = output.fileHandleForReading.availableData
            guard !piece.isEmpty else {
                process.waitUntilExit()
                throw BenchmarkError(description: "a process ended with \(process.terminationStatus)")
            }
            rest += piece
        }
    }

    /// Sends it a line, which asks for one.
    func ask() throws { try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8)) }

    /// Closes its input, which asks it to end.
    func end() throws { try input.fileHandleForWriting.close() }

    /// Waits until it has ended.
    func wait() { process.waitUntilExit() }
}
