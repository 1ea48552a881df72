import ArgumentParser
import CipherStore
import Foundation
import SyncHTTP
import SyncRelay
import SyncctlCommands
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Runs a relay.
struct RelayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay",
        abstract: "Run a relay, which keeps sealed files for stores that are not online at the same time.",
        usage: "syncctl relay --storage <file or database> [--listen <host:port>] [<options>]",
        discussion: """
            A relay has no key: it can't read what it keeps, and knows no names of databases, tables or people. Stores \
            are shared through it with: syncctl share. It needs no store and no passphrase.

            The first start makes a certificate, which is kept in the storage and known by the fingerprint that is \
            printed. With --tls-cert and --tls-key it has one of an authority; as a service, without a terminal, SIGHUP \
            makes it read these files again. SIGTERM or Ctrl-C ends it when running requests are finished.

            A browser on this machine shows how the relay does, at the address that it listens on.

            Anybody who reaches it can make channels, unless --admission-file names a file with a token of 64 \
            hexadecimal digits: then those only who have it (syncctl share --admission-file).

            The storage is a file, which one relay uses; or a PostgreSQL database, which any number of relays use at the \
            same time. A database needs PostgreSQL 13 or newer, and its client library here (libpq5). A password of it is \
            no part of --storage: it comes from ~/.pgpass, PGPASSFILE or PGPASSWORD, or with the whole connection string \
            from a file of mode 600 that --storage-file names.

            EXAMPLES:
              syncctl relay --listen 0.0.0.0:7444 --storage relay.db
              syncctl relay --listen 0.0.0.0:7444 \\
                --storage 'postgres:///relay?host=/var/run/postgresql'
              syncctl relay --listen 0.0.0.0:7444 --storage-file /etc/relay/storage
              syncctl relay --storage relay.db --quota 10G
              openssl rand -hex 32 > admission && chmod 600 admission
              syncctl relay --storage relay.db --admission-file admission \\
                --tls-cert chain.pem --tls-key key.pem
            """)

    @Option(
        help: ArgumentHelp(
            "The file that keeps everything, which is made at the first start; or a PostgreSQL database, such as postgresql://db.example/relay.",
            valueName: "storage"))
    var storage: String?

    @Option(
        help: ArgumentHelp(
            "A file (mode 600) with the connection string of a PostgreSQL database.", valueName: "file"),
        completion: .file())
    var storageFile: String?

    @Option(help: ArgumentHelp("The address to listen on; port 0 takes any.", valueName: "host:port"))
    var listen = "127.0.0.1:7444"

    @Option(help: ArgumentHelp("A certificate chain in PEM.", valueName: "file"), completion: .file())
    var tlsCert: String?

    @Option(
        help: ArgumentHelp("The private key of the certificate in PEM.", valueName: "file"),
        completion: .file())
    var tlsKey: String?

    @Flag(help: "Listen without TLS, for a proxy on this machine that has it.")
    var plaintextOnLoopback = false

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "Show the page and /metrics to this machine (default: not with --plaintext-on-loopback).",
            discussion: """
                A proxy on this machine has to say for whom it asks (X-Forwarded-For), or it shows them to everybody.
                """))
    var page: Bool?

    @Option(
        help: ArgumentHelp(
            "The most bytes of each channel, such as 500M or 10G (default: 1G).", valueName: "size"),
        transform: ByteSize.parse)
    var quota: ByteSize?

    @Option(
        help: ArgumentHelp(
            "Let those only make channels who have the token in this file.", valueName: "file"),
        completion: .file())
    var admissionFile: String?

    @Option(
        help: ArgumentHelp(
            "The most requests a second of each address (default: 50).",
            discussion: """
                Behind a load balancer all devices have its address: 10 for each of them are plenty.
                """, valueName: "number"))
    var requestsPerSecond: Int?

    @Option(
        help: ArgumentHelp(
            "The most clients that wait for changes of one channel at a time (default: 3750).",
            discussion: """
                Those of one address are bounded too, by 3750 or what --requests-per-second makes of it. All together \
                have 15000.
                """, valueName: "number"))
    var watchesPerChannel: Int?

    @Option(
        help: ArgumentHelp(
            "The most memory of answers that wait to be sent, such as 1G (default: 256M).",
            discussion: """
                One address has a quarter of it, or what --requests-per-second makes of that.
                """, valueName: "size"), transform: ByteSize.parse)
    var answerMemory: ByteSize?

    @Argument(help: .hidden) var rest: [String] = []

    @OptionGroup var global: GlobalOptions

    private static let answerMemories: ClosedRange<Int64> = (1 << 20)...(1 << 40)

    func validate() throws {
        if let word = rest.first { throw ValidationError("a relay takes options only, and no \(word)") }
        guard storage == nil || storageFile == nil else {
            throw ValidationError("--storage and --storage-file exclude each other")
        }
        guard storage != nil || storageFile != nil else {
            throw ValidationError("one of --storage <file or database> and --storage-file <file> is needed")
        }
        guard let address = ServerAddress.split(listen) else {
            throw ValidationError("--listen takes host:port, such as 0.0.0.0:7444")
        }
        if plaintextOnLoopback && !ServerAddress.isLoopback(address.host) {
            throw ValidationError(
                "--plaintext-on-loopback listens on this machine's own address only, such as --listen 127.0.0.1:7444"
            )
        }
        if let requestsPerSecond, !(1...1_000_000).contains(requestsPerSecond) {
            throw ValidationError("--requests-per-second takes a number from 1 to 1000000")
        }
        let watchCountMax = RelayServer.Limits().watchCountMax
        if let watchesPerChannel, !(1...watchCountMax).contains(watchesPerChannel) {
            throw ValidationError("--watches-per-channel takes a number from 1 to \(watchCountMax)")
        }
        if let answerMemory, !Self.answerMemories.contains(answerMemory.byteCount) {
            throw ValidationError("--answer-memory takes a size from 1M to 1T")
        }
        guard (tlsCert == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-cert and --tls-key go together")
        }
        if plaintextOnLoopback && tlsCert != nil {
            throw ValidationError("--plaintext-on-loopback excludes a certificate")
        }
    }

    private struct Document: Encodable {
        let messageType = "listening"
        let storage: String
        let url: String
        let port: Int
        let fingerprint: String?
    }

    func run() throws {
        try CommandContext.run(global) { context in
            let options = try serverOptions()
            let logger = logger(context)
            let choice = try RelayStorageChoice(storage: storage, storageFile: storageFile)
            let (storage, close) = try explaining(choice) {
                try requireFreeAddress(options, for: choice)
                return try choice.open(quota: quota?.byteCount)
            }
            defer { close() }
            let server = try explaining(choice) {
                try RelayServer.prepare(storage, options: options, logger: logger)
            }
            try requireValid(server)
            ProcessLimits.allowManyFiles()
            let failure = Mutex<(any Error)?>(nil)
            let reloading = CertificateReload.listen(logger) { try server.reloadCertificate() }
            defer { reloading?.cancel() }
            try explaining(choice) {
                try server.runAndWait(endsBySignal: true) { listening in
                    do {
                        try announce(listening, choice, context)
                    } catch {
                        failure.withLock { $0 = error }
                        // A relay that nobody can find must not go on; this ends it as a supervisor would.
                        kill(getpid(), SIGTERM)
                    }
                }
            }
            if let error = failure.withLock({ $0 }) { throw error }
            ServiceReadiness.notify(.stopping)
            context.note("the relay has ended")
            return .success
        }
    }

    /// Says what can be done about a relay that can't be run.
    private func explaining<Result>(_ choice: RelayStorageChoice, _ body: () throws -> Result) throws
        -> Result
    {
        do {
            return try body()
        } catch let error as RemoteError where error.code == .cannotServe {
            // What is wrong with a file of the certificate begins with its name.
            let isOfCertificate = [tlsCert, tlsKey].contains { file in
                file.map { error.message.hasPrefix("\($0):") } == true
            }
            throw Failure(
                error.message,
                hints: [
                    isOfCertificate
                        ? "leave --tls-cert and --tls-key out, and the relay makes a certificate that clients pin"
                        : "listen elsewhere with: --listen <host:port>; port 0 takes any that is free"
                ])
        } catch let error as RelayStorageError {
            throw Failure("\(error)", hints: [choice.hint])
        } catch let problem as RelayProblem {
            throw Failure("\(choice.name): \(problem.message)", hints: [choice.hint])
        }
    }

    /// What others can make the relay do.
    var limits: RelayServer.Limits {
        var limits = RelayServer.Limits()
        if let requestsPerSecond { limits = .init(requestsPerSecond: Double(requestsPerSecond)) }
        if let watchesPerChannel { limits.channelWatchCountMax = watchesPerChannel }
        if let answerMemory {
            // An address goes on having the same part of all.
            let part =
                Double(limits.addressHeldAnswerByteCountMax) / Double(limits.heldAnswerByteCountMax)
            limits.heldAnswerByteCountMax = Int(answerMemory.byteCount)
            limits.addressHeldAnswerByteCountMax = Int(Double(answerMemory.byteCount) * part)
        }
        return limits
    }

    private func serverOptions() throws -> RelayServer.Options {
        guard let (host, port) = ServerAddress.split(listen) else {
            throw Failure.usage("--listen takes host:port, such as 0.0.0.0:7444")
        }
        var options = RelayServer.Options(host: host, port: port)
        options.version = CommandLineProgram.version
        options.showsPage = page ?? !plaintextOnLoopback
        options.limits = limits
        options.admission = try admissionFile.map {
            try RelayAdmission.token(in: $0, hint: RelayAdmission.makeHint)
        }
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
        _ listening: RelayServer.Listening, _ choice: RelayStorageChoice, _ context: CommandContext
    ) throws {
        let host = ServerAddress.split(listen)?.host ?? "127.0.0.1"
        let isAny = host == "0.0.0.0" || host == "::"
        let address = try ServerAddress(
            host: isAny ? ProcessInfo.processInfo.hostName : host, port: listening.port,
            trust: listening.trust == .loopback && isAny ? .systemRoots : listening.trust)
        var fingerprint: String?
        if case .fingerprint(let bytes) = listening.trust {
            fingerprint = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        let option = fingerprint.map { " --fingerprint \($0)" } ?? ""
        try context.print(
            Document(storage: choice.name, url: address.url, port: listening.port, fingerprint: fingerprint),
            text: "relay at \(address.url)" + (fingerprint.map { "  (certificate \($0))" } ?? ""))
        ServiceReadiness.notify(.ready)
        context.note("share a store through it with: syncctl share <store> --relay \(address.url)\(option)")
    }
}
