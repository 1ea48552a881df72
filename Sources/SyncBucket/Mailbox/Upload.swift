import Foundation
import SyncEngine

/// Writes a file: at once, or in parts when it is large. In either way it is there whole or not at all.
struct Upload {
    /// What is sent in one request.
    static let partByteCount = 16 << 20
    /// The most parts that a file may have.
    static let partCountMax = 10_000
    /// A header of the file, by which a repeated request finds out that it was carried out before.
    static let digestHeader = "x-amz-meta-sha256"

    let state: BucketState
    let path: MailboxPath
    let replacing: Bool
    let check: () throws -> Void

    func send(_ spool: Spool) throws {
        guard spool.byteCount <= Self.partByteCount * Self.partCountMax else {
            throw MailboxError(.full, "a file of a bucket has at most \(Self.partCountMax) parts of 16 MiB")
        }
        let tag: String?
        do {
            tag =
                try spool.byteCount <= Self.partByteCount
                ? sendWhole(spool) : MultipartUpload(upload: self, digest: spool.digest).send(spool)
        } catch {
            // It may have been written all the same.
            state.doubt()
            throw error
        }
        state.note(BucketListing.File(byteCount: spool.byteCount, tag: tag), at: path)
        if let tag, path.name == "head" {
            state.cache.keep(try spool.read(at: 0, upTo: spool.byteCount), of: path, tag: tag)
        }
    }

    private func sendWhole(_ spool: Spool) throws -> String? {
        var request = BucketRequest(kind: .put, method: "PUT", key: state.key(of: path))
        request.headers = [
            ("content-type", "application/octet-stream"), (Self.digestHeader, spool.digest),
        ]
        request.body = try spool.read(at: 0, upTo: spool.byteCount)
        return try sendConditionally(request, digest: spool.digest)
    }

    /// Sends the request that makes the file appear, unless there is one of the name that must not be replaced.
    ///
    /// - returns: The tag of the file, if the server gives one.
    func sendConditionally(_ request: BucketRequest, digest: String) throws -> String? {
        var request = request
        let isConditional = !replacing && state.has(.conditionalWrite)
        if isConditional { request.headers.append(("if-none-match", "*")) }
        // Only of the condition it makes sense that the server does not know it, or that it does not hold.
        request.accepted = isConditional ? [412, 501] : []
        let outcome = try state.client.send(request, check: check)
        switch outcome.answer.status {
        case 412:
            // Without a doubtful attempt before, somebody else has written it.
            if outcome.isRepeated, let tag = try tagOfOwn(digest) { return tag.isEmpty ? nil : tag }
            throw MailboxError(.exists, "there is a file already")
        case 501 where isConditional:
            state.lacks.withLock { _ = $0.insert(.conditionalWrite) }
            request.headers.removeAll { $0.name == "if-none-match" }
            return try sendConditionally(request, digest: digest)
        default: return EntityTag.read(outcome.answer.header("etag"))
        }
    }

    /// The tag of the file that is there when it is the one that was to be written: an empty one when it has none.
    func tagOfOwn(_ digest: String) throws -> String? {
        var request = BucketRequest(kind: .head, method: "HEAD", key: state.key(of: path))
        request.accepted = [404]
        let answer = try state.client.send(request, check: check).answer
        guard answer.status == 200, answer.header(Self.digestHeader) == digest else { return nil }
        return EntityTag.read(answer.header("etag")) ?? ""
    }
}

/// The same in parts. What is begun and not ended is removed, if the server can be reached; a process that is killed leaves
/// parts that only the provider's own rules remove.
struct MultipartUpload {
    let upload: Upload
    let digest: String
    private static let abortMilliseconds: Int64 = 5_000
    /// Putting together thousands of parts takes a storage minutes.
    private static let completionSeconds: Int64 = 600

    private var state: BucketState { upload.state }

    func send(_ spool: Spool) throws -> String? {
        let id = try begin()
        do {
            var parts: [(number: Int, tag: String)] = []
            var offset = 0
            while offset < spool.byteCount {
                let piece = try spool.read(at: offset, upTo: Upload.partByteCount)
                parts.append((parts.count + 1, try send(piece, number: parts.count + 1, id)))
                offset += piece.count
            }
            return try complete(parts, id)
        } catch {
            abort(id)
            throw error
        }
    }

    /// Removes the parts, if the server does that soon: who has cancelled the upload waits for this.
    private func abort(_ id: String) {
        var request = request("DELETE", id)
        request.accepted = [404]
        let begin = state.client.milliseconds()
        // The error that came first is the one to tell.
        _ = try? state.client.send(request) {
            // A clock that was set back has no say in it.
            let passed = state.client.milliseconds() - begin
            guard (0..<Self.abortMilliseconds).contains(passed) else { throw CancellationError() }
        }
    }

    private func request(_ method: String, _ id: String) -> BucketRequest {
        BucketRequest(
            kind: .multipart, method: method, key: state.key(of: upload.path), query: [("uploadId", id)])
    }

    private func begin() throws -> String {
        var request = BucketRequest(kind: .multipart, method: "POST", key: state.key(of: upload.path))
        request.query = [("uploads", "")]
        request.headers = [
            ("content-type", "application/octet-stream"), (Upload.digestHeader, digest),
        ]
        let answer = try state.client.send(request, check: upload.check).answer
        guard let root = XMLElement(document: answer.body), root.name == "InitiateMultipartUploadResult",
            let id = root.text("UploadId"), (1...2048).contains(id.utf8.count)
        else { throw MailboxError(.failed, "the server does not take a file in parts") }
        return id
    }

    private func send(_ piece: Data, number: Int, _ id: String) throws -> String {
        var request = request("PUT", id)
        request.query.append(("partNumber", "\(number)"))
        request.body = piece
        let answer = try state.client.send(request, check: upload.check).answer
        guard let tag = EntityTag.read(answer.header("etag")) else {
            throw MailboxError(.failed, "the server does not say what it calls a part")
        }
        return tag
    }

    private func complete(_ parts: [(number: Int, tag: String)], _ id: String) throws -> String? {
        let list = parts.map { part in
            "<Part><PartNumber>\(part.number)</PartNumber><ETag>\"\(XMLText.escaped(part.tag))\"</ETag></Part>"
        }
        var request = request("POST", id)
        request.headers = [("content-type", "application/xml")]
        request.body = Data(
            "<CompleteMultipartUpload>\(list.joined())</CompleteMultipartUpload>".utf8)
        (request.seconds, request.mayFailLate) = (Self.completionSeconds, true)
        // 404: an earlier attempt had ended the upload.
        request.accepted = [404]
        let isConditional = !upload.replacing && state.has(.conditionalWrite)
        if isConditional {
            request.headers.append(("if-none-match", "*"))
            request.accepted = [404, 412, 501]
        }
        let outcome = try state.client.send(request, check: upload.check)
        if isConditional && outcome.answer.status == 501 {
            // The parts are there still, and are put together without the condition.
            state.lacks.withLock { _ = $0.insert(.conditionalWrite) }
            return try complete(parts, id)
        }
        let root = XMLElement(document: outcome.answer.body)
        if outcome.answer.status == 200, root?.name == "CompleteMultipartUploadResult" {
            return EntityTag.read(root?.text("ETag"))
        }
        // The server answers 200 before it knows, and may say in the document that it failed.
        if let tag = try upload.tagOfOwn(digest) { return tag.isEmpty ? nil : tag }
        if outcome.answer.status == 412 { throw MailboxError(.exists, "there is a file already") }
        throw MailboxError(.unreachable, "the server did not put the parts together")
    }
}
