import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SyncRelay

/// A clock that tests move.
final class RelayClockHand: Sendable {
    private let now = Mutex<Int64>(1_700_000_000_000)

    var milliseconds: Int64 { now.withLock { $0 } }

    func advance(seconds: Int64) { now.withLock { $0 += seconds * 1000 } }
}

/// A channel, with the tokens that open it.
struct TestChannel {
    let id = RelayChannelID.random()
    let readToken = RelayToken.random()
    let writeToken = RelayToken.random()

    var registration: RelayRegistration {
        RelayRegistration(readToken: readToken.digest, writeToken: writeToken.digest)
    }

    /// A channel that is made in a storage.
    init(in storage: any RelayStorage) async throws {
        _ = try await storage.makeChannel(id, registration)
    }

    init() {}
}

extension RelayFileName {
    /// A file in a folder that is named by a number.
    static func numbered(_ folder: Int, _ name: String) throws -> RelayFileName {
        let digits = String(folder, radix: 16)
        return try RelayFileName(
            folder: String(repeating: "0", count: 32 - digits.count) + digits, name: name)
    }
}

extension RelayStorage {
    @discardableResult func put(
        _ name: String, _ content: Data, in channel: RelayChannelID, folder: Int = 0, replacing: Bool = true
    ) async throws -> RelayOutcome {
        let file = try RelayFileName.numbered(folder, name)
        let result = try await change(channel, [.write(file, replacing: replacing, content: content)])
        return try #require(result.outcomes.first)
    }

    @discardableResult func remove(
        _ name: String, in channel: RelayChannelID, folder: Int = 0
    ) async throws -> RelayPosition {
        try await change(channel, [.remove(RelayFileName.numbered(folder, name))]).position
    }

    /// All bytes of a file.
    func content(_ name: String, in channel: RelayChannelID, folder: Int = 0) async throws -> Data {
        let version = try await version(of: .numbered(folder, name), in: channel)
        var data = Data()
        while Int64(data.count) < version.byteCount {
            let piece = try await read(version, from: Int64(data.count))
            try #require(!piece.isEmpty)
            data += piece
        }
        return data
    }

    /// Writes a file in pieces.
    @discardableResult func upload(
        _ name: String, _ content: Data, to channel: RelayChannelID, folder: Int = 0, replacing: Bool = true
    ) async throws -> RelayOutcome {
        let upload = try await begin(name, content, to: channel, folder: folder, replacing: replacing)
        try await send(content, to: upload)
        return try await finish(upload)
    }

    func begin(
        _ name: String, _ content: Data, to channel: RelayChannelID, folder: Int = 0, replacing: Bool = true
    ) async throws -> RelayUpload {
        try await beginUpload(
            RelayUploadRequest(
                file: .numbered(folder, name), isReplacing: replacing, byteCount: Int64(content.count),
                digest: RelayDigest(of: content)),
            to: channel)
    }

    func send(_ content: Data, to upload: RelayUpload) async throws {
        var rest = content
        var offset: Int64 = 0
        while !rest.isEmpty {
            let piece = rest.prefix(RelayUpload.pieceByteCount)
            try await append(Data(piece), at: offset, to: upload)
            rest = rest.dropFirst(piece.count)
            offset += Int64(piece.count)
        }
    }

    /// All pages of a listing, as a client puts them together.
    func listing(
        _ channel: RelayChannelID, _ request: RelayListingRequest = .all
    ) async throws -> (
        files: [RelayFileName: RelayListing.Entry], removed: Set<RelayFileName>, last: RelayListing,
        pageCount: Int
    ) {
        var files: [RelayFileName: RelayListing.Entry] = [:]
        var removed: Set<RelayFileName> = []
        var page = try await list(channel, request)
        var count = 1
        while true {
            for entry in page.files {
                files[entry.file] = entry
                removed.remove(entry.file)
            }
            for file in page.removed {
                files[file] = nil
                removed.insert(file)
            }
            guard let next = page.next else { return (files, removed, page, count) }
            page = try await list(channel, .page(next))
            count += 1
        }
    }
}

/// Expects a problem of a kind.
func expectProblem<Value>(
    _ code: RelayProblem.Code, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Value
) async {
    do {
        _ = try await body()
        Issue.record("nothing was thrown", sourceLocation: sourceLocation)
    } catch let problem as RelayProblem {
        #expect(problem.code == code, "\(problem)", sourceLocation: sourceLocation)
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
}

/// Bytes that look like those of a cipher, the same each time.
func pattern(_ count: Int, seed: UInt64 = 1) -> Data {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    var data = Data(capacity: count + 8)
    while data.count < count {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        withUnsafeBytes(of: state) { data.append(contentsOf: $0) }
    }
    return data.prefix(count)
}

/// Runs what blocks on a thread of its own.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}

/// Lets a few tests at a time use the common PostgreSQL server.
struct FewAtATime: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // Suites have no case; only their tests are counted.
        guard testCase != nil else { return try await function() }
        try await PostgresServer.gate.pass { try await function() }
    }
}

extension Trait where Self == FewAtATime {
    static var fewAtATime: Self { FewAtATime() }
}
