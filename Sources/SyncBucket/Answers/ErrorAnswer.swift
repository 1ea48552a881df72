import Foundation

/// What a server says of a request that it did not carry out.
struct ErrorAnswer {
    /// The HTTP status.
    let status: Int
    /// The word for what is wrong, such as `NoSuchBucket`; empty when there is none. Nothing else of a server's text is
    /// taken over: it may repeat what was sent.
    let code: String
    /// The region that the bucket is in, if the server says so.
    let region: String?
    /// The server's clock, in milliseconds since 1970.
    let serverMilliseconds: Int64?
    /// How long the server wants to be left alone, in seconds.
    let retryAfterSeconds: Double?

    init(_ answer: BucketAnswer) {
        let root = XMLElement(document: answer.body, byteCountMax: 64 << 10)
        let document = root?.name == "Error" ? root : nil
        status = answer.status
        code = Self.word(document?.text("Code"), isKept: \.isLetter)
        let region = answer.header("x-amz-bucket-region") ?? document?.text("Region")
        let word = Self.word(region) { $0.isLetter || $0.isNumber || $0 == "-" }
        self.region = word.isEmpty ? nil : word
        serverMilliseconds = answer.header("date").flatMap(CanonicalText.milliseconds(ofHTTPDate:))
        retryAfterSeconds = answer.header("retry-after").flatMap { Double($0) }.flatMap {
            $0.isFinite ? $0 : nil
        }
    }

    /// A word of plain letters; empty for what is none.
    private static func word(_ text: String?, isKept: (Character) -> Bool) -> String {
        guard let text, text.utf8.count <= 64, text.allSatisfy({ $0.isASCII && isKept($0) }) else {
            return ""
        }
        return text
    }

    /// Whether the same request may succeed a little later.
    var mayPass: Bool {
        switch status {
        case 408, 425, 429, 500, 502, 503, 504: true
        case 409: code == "ConditionalRequestConflict" || code == "OperationAborted"
        case 400: code == "RequestTimeout" || code == "IncompleteBody"
        default: code == "SlowDown" || code == "InternalError" || code == "ServiceUnavailable"
        }
    }

    /// Whether new credentials may help.
    var isOfExpiredCredentials: Bool { ["ExpiredToken", "TokenRefreshRequired"].contains(code) }

    /// How it is named in messages.
    var words: String { "HTTP status \(status)" + (code.isEmpty ? "" : " \(code)") }
}
