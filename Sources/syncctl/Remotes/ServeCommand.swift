import ArgumentParser
import CipherStore
import Foundation
import Logging
import SyncEngine
import SyncHTTP
import SyncctlCommands
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Serves stores to devices.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve stores to other devices over HTTPS.",
        usage: "syncctl serve <store> ... [--listen <host:port> | --stdio] [<options>]",
        discussion: """
            Devices come in by invitation only: syncctl invite. The first start makes a certificate, \
            which invitations pin; it is kept in the store. What devices send is merged into the store. \
            Several stores have one address, the certificate of the first one, and the same passphrase. \
            SIGTERM or Ctrl-C ends the server when running requests are finished. When it runs \
            as a service, without a terminal, SIGHUP makes it read the files of --tls-cert and --tls-key again, \
            as after a renewal.

            EXAMPLES:
              syncctl serve hub.db --passphrase-file pw \\
                --listen 0.0.0.0:7443 --address hub.example:7443
              syncctl serve hub.db --passphrase-file pw \\
                --tls-cert chain.pem --tls-key key.pem
              syncctl serve notes.db photos.db --passphrase-file pw
              syncctl serve --stdio hub.db --passphrase-file pw    # what ssh runs
            """)

    @Argument(help: "The files of the stores.", completion: .file())
    var stores: [String]

    @OptionGroup(title: "Passphrase")
    var passphrase: StorePassphraseOptions

    @Option(
        help: ArgumentHelp("Open the stores with a key file instead of a passphrase.", valueName: "file"),
        completion: .file())
    var keyFile: String?

    @Option(help: ArgumentHelp("The address to listen on; port 0 takes any.", valueName: "host:port"))
    var listen = "127.0.0.1:7443"

    @Option(
        help: ArgumentHelp(
            "Where devices reach the server, for invitations (default: the address it listens on).",
            valueName: "host:port"))
    var address: String?

    @Option(help: ArgumentHelp("A certificate chain in PEM.", valueName: "file"), completion: .file())
    var tlsCert: String?

    @Option(
        help: ArgumentHelp("The private key of the certificate in PEM.", valueName: "file"),
        completion: .file())
    var tlsKey: String?

    @Flag(help: "Serve one store over standard input and output, until these end.")
    var stdio = false

    @Flag(help: "Serve without TLS, to programs on this machine only.")
    var plaintextOnLoopback = false

    @Option(
        help: ArgumentHelp(
            "How long the changes of one device may keep others from writing; it sends less at once then.",
            valueName: "seconds"))
    var applySeconds: Double = 2

    @Option(
        help: ArgumentHelp(
            "The most connections of one address at a time (default: 4096).",
            discussion: """
                Behind a load balancer all devices have its address, and each needs two. All together have 16384.
                """, valueName: "number"))
    var connectionsPerAddress: Int?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard applySeconds > 0, applySeconds <= 86_400 else {
            throw ValidationError("--apply-seconds takes a number above 0, up to 86400")
        }
        let connectionCountMax = HubServer.Limits().connectionCountMax
        if let connectionsPerAddress, !(1...connectionCountMax).contains(connectionsPerAddress) {
            throw ValidationError(
                "--connections-per-address takes a number from 1 to \(connectionCountMax)")
        }
        guard let (host, _) = ServerAddress.split(listen) else {
            throw ValidationError("--listen takes host:port, such as 0.0.0.0:7443")
        }
        if plaintextOnLoopback && !ServerAddress.isLoopback(host) {
            throw ValidationError(
                "--plaintext-on-loopback listens on this machine's own address only, such as --listen 127.0.0.1:7443"
            )
        }
        if let address {
            // What is no address of a server has to be said before it listens.
            guard let (host, port) = ServerAddress.split(address),
                (try? ServerAddress(host: host, port: port, trust: .systemRoots)) != nil
            else { throw ValidationError("--address takes host:port, such as hub.example:7443") }
        }
        for store in stores {
            if let obstacle = StoreFileCheck.obstacle(toName: store) { throw ValidationError(obstacle) }
        }
        guard (tlsCert == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-cert and --tls-key go together")
        }
        if stdio && (stores.count > 1 || tlsCert != nil || address != nil || plaintextOnLoopback) {
            throw ValidationError("--stdio serves one store, and has no address and no certificate")
        }
        if plaintextOnLoopback && tlsCert != nil {
            throw ValidationError("--plaintext-on-loopback excludes a certificate")
        }
    }

    private struct Document: Encodable {
        let messageType = "listening"
        let store: String
        let stores: [String]
        let url: String
        let port: Int
        let fingerprint: String?
    }

    func run() throws {
        try CommandContext.run(global) { context in
            for store in stores { try StoreFileCheck.requireStore(store) }
            let secret = try context.storeSecret(
                passphrase, keyFile, for: stores.joined(separator: " and "))
            let logger = logger(context)
            if stdio {
                let queue = try context.open(stores[0], secret)
                defer { try? queue.close() }
                let synchronizer = try Synchronizer(existing: queue)
                try PipeServer(synchronizer, input: STDIN_FILENO, output: STDOUT_FILENO).run()
                return .success
            }
            let environment = SyncEnvironment.system.with(logger: logger)
            var pools: [DatabasePool] = []
            defer { for pool in pools { try? pool.close() } }
            for store in stores {
                pools.append(try DatabasePool(path: store, configuration: context.configuration(secret)))
            }
            let synchronizers = try pools.map { try Synchronizer(existing: $0, environment: environment) }
            ProcessLimits.allowManyFiles()
            let server = try HubServer(synchronizers, options: serverOptions(), logger: logger)
            try requireValid(server)
            let registers = try synchronizers.map { try DeviceRegister($0) }
            try requireUnserved(registers)
            let failure = Mutex<(any Error)?>(nil)
            let reloading = CertificateReload.listen(logger) { try server.reloadCertificate() }
            defer { reloading?.cancel() }
            do {
                try server.runAndWait(endsBySignal: true) { listening in
                    do {
                        try announce(listening, registers, context)
                    } catch {
                        failure.withLock { $0 = error }
                        // A server that nobody can find must not go on; this ends it as a supervisor would.
                        kill(getpid(), SIGTERM)
                    }
                }
            } catch let error as RemoteError where error.code == .cannotServe {
                throw Failure(
                    error.message,
                    hints: ["listen elsewhere with: --listen <host:port>; port 0 takes any that is free"])
            }
            if let error = failure.withLock({ $0 }) { throw error }
            ServiceReadiness.notify(.stopping)
            context.note("the server has ended")
            return .success
        }
    }

    /// Two servers of one store would each tell devices an address of their own, and only the last one's would last.
    private func requireUnserved(_ registers: [DeviceRegister]) throws {
        for (store, register) in zip(stores, registers) {
            // Of two that listen at one address, the system refuses the second.
            guard let noted = try register.address(), noted.authority != listen,
                RunningServer.answers(at: noted)
            else { continue }
            throw Failure(
                "\(store) is served already, at \(noted.url)",
                hints: ["end that server first; devices that it invited know its address"])
        }
    }

    /// Devices refuse a certificate that is not valid now, and would not say more than that.
    private func requireValid(_ server: HubServer) throws {
        guard let tlsCert, let validity = server.certificateValidity, !validity.contains(Date()) else {
            return
        }
        func text(_ date: Date) -> String {
            HumanFormat.timestamp(Int64(date.timeIntervalSince1970 * 1000), style: .minute)
        }
        throw Failure(
            "\(tlsCert): the certificate is valid from \(text(validity.lowerBound)) to \(text(validity.upperBound)), and not now",
            hints: ["have it renewed; or leave --tls-cert out, and the server makes one that devices pin"])
    }

    /// What others can make the server do.
    var limits: HubServer.Limits {
        var limits = HubServer.Limits()
        limits.applicationSeconds = applySeconds
        if let connectionsPerAddress { limits.addressConnectionCountMax = connectionsPerAddress }
        return limits
    }

    private func serverOptions() throws -> HubServer.Options {
        guard let (host, port) = ServerAddress.split(listen) else {
            throw Failure.usage("--listen takes host:port, such as 0.0.0.0:7443")
        }
        var options = HubServer.Options(host: host, port: port, limits: limits)
        if let tlsCert, let tlsKey {
            for path in [tlsCert, tlsKey] where !FileManager.default.isReadableFile(atPath: path) {
                throw Failure("\(path): there is no such file, or it can't be read")
            }
            options.tls = .files(certificate: tlsCert, key: tlsKey)
        } else if plaintextOnLoopback {
            options.tls = .plaintextOnLoopback
        }
        return options
    }

    private func announce(
        _ listening: HubServer.Listening, _ registers: [DeviceRegister], _ context: CommandContext
    ) throws {
        let host = ServerAddress.split(listen)?.host ?? "127.0.0.1"
        let isAny = host == "0.0.0.0" || host == "::"
        let reached = address.flatMap { ServerAddress.split($0) }
        let address = try ServerAddress(
            host: reached?.host ?? (isAny ? ProcessInfo.processInfo.hostName : host),
            port: reached?.port ?? listening.port, trust: listening.trust)
        for register in registers { try register.noteAddress(address) }
        var fingerprint: String?
        if case .fingerprint(let bytes) = listening.trust {
            fingerprint = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        let certificate = fingerprint.map { "  (certificate \($0.prefix(16))…)" } ?? ""
        try context.print(
            Document(
                store: stores.first ?? "", stores: stores, url: address.url, port: listening.port,
                fingerprint: fingerprint),
            text: "serving \(stores.joined(separator: ", ")) at \(address.url)\(certificate)")
        ServiceReadiness.notify(.ready)
        for store in stores {
            context.note("invite a device with: syncctl invite \(CommandWords.path(store)) --label <name>")
        }
    }

    private func logger(_ context: CommandContext) -> Logger {
        let isQuiet = context.global.isQuiet
        return Logger(label: "syncctl") { label in
            guard !isQuiet else { return SwiftLogNoOpLogHandler() }
            // The engine and the libraries below log too, and a path or an error may hold anything.
            var handler = PrintableLogHandler(StreamLogHandler.standardError(label: label))
            // What is worth a person's attention; the libraries tell at "info" that they began and ended.
            handler.logLevel = .notice
            return handler
        }
    }
}
