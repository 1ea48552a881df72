import Foundation
import Synchronization

/// A process of `Scripts/s3-server`. It takes seconds to start, so tests that have ended leave theirs to others.
///
/// It ends with the tests, whose end closes its standard input, and by itself after an hour.
final class S3ServerProcess: Sendable {
    /// What the script printed.
    struct Greeting: Decodable {
        let endpoint: String
        let keys: [String: String]
        let tokens: [String: String]
    }

    private static let idle = Mutex<[S3ServerProcess]>([])

    let greeting: Greeting
    // It is kept open and never written to.
    private let input: Pipe

    /// A process that nobody uses, in the state of a new one.
    static func take(_ script: String) throws -> S3ServerProcess {
        if let process = idle.withLock({ $0.popLast() }) { return process }
        return try S3ServerProcess(script)
    }

    private init(_ script: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [script, "--seconds", "3600"]
        input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1),
            byte.first.map({ $0 != 0x0A }) == true
        {
            line += byte
        }
        do {
            greeting = try JSONDecoder().decode(Greeting.self, from: line)
        } catch {
            throw S3Server.Problem(description: "the S3 server did not start: \(error)")
        }
    }

    /// Where it is.
    var endpoint: String { greeting.endpoint }

    /// Leaves it to other tests; one that can't be reset ends.
    func giveBack() {
        guard (try? control("POST", "reset")) != nil else {
            try? input.fileHandleForWriting.close()
            return
        }
        Self.idle.withLock { $0.append(self) }
    }

    /// Asks the proxy itself. By curl's means this would be one more thing to install, so it is a socket.
    func control(_ method: String, _ path: String, _ body: Data = Data()) throws -> Data {
        guard let port = URLComponents(string: endpoint)?.port, let socket = LoopbackSocket(port: port) else {
            throw S3Server.Problem(description: "the S3 server does not answer")
        }
        let head =
            "\(method) /-/\(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: \(body.count)\r\n\r\n"
        let answer = socket.exchange(Data(head.utf8) + body)
        guard answer.starts(with: Data("HTTP/1.1 200".utf8)),
            let end = answer.range(of: Data("\r\n\r\n".utf8))
        else { throw S3Server.Problem(description: "the S3 server gave no answer") }
        return Data(answer[end.upperBound...])
    }
}
