import Crypto
import Foundation
import SyncEngine

/// Removes files.
struct Removal {
    /// The most that one request removes.
    static let countMax = 1000

    let state: BucketState
    let check: () throws -> Void

    func remove(_ path: MailboxPath) throws {
        var request = BucketRequest(kind: .delete, method: "DELETE", key: state.key(of: path))
        request.accepted = [404]
        do {
            let answer = try state.client.send(request, check: check).answer
            let error = ErrorAnswer(answer)
            if error.code == "NoSuchBucket" {
                throw error.error(state.client.address, isOfFile: false, now: 0)
            }
        } catch {
            state.doubt()
            throw error
        }
        state.note(nil, at: path)
    }

    func remove(_ paths: [MailboxPath]) throws {
        var rest = paths[...]
        while !rest.isEmpty {
            let some = Array(rest.prefix(Self.countMax))
            rest = rest.dropFirst(some.count)
            guard some.count > 1, state.has(.batchRemoval) else {
                for path in some { try remove(path) }
                continue
            }
            try removeAtOnce(some)
        }
    }

    private func removeAtOnce(_ paths: [MailboxPath]) throws {
        let objects = paths.map { "<Object><Key>\(XMLText.escaped(state.key(of: $0)))</Key></Object>" }
        var request = BucketRequest(kind: .delete, method: "POST")
        request.query = [("delete", "")]
        request.body = Data("<Delete><Quiet>true</Quiet>\(objects.joined())</Delete>".utf8)
        request.headers = [
            ("content-type", "application/xml"),
            // Servers refuse the request without one; it protects against nothing but damage.
            ("content-md5", Data(Insecure.MD5.hash(data: request.body)).base64EncodedString()),
        ]
        request.answerByteCountMax = 2 << 20
        request.accepted = [400, 405, 501]
        let answer: BucketAnswer
        do {
            answer = try state.client.send(request, check: check).answer
        } catch {
            state.doubt()
            throw error
        }
        let root = XMLElement(document: answer.body)
        guard answer.status == 200, let root, root.name == "DeleteResult" else {
            state.lacks.withLock { _ = $0.insert(.batchRemoval) }
            return try remove(paths)
        }
        guard root.child("Error") == nil else {
            state.doubt()
            throw MailboxError(.notPermitted, "the bucket does not remove some of the files")
        }
        for path in paths { state.note(nil, at: path) }
    }
}

/// Text in documents that are sent.
enum XMLText {
    /// The text with what would end it replaced.
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.append(character)
            }
        }
        return result
    }
}
