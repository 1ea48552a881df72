import Foundation
import SyncHTTP
import SyncRelay

/// A relay in a process of its own, which says what it has taken until now.
final class RelayProcess {
    struct Greeting: Codable {
        let port: Int
        let fingerprint: [UInt8]
    }

    struct Usage: Codable {
        let processorSeconds: Double
        let residentMegabytes: Double
    }

    private let process = Process()
    private let output = Pipe()
    private let input = Pipe()
    let address: RelayAddress

    init(folder: String) throws {
        guard let path = Bundle.main.executablePath else {
            throw WrongArguments(description: "the program does not know where it is")
        }
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = [Self.word, folder]
        process.standardOutput = output
        process.standardInput = input
        try process.run()
        let greeting = try Self.line(of: output, Greeting.self)
        address = try RelayAddress(host: "127.0.0.1", port: greeting.port, fingerprint: greeting.fingerprint)
    }

    deinit { process.terminate() }

    func usage() throws -> Usage {
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        return try Self.line(of: output, Usage.self)
    }

    private static func line<Line: Decodable>(of pipe: Pipe, _ type: Line.Type) throws -> Line {
        var line = Data()
        while let byte = try pipe.fileHandleForReading.read(upToCount: 1), byte != Data([0x0A]) {
            guard !byte.isEmpty else { throw WrongArguments(description: "the relay has ended") }
            line += byte
        }
        return try JSONDecoder().decode(type, from: line)
    }

    // MARK: The other side

    static let word = "--relay"

    /// Serves until its input ends.
    static func serve(_ folder: String) throws {
        let storage = try SQLiteRelayStorage(path: folder + "/relay.db")
        var options = RelayServer.Options(host: "127.0.0.1", port: 0)
        // All that one address may do grows with it.
        options.limits = .init(requestsPerSecond: 1e9)
        let server = try RelayServer.prepare(storage, options: options)
        Thread.detachNewThread {
            do {
                try server.runAndWait { listening in
                    guard case .fingerprint(let bytes) = listening.trust else { return }
                    say(Greeting(port: listening.port, fingerprint: bytes))
                }
            } catch {
                FileHandle.standardError.write(Data("relay: error: \(error)\n".utf8))
                exit(1)
            }
        }
        while readLine() != nil { say(now()) }
    }

    private static func say(_ line: some Encodable) {
        guard let data = try? JSONEncoder().encode(line) else { return }
        FileHandle.standardOutput.write(data + Data("\n".utf8))
    }

    private static func now() -> Usage {
        // RUSAGE_SELF is 0 everywhere, but of another type in each C library.
        var usage = rusage()
        getrusage(0, &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        #if os(Linux)
            let peak = Double(usage.ru_maxrss) / 1024
        #else
            let peak = Double(usage.ru_maxrss) / 1_048_576
        #endif
        return Usage(
            processorSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime), residentMegabytes: peak)
    }
}
