import Foundation
import HummingbirdCore
import NIOCore

/// Reads the body of a request in pieces, when it is not slower than it may be.
struct BodyReader {
    /// The least progress, in each span of the time that a connection may be silent.
    private static let bytesPerSecondMin = 4096.0
    /// How much memory is asked for before any byte has come.
    private static let reservedByteCountMax = 64 << 10

    private var iterator: RequestBody.AsyncIterator
    private let silenceSeconds: Double
    private let onBytes: @Sendable (Int) -> Void
    private let now: () -> ContinuousClock.Instant
    private var rest = ByteBuffer()
    private var span: (start: ContinuousClock.Instant, byteCount: Int)

    /// - parameters:
    ///     - body: What is read.
    ///     - silenceSeconds: How long a connection may be silent.
    ///     - now: The time, which tests make.
    ///     - onBytes: Called with how many bytes came, as they come.
    init(
        _ body: RequestBody, silenceSeconds: Double,
        now: @escaping () -> ContinuousClock.Instant = { .now },
        onBytes: @escaping @Sendable (Int) -> Void
    ) {
        iterator = body.makeAsyncIterator()
        self.silenceSeconds = silenceSeconds
        self.now = now
        self.onBytes = onBytes
        span = (now(), 0)
    }

    /// Reads the next bytes.
    ///
    /// - parameters:
    ///     - count: How many.
    ///     - willKeep: Called as they come, with how many of them there are then. What it throws ends the reading.
    /// - returns: As many as were asked for; fewer at the end.
    /// - throws: ``RelayProblem`` of code `malformed` when they come too slowly, or the client goes before they are there.
    mutating func read(_ count: Int, willKeep: (Int) throws -> Void = { _ in }) async throws -> Data {
        var data = Data()
        data.reserveCapacity(min(count, Self.reservedByteCountMax))
        while data.count < count {
            if rest.readableBytes == 0 {
                guard let buffer = try await next() else { break }
                rest = buffer
            }
            let length = min(rest.readableBytes, count - data.count)
            try willKeep(data.count + length)
            if let piece = rest.readSlice(length: length) { data.append(contentsOf: piece.readableBytesView) }
        }
        return data
    }

    /// Reads bytes that nobody wants, so that the client comes to read the answer.
    mutating func skip(upTo limit: Int) async {
        var count = 0
        while count <= limit, let buffer = try? await next() { count += buffer.readableBytes }
    }

    private mutating func next() async throws -> ByteBuffer? {
        let buffer: ByteBuffer?
        do {
            buffer = try await iterator.next()
        } catch {
            throw RelayProblem(.malformed, "the request ended before its body was there")
        }
        span.byteCount += buffer?.readableBytes ?? 0
        if let buffer { onBytes(buffer.readableBytes) }
        let now = now()
        let seconds = (now - span.start) / .seconds(1)
        guard seconds >= silenceSeconds else { return buffer }
        // Whoever sent much at first may not hold the rest back for as long as that earned.
        guard Double(span.byteCount) >= seconds * Self.bytesPerSecondMin else {
            throw RelayProblem(.malformed, "the request came too slowly", status: 408)
        }
        span = (now, 0)
        return buffer
    }
}
