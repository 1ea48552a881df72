import Foundation

/// The S3 server of `Scripts/s3-server`, on loopback, with a proxy before it that can fail in many ways.
///
/// It ends with this object, with the process, and by itself after ten minutes.
public final class S3Server {
    /// What the script printed.
    private struct Greeting: Decodable {
        let endpoint: String
        let keys: [String: String]
        let tokens: [String: String]
    }

    /// A request that came to the proxy.
    public struct Request: Decodable, Sendable, Equatable, CustomStringConvertible {
        /// The method.
        public let method: String
        /// The path and the query.
        public let target: String
        /// The status of the answer; 0 for none.
        public let status: Int
        /// What went wrong on purpose.
        public let fault: String?

        /// For messages.
        public var description: String { "\(method) \(target) \(status)\(fault.map { " (\($0))" } ?? "")" }
    }

    /// Something that goes wrong: see `Scripts/s3-server --help`.
    public struct Fault: Encodable, Sendable {
        let `do`: String
        var method: String?
        var match: String?
        var header: String?
        var skip = 0
        var count = 1

        /// Makes a fault.
        ///
        /// - parameters:
        ///   - kind: What goes wrong.
        ///   - method: The method of the requests that it concerns; nil for all.
        ///   - match: A part of their targets.
        ///   - header: A header that they have.
        ///   - skip: How many of them go well before.
        ///   - count: How many go wrong.
        public init(
            _ kind: String, method: String? = nil, match: String? = nil, header: String? = nil, skip: Int = 0,
            count: Int = 1
        ) {
            self.do = kind
            (self.method, self.match, self.header, self.skip, self.count) = (
                method, match, header, skip, count
            )
        }
    }

    /// The problems of a test.
    public struct Problem: Error, CustomStringConvertible {
        /// What happened.
        public let description: String
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path
    private static let script = root + "/Scripts/s3-server"

    /// Whether moto is installed: `Scripts/setup --tests` does that.
    public static let isInstalled: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [script, "--probe"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// Where it is: `http://127.0.0.1:4711`.
    public let endpoint: String
    /// The id of a key that may do everything.
    public let keyID = "TESTKEYID"
    /// The secret of the key.
    public let secretKey: String
    /// The key of a session: its id, its secret and its token.
    public let session: (keyID: String, secretKey: String, token: String)
    private let process: Process
    private let input: Pipe

    /// Starts a server, with a bucket named `test`.
    public init() throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [Self.script]
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
        guard let greeting = try? JSONDecoder().decode(Greeting.self, from: line),
            let secret = greeting.keys[keyID], let token = greeting.tokens["SESSIONKEYID"],
            let other = greeting.keys["SESSIONKEYID"]
        else { throw Problem(description: "the S3 server did not start") }
        endpoint = greeting.endpoint
        secretKey = secret
        session = ("SESSIONKEYID", other, token)
    }

    deinit { try? input.fileHandleForWriting.close() }

    /// The variables that give a process the right to use it.
    public var environment: [String: String] {
        ["AWS_ACCESS_KEY_ID": keyID, "AWS_SECRET_ACCESS_KEY": secretKey, "AWS_EC2_METADATA_DISABLED": "true"]
    }

    /// The requests since ``reset()``, or the start.
    public func requests() throws -> [Request] {
        try JSONDecoder().decode([Request].self, from: control("GET", "log"))
    }

    /// Forgets the requests, and returns them.
    @discardableResult
    public func reset() throws -> [Request] {
        try JSONDecoder().decode([Request].self, from: control("POST", "log"))
    }

    /// Has things go wrong from now on, instead of what did before.
    public func fail(_ faults: Fault...) throws {
        struct Plan: Encodable { let plan: [Fault] }
        _ = try control("POST", "faults", JSONEncoder().encode(Plan(plan: faults)))
    }

    /// Has things go wrong at random.
    ///
    /// - parameters:
    ///   - rate: The share of the requests that do.
    ///   - kinds: What goes wrong.
    public func failAtRandom(seed: UInt64, rate: Double, _ kinds: [String]) throws {
        struct Chance: Encodable { let seed: UInt64, rate: Double, kinds: [String] }
        _ = try control("POST", "faults", JSONEncoder().encode(Chance(seed: seed, rate: rate, kinds: kinds)))
    }

    /// Lets go the requests that hang.
    public func release() throws { _ = try control("POST", "release") }

    /// Asks the proxy itself. By curl's means this would be one more thing to install, so it is a socket.
    private func control(_ method: String, _ path: String, _ body: Data = Data()) throws -> Data {
        guard let port = URLComponents(string: endpoint)?.port, let socket = LoopbackSocket(port: port) else {
            throw Problem(description: "the S3 server does not answer")
        }
        let head =
            "\(method) /-/\(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: \(body.count)\r\n\r\n"
        let answer = socket.exchange(Data(head.utf8) + body)
        guard let end = answer.range(of: Data("\r\n\r\n".utf8)) else {
            throw Problem(description: "the S3 server gave no answer")
        }
        return Data(answer[end.upperBound...])
    }
}
