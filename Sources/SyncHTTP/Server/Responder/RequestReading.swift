import Hummingbird
import HummingbirdCore
import NIOCore

/// Reads bodies that are not longer, and not slower, than they may be.
struct RequestReading {
    /// The least progress, in each span of the time that a connection may be silent.
    private static let bytesPerSecondMin = 4096.0

    private let limits: HubServer.Limits

    init(_ limits: HubServer.Limits) { self.limits = limits }

    /// Reads all of a body.
    ///
    /// - parameter onBytes: Told how many bytes came; it may throw.
    /// - throws: ``RemoteError``: `tooLarge`, `tooSlow`; `malformed` when the client goes before all of it came.
    func body(
        of request: Request, upTo limit: Int, onBytes: (Int) throws -> Void = { _ in }
    ) async throws -> [UInt8] {
        if let length = request.headers[.contentLength].flatMap({ Int64($0) }), length > Int64(limit) {
            throw RemoteError(.tooLarge, "the request has \(length) bytes, and may have \(limit)")
        }
        do {
            return try await read(request.body, upTo: limit, onBytes)
        } catch let error where !(error is RemoteError || error is CancellationError) {
            // Errors of the connection: nothing failed here.
            throw RemoteError(.malformed, "the request ended before its body was there")
        }
    }

    private func read(
        _ body: RequestBody, upTo limit: Int, _ onBytes: (Int) throws -> Void
    ) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        var span = (start: ContinuousClock.now, byteCount: 0)
        for try await buffer in body {
            guard bytes.count + buffer.readableBytes <= limit else {
                throw RemoteError(.tooLarge, "the request has over \(limit) bytes")
            }
            try onBytes(buffer.readableBytes)
            bytes.append(contentsOf: buffer.readableBytesView)
            span.byteCount += buffer.readableBytes
            let now = ContinuousClock.now
            let seconds = (now - span.start) / .seconds(1)
            guard seconds >= limits.silenceSeconds else { continue }
            // Whoever sent much at first may not hold the rest back for as long as that earned.
            guard Double(span.byteCount) >= seconds * Self.bytesPerSecondMin else {
                throw RemoteError(.tooSlow, "the request came too slowly")
            }
            span = (now, 0)
        }
        return bytes
    }
}
