import Dispatch
import Foundation
import Synchronization

/// A command that prints credentials as a JSON document: `credential_process` of Amazon's programs.
///
/// No shell is involved. What it prints never becomes part of a message. It may write to stderr, which it shares, and has
/// no input.
struct CredentialCommand {
    /// The command and its arguments.
    let line: String
    /// The variables that it gets; nil for those of this process.
    var environment: [String: String]?
    /// The profile that names the command; nil when it comes from elsewhere.
    var profile: String?
    /// How long it may take.
    var seconds = 60.0

    private static let byteCountMax = 64 << 10

    private struct Document: Decodable {
        let version: Int
        let accessKeyId: String
        let secretAccessKey: String
        let sessionToken: String?
        let expiration: String?

        private enum CodingKeys: String, CodingKey {
            case version = "Version"
            case accessKeyId = "AccessKeyId"
            case secretAccessKey = "SecretAccessKey"
            case sessionToken = "SessionToken"
            case expiration = "Expiration"
        }
    }

    private var hint: String {
        "look at credential_process in the profile" + (profile.map { " \($0)" } ?? "")
    }

    /// Runs the command, and reads what it prints.
    ///
    /// - throws: ``BucketError`` of code `invalidCredentials`; what `check` throws.
    func run(check: () throws -> Void) throws -> BucketCredentials {
        let words = try Self.words(line)
        let program = (words[0] as NSString).lastPathComponent
        let name = profile.map { "\(program) of the profile \($0)" } ?? program
        let data = try output(words, name, check)
        guard let document = try? JSONDecoder().decode(Document.self, from: data), document.version == 1
        else {
            throw BucketError(
                .invalidCredentials, "the command \(name) does not print credentials",
                hint: "it prints a JSON document with Version 1, AccessKeyId and SecretAccessKey")
        }
        var expiry: Int64?
        if let text = document.expiration {
            guard let date = Self.date(text) else {
                throw BucketError(.invalidCredentials, "the command \(name) names an end that is no time")
            }
            expiry = date
        }
        return try BucketCredentials(
            keyID: document.accessKeyId, secretKey: document.secretAccessKey,
            sessionToken: document.sessionToken, expiryMilliseconds: expiry)
    }

    /// The milliseconds since 1970 of a time such as `2026-11-25T20:00:00Z`; nil for other text.
    private static func date(_ text: String) -> Int64? {
        for options: ISO8601DateFormatter.Options in [
            [.withInternetDateTime], [.withInternetDateTime, .withFractionalSeconds],
        ] {
            let formatter = ISO8601DateFormatter()
            formatter.formatOptions = options
            if let date = formatter.date(from: text) {
                return Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded(.down))
            }
        }
        return nil
    }

    private func output(_ words: [String], _ name: String, _ check: () throws -> Void) throws -> Data {
        let process = Process()
        // A name without a folder is looked for as a shell does.
        let isPath = words[0].contains("/")
        process.executableURL = URL(fileURLWithPath: isPath ? words[0] : "/usr/bin/env")
        process.arguments = isPath ? Array(words.dropFirst()) : words
        if let environment { process.environment = environment }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardInput = FileHandle.nullDevice
        // Its own way of waiting runs a run loop, which was seen to sleep on when the clock had been set.
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        do {
            try process.run()
        } catch {
            throw BucketError(
                .invalidCredentials, "the command \(name) can't be run",
                hint: hint)
        }
        let done = DispatchSemaphore(value: 0)
        let read = Mutex(Data())
        let handle = pipe.fileHandleForReading
        // Its output may be more than the pipe holds, and it may never end.
        let reader = Thread { [byteCountMax = Self.byteCountMax] in
            while let piece = try? handle.read(upToCount: 4096), !piece.isEmpty {
                let count = read.withLock { data in
                    if data.count <= byteCountMax { data.append(piece) }
                    return data.count
                }
                if count > byteCountMax { break }
            }
            done.signal()
        }
        reader.start()
        var rest = seconds
        let data: Data
        do {
            try wait(for: done, &rest, name, check)
            data = read.withLock { $0 }
            guard data.count <= Self.byteCountMax else {
                throw BucketError(.invalidCredentials, "the command \(name) prints too much", hint: hint)
            }
            // One that has closed its output may go on for ever.
            try wait(for: ended, &rest, name, check)
        } catch {
            process.terminate()
            throw error
        }
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw BucketError(
                .invalidCredentials, "the command \(name) failed with \(process.terminationStatus)",
                hint: hint)
        }
        return data
    }

    /// Waits for a signal, for as long as the command may still take.
    ///
    /// - throws: ``BucketError`` of code `invalidCredentials`; what `check` throws.
    private func wait(
        for signal: DispatchSemaphore, _ rest: inout Double, _ name: String, _ check: () throws -> Void
    ) throws {
        while signal.wait(timeout: .now() + .milliseconds(50)) == .timedOut {
            rest -= 0.05
            try check()
            guard rest > 0 else {
                throw BucketError(
                    .invalidCredentials, "the command \(name) did not end within \(Int(seconds)) s",
                    hint: hint)
            }
        }
    }

    /// Splits a command into words. Quotes of both kinds group; a backslash keeps the next character, but not between
    /// single quotes.
    static func words(_ line: String) throws -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isKept = false
        for character in line {
            if isKept {
                word = (word ?? "") + String(character)
                isKept = false
            } else if character == "\\" && quote != "'" {
                isKept = true
            } else if character == quote {
                quote = nil
            } else if quote == nil && (character == "'" || character == "\"") {
                quote = character
                word = word ?? ""
            } else if quote == nil && character.isWhitespace {
                word.map { words.append($0) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        word.map { words.append($0) }
        guard quote == nil, !isKept, let first = words.first, !first.isEmpty else {
            throw BucketError(
                .invalidCredentials, "credential_process is no command", hint: "close its quotes")
        }
        return words
    }
}
