import Hummingbird
import HummingbirdCore
import NIOCore

/// Reads bodies that are not longer, and not slower, than they may be.
struct RequestReading {
    /// The least progress: a body takes at most as long as at this speed, after a start.
    private static let bytesPerSecondMin = 4096.0

    private let limits: HubServer.Limits

    init(_ limits: HubServer.Limits) { self.limits = limits }

    /// Reads all of a body.
    ///
    /// - throws: ``RemoteError``: `tooLarge`, `tooSlow`.
    func body(of request: Request, upTo limit: Int) async throws -> [UInt8] {
        if let length = request.headers[.contentLength].flatMap({ Int64($0) }), length > Int64(limit) {
            throw RemoteError(.tooLarge, "the request has \(length) bytes, and may have \(limit)")
        }
        let start = ContinuousClock.now
        var bytes: [UInt8] = []
        for try await buffer in request.body {
            guard bytes.count + buffer.readableBytes <= limit else {
                throw RemoteError(.tooLarge, "the request has over \(limit) bytes")
            }
            bytes.append(contentsOf: buffer.readableBytesView)
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            guard seconds < limits.silenceSeconds + Double(bytes.count) / Self.bytesPerSecondMin else {
                throw RemoteError(.tooSlow, "the request came too slowly")
            }
        }
        return bytes
    }
}
