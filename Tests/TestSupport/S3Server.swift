import Foundation

/// The S3 server of `Scripts/s3-server`, on loopback, with a proxy before it that can fail in many ways.
///
/// A process that was started for one test is used by another one later, after a reset.
public final class S3Server {
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
    public var endpoint: String { process.endpoint }
    /// The id of a key that may do everything.
    public let keyID = "TESTKEYID"
    /// The secret of the key.
    public let secretKey: String
    /// The key of a session: its id, its secret and its token.
    public let session: (keyID: String, secretKey: String, token: String)
    private let process: S3ServerProcess

    /// Starts a server, with a bucket named `test`.
    public init() throws {
        process = try S3ServerProcess.take(Self.script)
        guard let secret = process.greeting.keys[keyID],
            let token = process.greeting.tokens["SESSIONKEYID"],
            let other = process.greeting.keys["SESSIONKEYID"]
        else { throw Problem(description: "the S3 server did not start") }
        secretKey = secret
        session = ("SESSIONKEYID", other, token)
    }

    deinit { process.giveBack() }

    /// The variables that give a process the right to use it.
    public var environment: [String: String] {
        ["AWS_ACCESS_KEY_ID": keyID, "AWS_SECRET_ACCESS_KEY": secretKey, "AWS_EC2_METADATA_DISABLED": "true"]
    }

    /// The requests since ``reset()``, or the start.
    public func requests() throws -> [Request] {
        try JSONDecoder().decode([Request].self, from: process.control("GET", "log"))
    }

    /// Forgets the requests, and returns them.
    @discardableResult
    public func reset() throws -> [Request] {
        try JSONDecoder().decode([Request].self, from: process.control("POST", "log"))
    }

    /// Has things go wrong from now on, instead of what did before.
    public func fail(_ faults: Fault...) throws {
        struct Plan: Encodable { let plan: [Fault] }
        _ = try process.control("POST", "faults", JSONEncoder().encode(Plan(plan: faults)))
    }

    /// Has things go wrong at random.
    ///
    /// - parameters:
    ///   - rate: The share of the requests that do.
    ///   - kinds: What goes wrong.
    public func failAtRandom(seed: UInt64, rate: Double, _ kinds: [String]) throws {
        struct Chance: Encodable { let seed: UInt64, rate: Double, kinds: [String] }
        _ = try process.control(
            "POST", "faults", JSONEncoder().encode(Chance(seed: seed, rate: rate, kinds: kinds)))
    }

    /// Lets go the requests that hang.
    public func release() throws { _ = try process.control("POST", "release") }
}
