import Foundation
import Synchronization
import TestSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Stands between a storage and its server, and ends a connection at one statement: before the server gets it, or when the
/// server has done it and its answer would come.
final class CuttingProxy: Sendable {
    /// Where it is cut.
    enum Place: Sendable, CaseIterable {
        case before
        case after
    }

    private struct State {
        var cut: (statement: [UInt8], place: Place)?
        var cutCount = 0
    }

    let folder: String
    private let target: String
    private let listening: CInt
    private let state = Mutex(State())

    /// - parameter folder: Where the server's socket is.
    init(toServerIn folder: String) throws {
        self.folder = "/tmp/cut-" + UUID().uuidString.prefix(8)
        target = folder + "/.s.PGSQL.5432"
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
        listening = Self.socket()
        let status = Self.with(self.folder + "/.s.PGSQL.5432") { bind(listening, $0, $1) }
        guard listening >= 0, status == 0, listen(listening, 64) == 0 else {
            throw TestProblem("a socket can't be made in \(self.folder)")
        }
        Thread.detachNewThread { [listening, weak self] in
            while true {
                let client = accept(listening, nil, nil)
                guard client >= 0, let self else { break }
                serve(client)
            }
        }
    }

    deinit {
        shutdown(listening, CInt(SHUT_RDWR))
        close(listening)
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Cuts the next connection that runs a prepared statement, once.
    func cut(_ statement: String, _ place: Place) {
        state.withLock { $0.cut = ([0] + Array(statement.utf8) + [0], place) }
    }

    /// How often it has cut.
    var cutCount: Int { state.withLock { $0.cutCount } }

    // MARK: Connections

    private func serve(_ client: CInt) {
        let server = Self.socket()
        guard Self.with(target, { connect(server, $0, $1) }) == 0 else {
            close(client)
            close(server)
            return
        }
        // Nothing is forwarded any more once this is set; both threads see it.
        let isCut = Flag()
        // Each of the two threads ends the other, and the last one closes.
        Thread.detachNewThread { [self] in
            forward(from: client, to: server, isCut)
            shutdown(server, CInt(SHUT_RDWR))
        }
        Thread.detachNewThread {
            var bytes = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(server, &bytes, bytes.count)
                // The answer that is not passed on shows that the server has done it.
                guard count > 0, !isCut.isSet, Self.write(bytes[..<count], to: client) else { break }
            }
            shutdown(client, CInt(SHUT_RDWR))
            shutdown(server, CInt(SHUT_RDWR))
            isCut.leave {
                close(client)
                close(server)
            }
        }
    }

    private func forward(from client: CInt, to server: CInt, _ isCut: Flag) {
        defer {
            isCut.leave {
                close(client)
                close(server)
            }
        }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(client, &bytes, bytes.count)
            guard count > 0 else { return }
            switch takeCut(bytes[..<count]) {
            case .before:
                shutdown(client, CInt(SHUT_RDWR))
                return
            // The server gets all of it, and the other thread ends the connection when it answers.
            case .after: isCut.set()
            case nil: break
            }
            guard Self.write(bytes[..<count], to: server) else { return }
        }
    }

    private func takeCut(_ bytes: ArraySlice<UInt8>) -> Place? {
        state.withLock { state in
            guard let cut = state.cut, Data(bytes).range(of: Data(cut.statement)) != nil else { return nil }
            state.cut = nil
            state.cutCount += 1
            return cut.place
        }
    }

    /// Whether a connection was cut, and how many threads use it.
    private final class Flag: Sendable {
        private let state = Mutex<(isSet: Bool, threadCount: Int)>((false, 2))
        var isSet: Bool { state.withLock { $0.isSet } }
        func set() { state.withLock { $0.isSet = true } }
        /// Ends the use by one thread; the last one closes.
        func leave(_ close: () -> Void) {
            let isLast = state.withLock { state in
                state.threadCount -= 1
                return state.threadCount == 0
            }
            if isLast { close() }
        }
    }

    // MARK: Sockets

    private static func socket() -> CInt {
        #if canImport(Glibc)
            Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #elseif canImport(Musl)
            Musl.socket(AF_UNIX, SOCK_STREAM, 0)
        #else
            Darwin.socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
    }

    private static func with(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            bytes.copyBytes(from: path.utf8.prefix(bytes.count - 1))
        }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
