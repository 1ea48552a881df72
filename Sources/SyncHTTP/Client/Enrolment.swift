import CipherStore
import Foundation
import SyncEngine
import SyncWire

/// The use of an invitation.
struct Enrolment {
    let invite: InviteLink
    let connection: RemoteConnection
    private let certificate: [UInt8]?
    private let environment: SyncEnvironment

    init(
        _ invite: InviteLink, key: DeviceKey, options: HTTPTransport.Options, environment: SyncEnvironment
    ) throws {
        self.invite = invite
        self.environment = environment
        if case .fingerprint(let fingerprint) = invite.address.trust {
            certificate = try CertificateProbe.certificate(
                of: invite.address, fingerprint: fingerprint, check: { try options.onRequest?() })
        } else {
            certificate = nil
        }
        connection = try RemoteConnection(
            invite.address, certificate: certificate, store: invite.store, key: key, options: options,
            environment: environment)
    }

    /// Enrols the device. A try whose answer was lost is repeated: the invitation knows its device.
    ///
    /// - returns: The server, with what it exchanges with the device.
    func run(name: String) throws -> Remote {
        var attempts = 0
        while true {
            do {
                let answer = try connection.enrol(secret: invite.secret)
                return Remote(
                    name: name, address: invite.address, certificate: certificate,
                    terms: DeviceTerms(scope: answer.scope, isReadOnly: answer.readOnly))
            } catch let error as RemoteError
                where [.unreachable, .busy, .sessionEnded].contains(error.code)
                && attempts < connection.options.repetitionCountMax
            {
                attempts += 1
                try connection.pause(attempts)
            }
        }
    }

    /// How long the server may take to hear that an enrolment is taken back, in seconds: somebody who cancelled waits.
    private static let releaseSeconds: Int64 = 5

    /// Takes the enrolment back after a failure, so that the invitation enrols another key at once: this one is
    /// forgotten. Tried once; if it fails too, the server lets another key in after a while.
    func release(after error: any Error) {
        // It is another device's, or nobody's.
        if let error = error as? RemoteError, error.code == .invalidInvite { return }
        var options = connection.options
        options.onRequest = nil
        options.repetitionCountMax = 0
        options.connectSeconds = min(options.connectSeconds, Self.releaseSeconds)
        options.patienceSeconds = min(options.patienceSeconds, Self.releaseSeconds)
        guard
            let connection = try? RemoteConnection(
                invite.address, certificate: certificate, store: invite.store, key: connection.key,
                options: options, environment: environment)
        else { return }
        defer { connection.close() }
        _ = try? connection.send(
            .init(
                method: "DELETE", path: connection.base + "/devices/self", isRepeatable: false,
                seconds: Self.releaseSeconds))
    }

    /// Chooses what the server exchanges with the device, and remembers the server.
    func adopt(_ remote: Remote, in book: RemoteBook) throws {
        var former = remote
        former.terms = DeviceTerms(isReadOnly: !remote.isReadOnly)
        try ScopeAdoption(book: book, remote: former).adopt(remote.terms) { try definitions() }
    }

    /// Says which replica the device is, which uses the invitation up. If it fails, the first synchronization
    /// does that.
    func confirm(_ greeting: Greeting, storeAt path: String) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let peer = HTTPPeer(connection, folder: folder, options: connection.options)
        _ = try? peer.meet(greeting)
    }

    /// How the tables are made that the device may exchange.
    func definitions() throws -> [SharedTable] {
        let answer = try connection.send(.init(method: "GET", path: connection.base + "/definitions"))
        return try JSONDocument.decode(Message.Definitions.self, from: answer).tables
    }

    /// Has the server make a snapshot for a recipient, and fetches it into a file.
    func fetchSnapshot(
        to file: FileReplacement, _ recipient: String, _ options: HTTPTransport.Options,
        _ progress: SyncProgressHandler?
    ) throws {
        let output = try OutputDescriptor(file)
        let transfer = RemoteDownload(connection, options)
        let download = try transfer.begin(
            "/snapshots", try JSONDocument.encode(Message.SnapshotRequest(recipient: recipient)))
        try transfer.fetch(download) { piece, completed in
            try output.write(Data(piece))
            try progress?(completed, download.byteCount)
        }
    }
}
