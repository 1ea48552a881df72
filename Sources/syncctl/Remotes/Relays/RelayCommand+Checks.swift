import Foundation
import Logging
import SyncHTTP
import SyncRelay
import SyncctlCommands

/// What a relay is asked for before it serves, and where it logs.
extension RelayCommand {
    /// A file that can't be served is not begun: nobody would know what it is for.
    ///
    /// - throws: `RemoteError` of code `cannotServe` when somebody listens there already.
    func requireFreeAddress(_ options: RelayServer.Options, for choice: RelayStorageChoice) throws {
        guard case .file(let path) = choice, !FileManager.default.fileExists(atPath: path) else { return }
        guard options.port != 0, PortProbe.answers(host: options.host, port: options.port) else { return }
        throw RemoteError(
            .cannotServe, "cannot listen on \(options.host):\(options.port): the address is in use")
    }

    /// Clients refuse a certificate that is not valid now, and would not say more than that.
    func requireValid(_ server: RelayServer) throws {
        guard let tlsCert, let validity = server.certificateValidity, !validity.contains(Date()) else {
            return
        }
        throw Failure(
            "\(tlsCert): the certificate is not valid now",
            hints: ["have it renewed; or leave --tls-cert out, and the relay makes one that clients pin"])
    }

    func logger(_ context: CommandContext) -> Logger {
        let isQuiet = context.global.isQuiet
        return Logger(label: "syncctl") { label in
            guard !isQuiet else { return SwiftLogNoOpLogHandler() }
            // The libraries below log too, and an error may hold anything.
            var handler = PrintableLogHandler(StreamLogHandler.standardError(label: label))
            handler.logLevel = .notice
            return handler
        }
    }
}
