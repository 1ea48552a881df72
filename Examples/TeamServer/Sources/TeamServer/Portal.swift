import Foundation
import Hummingbird
import SyncHTTP

/// What users do in a browser or an app before they synchronize: let devices in, list them and take them out.
///
/// It speaks HTTP, and belongs behind the TLS of a reverse proxy.
struct Portal: Sendable {
    let users: Users
    let team: Team

    struct NewDevice: Decodable { let name: String }

    struct Invitation: ResponseEncodable { let link: String }

    struct DeviceList: ResponseEncodable {
        struct Item: Encodable {
            let name: String
            let isReadOnly: Bool
        }
        let devices: [Item]
    }

    func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.get("devices") { request, _ in
            let user = try await user(request)
            return DeviceList(
                devices: try team.devices(of: user.name).map {
                    .init(name: $0.name, isReadOnly: $0.device.isReadOnly)
                })
        }
        router.post("devices") { request, context in
            let user = try await user(request)
            let device = try await request.decode(as: NewDevice.self, context: context)
            guard (1...40).contains(device.name.utf8.count) else { throw HTTPError(.badRequest) }
            return try answering { Invitation(link: try team.invite(device.name, of: user).description) }
        }
        router.delete("devices/:name") { request, context in
            let user = try await user(request)
            let name = try context.parameters.require("name").removingPercentEncoding ?? ""
            guard try team.revoke(name, of: user.name) > 0 else {
                throw HTTPError(.notFound, message: "there is no such device")
            }
            return HTTPResponse.Status.noContent
        }
        return router
    }

    /// The user that a request is of, by `Authorization: Basic …`.
    private func user(_ request: Request) async throws -> User {
        if let header = request.headers[.authorization], header.hasPrefix("Basic "),
            let data = Data(base64Encoded: String(header.dropFirst(6))),
            case let words = String(decoding: data, as: UTF8.self).split(separator: ":", maxSplits: 1),
            words.count == 2,
            let user = try await users.user(String(words[0]), password: String(words[1]))
        {
            return user
        }
        throw HTTPError(.unauthorized, headers: [.wwwAuthenticate: "Basic realm=\"team\""])
    }

    /// Answers with what a user can do something about.
    private func answering<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as RemoteError where error.code == .malformed {
            throw HTTPError(.conflict, message: error.message)
        } catch let error as RemoteError where error.code == .busy {
            throw HTTPError(.serviceUnavailable, message: error.message)
        }
    }
}
