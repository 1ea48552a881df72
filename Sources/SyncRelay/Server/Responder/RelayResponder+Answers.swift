import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import SyncHTTP

/// How answers are made.
extension RelayResponder {
    func document(_ value: some Encodable, _ status: HTTPResponse.Status = .ok) throws -> Response {
        octets(try RelayJSON.encode(value), "application/json", status)
    }

    func octets(_ bytes: [UInt8], _ type: String, _ status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    func problem(_ problem: RelayProblem) throws -> Response {
        var response = octets(
            try RelayJSON.encode(problem), "application/problem+json", .init(code: problem.status))
        if let seconds = problem.retrySeconds { response.headers[.retryAfter] = String(seconds) }
        if problem.status == 401 { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }

    /// The bytes of an answer that nobody counts: what is known of its connection takes more.
    static let uncountedByteCountMax = 16 << 10

    /// Counts the bytes of an answer as in memory until it was read: its client may do that slowly, or never.
    ///
    /// - throws: ``RelayProblem`` of code `busy` when too much waits to be read.
    func counted(_ response: Response, _ context: RelayContext) throws -> Response {
        let body = response.body
        guard let length = body.contentLength, length > Self.uncountedByteCountMax else { return response }
        let answer = heldAnswers.begin(of: context.address)
        try answer.raise(to: min(length, limits.addressHeldAnswerByteCountMax))
        let channel = context.channel
        var response = response
        response.body = ResponseBody(contentLength: length) { writer in
            defer { answer.lower(to: 0) }
            try await body.write(writer)
            try await writer.waitUntilSent(by: channel)
        }
        return response
    }

    /// Reads a document, and answers it. Until then it counts as in memory: it may have to wait for its turn in the storage.
    ///
    /// - parameters:
    ///     - limit: The most bytes that it may have.
    ///     - answer: Makes the answer.
    /// - throws: ``RelayProblem``: `malformed`, `tooLarge`, `busy`; what `answer` throws.
    func withDocument<Value: Decodable & Sendable>(
        _ type: Value.Type, of request: Request, upTo limit: Int, _ context: RelayContext,
        _ answer: (Value) async throws -> Response
    ) async throws -> Response {
        let length = Int(try byteCount(of: request, upTo: Int64(limit)))
        return try await held.hold(of: context.address) { held in
            let value = try await decode(type, of: request, length, held)
            // Its bytes are gone, and what was made of them is no longer than they were.
            held.lower(to: length)
            return try await answer(value)
        }
    }

    private func decode<Value: Decodable & Sendable>(
        _ type: Value.Type, of request: Request, _ length: Int, _ held: HeldRequest
    ) async throws -> Value {
        var reader = reader(of: request)
        // Its bytes, the text that they are, and what is made of it.
        let data = try await reader.read(length) { try held.raise(to: 3 * $0) }
        guard data.count == length else { throw Self.endedEarly }
        return try RelayJSON.decode(type, from: Array(data))
    }

    /// What reads a body, when it comes fast enough.
    func reader(of request: Request) -> BodyReader {
        BodyReader(request.body, silenceSeconds: limits.silenceSeconds) { [traffic] in
            traffic.count(received: $0)
        }
    }

    static let endedEarly = RelayProblem(.malformed, "the request ended before its body was there")

    /// How many bytes a request says that it has.
    ///
    /// - throws: ``RelayProblem``: `malformed` when it doesn't say it, `tooLarge`.
    func byteCount(of request: Request, upTo limit: Int64) throws -> Int64 {
        guard let header = request.headers[.contentLength], request.headers[.transferEncoding] == nil else {
            throw RelayProblem(.malformed, "the request doesn't say how long it is", status: 411)
        }
        guard let length = RelayNumber.natural(header) else {
            throw RelayProblem(.malformed, "the length of the request can't be read")
        }
        guard length <= limit else {
            throw RelayProblem(
                .tooLarge, "the request is longer than it may be", byteCount: length, byteCountMax: limit)
        }
        return length
    }

    /// A moment that a request names; nil when it names none.
    ///
    /// - throws: ``RelayProblem`` of code `malformed`.
    func moment(of request: Request) throws -> RelayMoment? {
        let parameters = request.uri.queryParameters
        let after = try parameters["after"].map { text in
            guard let position = RelayNumber.natural(text) else {
                throw RelayProblem(.malformed, "a position is a number from 0 to 2^63 - 1")
            }
            return position
        }
        let epoch = try parameters["epoch"].map { text in
            guard let epoch = RelayEpoch(text) else {
                throw RelayProblem(.malformed, "an epoch is 32 hexadecimal digits in lower case")
            }
            return epoch
        }
        guard let after, let epoch else { return nil }
        return RelayMoment(epoch: epoch, position: after)
    }
}

extension HTTPField.Name {
    /// The digest of a body (RFC 9530).
    static let contentDigest = make("content-digest")

    private static func make(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is a name of a header") }
        return name
    }
}
