import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Stands between a device and a server, and cuts connections after so many bytes, or holds them.
///
/// It has threads of its own: nothing that is tested shares a loop with it.
final class CuttingProxy: Sendable {
    private struct State {
        var cuts: [Int]
        var connectionCount = 0
        var record: [UInt8] = []
        /// The port of the server, or nil while there is none.
        var target: Int?
    }

    /// Holds what comes after so many bytes until it is opened.
    final class Gate: Sendable {
        private let rest: Mutex<Int>
        private let closed = DispatchSemaphore(value: 0)
        private let opened = DispatchSemaphore(value: 0)

        init(after count: Int) { rest = Mutex(count) }

        /// Waits until something is held.
        func waitUntilClosed() { closed.wait() }

        /// Lets everything pass from now on.
        func open() { opened.signal() }

        fileprivate func pass(_ count: Int) {
            let isDue = rest.withLock { rest in
                defer { rest -= count }
                return rest > 0 && rest <= count
            }
            guard isDue else { return }
            closed.signal()
            opened.wait()
        }
    }

    private let state: Mutex<State>
    private let listener: Int32
    let port: Int
    private let duplicates: Bool
    private let gate: Gate?

    /// - parameters:
    ///     - target: The port of the server, or nil when there is none yet.
    ///     - cuts: After how many bytes, of both directions together, each connection is cut; those after
    ///       the last one are not.
    ///     - duplicates: Whether every second piece of what goes to the target is sent twice.
    ///     - gate: What the target sends passes through it.
    init(to target: Int?, cuts: [Int] = [], duplicates: Bool = false, gate: Gate? = nil) {
        self.duplicates = duplicates
        self.gate = gate
        let listener = Self.makeSocket()
        _ = Self.withAddress(0) { bind(listener, $0, $1) }
        listen(listener, 16)
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(listener, $0, &length) }
        }
        state = Mutex(State(cuts: cuts, target: target))
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in acceptAll() }
    }

    private static func makeSocket() -> Int32 {
        #if canImport(Glibc)
            socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            socket(AF_INET, SOCK_STREAM, 0)
        #endif
    }

    private static func withAddress(
        _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// A connection to a port of this machine; nil when nobody listens.
    static func connection(to port: Int) -> Int32? {
        let socket = makeSocket()
        guard withAddress(port, { connect(socket, $0, $1) }) == 0 else {
            _ = closeDescriptor(socket)
            return nil
        }
        return socket
    }

    /// Leads connections that come from now on to another server, or to none.
    func lead(to target: Int?) { state.withLock { $0.target = target } }

    /// Ends a connection.
    static func end(_ connection: Int32) { _ = closeDescriptor(connection) }

    /// All bytes that passed, of both directions.
    var record: [UInt8] { state.withLock { $0.record } }

    /// How many connections there were.
    var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// Takes no more connections.
    func close() {
        shutdown(listener, Int32(SHUT_RDWR))
        _ = closeDescriptor(listener)
    }

    private func acceptAll() {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { return }
            guard let server = state.withLock({ $0.target }).flatMap({ Self.connection(to: $0) }) else {
                _ = closeDescriptor(client)
                continue
            }
            let budget = state.withLock { state in
                state.connectionCount += 1
                return Budget(state.cuts.isEmpty ? Int.max : state.cuts.removeFirst()) { [self] bytes in
                    self.state.withLock { $0.record += bytes }
                }
            }
            let (duplicates, gate) = (duplicates, gate)
            for (from, to) in [(client, server), (server, client)] {
                Thread.detachNewThread {
                    budget.pass(
                        from, to, duplicates: duplicates && from == client,
                        gate: from == server ? gate : nil)
                }
            }
        }
    }

    private final class Budget: Sendable {
        private let rest: Mutex<Int>
        private let open = Mutex(2)
        private let onBytes: @Sendable (ArraySlice<UInt8>) -> Void

        init(_ rest: Int, _ onBytes: @escaping @Sendable (ArraySlice<UInt8>) -> Void) {
            self.rest = Mutex(rest)
            self.onBytes = onBytes
        }

        func pass(_ from: Int32, _ to: Int32, duplicates: Bool, gate: Gate?) {
            var number = 0
            var bytes = [UInt8](repeating: 0, count: 16 << 10)
            while true {
                let count = recv(from, &bytes, bytes.count, 0)
                guard count > 0 else { break }
                let passing = rest.withLock { rest in
                    let taken = min(rest, count)
                    rest -= taken
                    return taken
                }
                gate?.pass(count)
                onBytes(bytes[..<passing])
                number += 1
                if duplicates && number.isMultiple(of: 2) {
                    _ = send(to, bytes, passing, Int32(MSG_NOSIGNAL))
                }
                guard passing > 0, send(to, bytes, passing, Int32(MSG_NOSIGNAL)) == passing, passing == count
                else { break }
            }
            shutdown(from, Int32(SHUT_RDWR))
            shutdown(to, Int32(SHUT_RDWR))
            // The last of the two threads gives the descriptors back.
            let isLast = open.withLock { open in
                open -= 1
                return open == 0
            }
            if isLast {
                _ = closeDescriptor(from)
                _ = closeDescriptor(to)
            }
        }
    }
}

/// The system's function, which a method of the same name hides.
private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
