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

    /// - parameters:
    ///     - path: What makes the download.
    ///     - request: The body of the request for it.
    ///     - onPiece: Called with each piece, and the bytes that are here with it.
    func fetch(
        _ path: String, _ request: [UInt8],
        onPiece: ([UInt8], Int64, Message.Download) throws -> Void
    ) throws -> Message.Download {
        let answer = try connection.send(
            .init(
                method: "POST", path: connection.base + path, body: request, seconds: options.patienceSeconds)
        )
        let download = try JSONDocument.decode(Message.Download.self, from: answer)
        guard download.byteCount >= 0, download.byteCount <= options.transferByteCountMax,
            download.rowCount >= 0,
            ByteText.bytes(hex: download.download) != nil
        else { throw RemoteError(.tooLarge, "the server offers \(download.byteCount) bytes") }
        if let content = download.content {
            guard let bytes = ByteText.bytes(base64: content), Int64(bytes.count) == download.byteCount else {
                throw RemoteError(.malformed, "the server sends another number of bytes than it announced")
            }
            if !bytes.isEmpty { try onPiece(bytes, download.byteCount, download) }
            return download
        }
        var count: Int64 = 0
        while count < download.byteCount {
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
                        guard count <= download.byteCount else {
                            throw RemoteError(.malformed, "the server sends more than it announced")
                        }
                        try onPiece(piece, count, download)
                    }
                } catch let error as RemoteError where error.code == .unreachable && count > before {
                    return false
                }
                return true
            }
            guard count > start else {
                throw RemoteError(.malformed, "the server sends less than it announced")
            }
        }
        var end = RemoteConnection.Call(
            method: "DELETE", path: connection.base + "/downloads/" + download.download)
        end.isRepeatable = false
        _ = try? connection.send(end)
        return download
    }
}

/// Brings a bundle to a server, from where it broke, and has it applied.
struct RemoteUpload {
    private let connection: RemoteConnection
    private let options: HTTPTransport.Options
    private let spool: ByteSpool
    private var path: String { connection.base + "/uploads" }

    init(_ connection: RemoteConnection, _ options: HTTPTransport.Options, _ spool: ByteSpool) {
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
                if let application = state.application { return application.summary }
                if state.isKnown { return ApplySummary() }
                let answer = try connection.send(
                    .init(
                        method: "POST", path: "\(path)/\(state.bundle)/application",
                        seconds: options.patienceSeconds))
                return try JSONDocument.decode(Message.Application.self, from: answer).summary
            } catch let error as RemoteError where error.code == .notFound && attempts < 2 {
                // It was applied and the answer got lost, or it had to make room: the beginning shows which.
                attempts += 1
            }
        }
    }

    /// Sends the header and as much as fits beside it. If that is all, it is applied at once.
    private func begin() throws -> Message.Upload {
        var body: [UInt8] = []
        var isFull = false
        var isFirst = true
        try forEachFrame { frame in
            guard !isFull else { return }
            if !isFirst && body.count + frame.count > options.uploadByteCount {
                isFull = true
                return
            }
            isFirst = false
            body += frame
        }
        let answer = try connection.send(
            .init(
                method: "POST", path: path, query: isFull ? "" : "apply=true", body: body,
                seconds: options.patienceSeconds))
        return try checked(JSONDocument.decode(Message.Upload.self, from: answer))
    }

    /// Sends what is missing.
    private func add(to state: Message.Upload) throws -> Message.Upload {
        var state = state
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
        try forEachFrame { frame in
            number += 1
            // The header is at -1. The end has a number too that is at least the first missing one's.
            guard number >= missing else { return }
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

    private func forEachFrame(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var assembler = FrameAssembler()
        try spool.forEachPiece { try assembler.append($0, onFrame: body) }
        try assembler.finish()
    }
}
