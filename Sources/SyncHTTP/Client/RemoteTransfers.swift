import Foundation
import SyncEngine
import SyncWire

/// Fetches what a server puts ready, from where it broke.
struct RemoteDownload {
    private let connection: RemoteConnection
    private let options: HTTPTransport.Options

    init(_ connection: RemoteConnection, _ options: HTTPTransport.Options) {
        self.connection = connection
        self.options = options
    }

    /// Has something made that can be fetched.
    ///
    /// - parameters:
    ///     - path: What makes it.
    ///     - request: The body of the request for it.
    func begin(_ path: String, _ request: [UInt8]) throws -> Message.Download {
        let isCompressed = options.compression.isUsed(with: connection.address)
        let answer = try connection.send(
            .init(
                method: "POST", path: connection.base + path,
                query: isCompressed ? "codec=\(Message.codec)" : "", body: request,
                seconds: options.patienceSeconds))
        let download = try JSONDocument.decode(Message.Download.self, from: answer)
        try Self.check(download, options)
        return download
    }

    /// Throws when nothing like that can be fetched. How large one is that is still being made shows when it comes.
    static func check(_ download: Message.Download, _ options: HTTPTransport.Options) throws {
        try download.checkCounts()
        guard ByteText.bytes(hex: download.download) != nil
        else { throw RemoteError(.malformed, "the server's offer makes no sense") }
        guard download.isOpen == true || download.byteCount <= options.transferByteCountMax else {
            throw RemoteError(.tooLarge, "the server offers \(download.byteCount) bytes")
        }
    }

    /// Fetches it.
    ///
    /// - parameter onPiece: Called with each piece, and the bytes that are here with it.
    func fetch(_ download: Message.Download, onPiece: ([UInt8], Int64) throws -> Void) throws {
        if let content = download.content {
            guard let bytes = ByteText.bytes(base64: content), Int64(bytes.count) == download.byteCount else {
                throw RemoteError(.malformed, "the server sends another number of bytes than it announced")
            }
            if !bytes.isEmpty { try onPiece(bytes, download.byteCount) }
            return
        }
        let isOpen = download.isOpen == true
        let most = isOpen ? options.transferByteCountMax : download.byteCount
        var count: Int64 = 0
        while isOpen || count < download.byteCount {
            let start = count
            let call = RemoteConnection.Call(
                method: "GET", path: connection.base + "/downloads/" + download.download,
                query: "offset=\(count)")
            // The query has to say where it broke, so each repetition is a call of its own.
            try connection.repeating(call) { _ in
                let before = count
                var current = call
                current.query = "offset=\(count)"
                do {
                    try connection.exchange(current) { piece in
                        count += Int64(piece.count)
                        guard count <= most else {
                            throw isOpen
                                ? RemoteError(.tooLarge, "the server sends over \(most) bytes")
                                : RemoteError(.malformed, "the server sends more than it announced")
                        }
                        try onPiece(piece, count)
                    }
                } catch let error as RemoteError where error.code == .unreachable && count > before {
                    return false
                }
                return true
            }
            if count == start && isOpen { break }
            guard count > start else {
                throw RemoteError(.malformed, "the server sends less than it announced")
            }
        }
        var end = RemoteConnection.Call(
            method: "DELETE", path: connection.base + "/downloads/" + download.download)
        end.isRepeatable = false
        _ = try? connection.send(end)
    }
}

/// Brings a bundle to a server, from where it broke, and has it applied.
struct RemoteUpload {
    private let connection: RemoteConnection
    private let options: HTTPTransport.Options
    private let spool: ByteSpool
    private let isLong: Bool
    private var path: String { connection.base + "/uploads" }

    /// - parameter isLong: Whether the server is asked for more time than others are to wait.
    init(
        _ connection: RemoteConnection, _ options: HTTPTransport.Options, _ spool: ByteSpool, isLong: Bool
    ) {
        self.isLong = isLong
        self.connection = connection
        self.options = options
        self.spool = spool
    }

    /// - returns: What the application did; nothing when the server knew all of it.
    func run() throws -> ApplySummary {
        var attempts = 0
        while true {
            do {
                var state = try begin()
                var rounds = 0
                while !state.isComplete {
                    rounds += 1
                    guard rounds <= 3 else {
                        throw RemoteError(.failed, "the server does not keep what it is sent")
                    }
                    state = try add(to: state)
                }
                if let application = state.application { return try application.summary() }
                if state.isKnown { return ApplySummary() }
                let answer = try connection.send(
                    .init(
                        method: "POST", path: "\(path)/\(state.bundle)/application",
                        query: isLong ? "long=true" : "", seconds: options.patienceSeconds))
                return try JSONDocument.decode(Message.Application.self, from: answer).summary()
            } catch let error as RemoteError where error.code == .notFound && attempts < 2 {
                // It was applied and the answer got lost, or it had to make room: the beginning shows which.
                attempts += 1
            }
        }
    }

    /// Sends the header and as much as fits beside it. If that is all, it is applied at once.
    private func begin() throws -> Message.Upload {
        var frames = SpoolFrames(spool)
        var body: [UInt8] = []
        var isAll = true
        while let frame = try frames.next() {
            isAll = body.isEmpty || body.count + frame.count <= options.uploadByteCount
            guard isAll else { break }
            body += frame
        }
        let answer = try connection.send(
            .init(
                method: "POST", path: path, query: isAll ? "apply=true" + (isLong ? "&long=true" : "") : "",
                body: body,
                seconds: options.patienceSeconds))
        return try checked(JSONDocument.decode(Message.Upload.self, from: answer))
    }

    /// Sends what is missing.
    private func add(to state: Message.Upload) throws -> Message.Upload {
        var state = state
        var frames = SpoolFrames(spool)
        var body: [UInt8] = []
        var number: Int64 = -2
        func flush() throws {
            guard !body.isEmpty else { return }
            let answer = try connection.send(
                .init(method: "PUT", path: "\(path)/\(state.bundle)", body: body, seconds: 300))
            state = try checked(JSONDocument.decode(Message.Upload.self, from: answer))
            body.removeAll(keepingCapacity: true)
        }
        let missing = Int64(state.firstMissingChunk)
        while let frame = try frames.next() {
            number += 1
            // The header is at -1. The end has a number too that is at least the first missing one's.
            guard number >= missing else { continue }
            if body.count + frame.count > options.uploadByteCount { try flush() }
            body += frame
        }
        try flush()
        return state
    }

    private func checked(_ state: Message.Upload) throws -> Message.Upload {
        guard ByteText.bytes(hex: state.bundle)?.count == BundleParts.identifierByteCount else {
            throw RemoteError(.malformed, "the server's answer names no bundle")
        }
        return state
    }
}
