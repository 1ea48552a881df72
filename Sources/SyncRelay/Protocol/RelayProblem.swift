/// What a relay refuses, or can't do, and what helps.
///
/// It is what the relay answers with, as `application/problem+json`, and what its storage throws.
public struct RelayProblem: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of problem. New kinds may be added.
    public enum Code: String, Sendable, Codable, CaseIterable {
        /// The token is wrong, or there is no such channel.
        case unauthorized
        /// What was asked for is not there.
        case missing
        /// There is a file of that name already.
        case exists
        /// The channel was made with other tokens, or has changed since.
        case conflict
        /// A file or a document is larger than a relay takes.
        case tooLarge
        /// There is no room for it in the channel, or in the relay.
        case full
        /// The bytes that came are not those that were announced.
        case digestMismatch
        /// A request that can't be right.
        case malformed
        /// There were too many requests. A retry helps.
        case busy
        /// The relay can't do it now. A retry helps.
        case unavailable
        /// The relay's disk is full. A retry helps when somebody has made room there.
        case diskFull
    }

    /// The kind of problem.
    public let code: Code
    /// What happened, in a sentence. It names no token and no identifier.
    public let message: String
    /// The status of an answer.
    public var status: Int
    /// How many bytes there are, or would be; nil where that says nothing.
    public var byteCount: Int64?
    /// How many there may be; nil where that says nothing.
    public var byteCountMax: Int64?
    /// After how many seconds a retry may help; nil where none does.
    public var retrySeconds: Int?
    /// What a log may say of it, and an answer must not.
    package var cause: String?

    /// Makes a problem.
    ///
    /// - parameters:
    ///     - code: The kind of problem.
    ///     - message: What happened, in a sentence.
    ///     - status: The status of an answer, when it is not the usual one of the kind.
    ///     - byteCount: How many bytes there are, or would be.
    ///     - byteCountMax: How many there may be.
    ///     - retrySeconds: After how many seconds a retry may help.
    public init(
        _ code: Code, _ message: String, status: Int? = nil, byteCount: Int64? = nil,
        byteCountMax: Int64? = nil, retrySeconds: Int? = nil
    ) {
        self.code = code
        self.message = message
        self.status = status ?? code.status
        self.byteCount = byteCount
        self.byteCountMax = byteCountMax
        self.retrySeconds = retrySeconds ?? code.retrySeconds
    }

    /// What happened.
    public var description: String { message }
}

extension RelayProblem {
    /// What is said of a wrong token and of a channel that is not there: nobody can tell the two apart.
    package static let noChannel = RelayProblem(
        .unauthorized, "the token is wrong, or there is no such channel")
}

extension RelayProblem.Code {
    /// The usual status of an answer.
    var status: Int {
        switch self {
        case .malformed, .digestMismatch: 400
        case .unauthorized: 401
        case .missing: 404
        case .conflict: 409
        case .exists: 412
        case .tooLarge: 413
        case .busy: 429
        case .unavailable, .diskFull: 503
        case .full: 507
        }
    }

    /// After how many seconds a retry usually may help; nil where none does.
    var retrySeconds: Int? {
        switch self {
        case .busy, .unavailable: 1
        case .diskFull: 30
        default: nil
        }
    }
}

extension RelayProblem: Codable {
    private enum CodingKeys: String, CodingKey {
        case type, title, status, byteCount, byteCountMax
    }

    /// The most characters of a sentence that are taken over.
    private static let characterCountMax = 1_000

    /// Reads a problem document. A kind that is not known is `unavailable`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let type = try container.decode(String.self, forKey: .type)
        let title = try container.decodeIfPresent(String.self, forKey: .title) ?? ""
        self.init(
            Code(rawValue: type) ?? .unavailable, String(title.prefix(Self.characterCountMax)),
            status: try container.decodeIfPresent(Int.self, forKey: .status),
            byteCount: try container.decodeIfPresent(Int64.self, forKey: .byteCount),
            byteCountMax: try container.decodeIfPresent(Int64.self, forKey: .byteCountMax))
    }

    /// Writes a problem document. The time of a retry is in a header.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code.rawValue, forKey: .type)
        try container.encode(message, forKey: .title)
        try container.encode(status, forKey: .status)
        try container.encodeIfPresent(byteCount, forKey: .byteCount)
        try container.encodeIfPresent(byteCountMax, forKey: .byteCountMax)
    }
}
