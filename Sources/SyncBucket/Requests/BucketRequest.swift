import Foundation

/// A request to a bucket, before it is signed.
struct BucketRequest {
    /// What is counted as one kind.
    enum Kind: String, CaseIterable, Sendable {
        case list, get, head, put, delete, multipart
    }

    var kind: Kind
    var method: String
    /// The name of the file; nil for the bucket itself.
    var key: String?
    var query: [(name: String, value: String)] = []
    var headers: [(name: String, value: String)] = []
    var body = Data()
    /// The longest answer.
    var answerByteCountMax = 64 << 10
    /// The statuses, beside those of success, that the caller makes sense of, unless the error in the answer passes.
    var accepted: Set<Int> = []
    /// How long it may take, in seconds, beside the time for the bytes.
    var seconds: Int64 = 60
    /// Whether the server answers 200 before it has done it, and may say in the document that it failed.
    var mayFailLate = false
}

/// A request as it goes over the network.
struct SignedRequest: Sendable {
    let method: String
    let url: String
    let headers: [(name: String, value: String)]
    let body: Data
    let answerByteCountMax: Int
    /// How long it may take in all, in seconds.
    let seconds: Int64
}

/// What came back.
struct BucketAnswer: Sendable {
    let status: Int
    /// By names in lower case; of several of one name the first.
    let headers: [String: String]
    let body: Data

    init(status: Int, headers: [(name: String, value: String)], body: Data) {
        self.status = status
        self.headers = Dictionary(
            headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
        self.body = body
    }

    func header(_ name: String) -> String? { headers[name] }
}

/// What sends requests. It repeats none.
protocol BucketCarrier: Sendable {
    /// Sends a request, and waits for the whole answer.
    ///
    /// - parameter check: Called several times a second while it waits; an error that it throws ends the request.
    /// - throws: ``CarrierFailure``; what `check` throws.
    func send(_ request: SignedRequest, check: () throws -> Void) throws -> BucketAnswer
}

/// Why no answer came, in words without a final period. The request may have been carried out.
struct CarrierFailure: Error {
    let reason: String
    /// Whether another attempt may bring one.
    var mayPass = true
    /// Whether the server's certificate can't be relied on.
    var isOfCertificate = false
}
