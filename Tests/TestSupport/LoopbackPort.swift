#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Ports of this machine for servers that are stopped and started again.
public enum LoopbackPort {
    /// A port that is free now, and that the system gives to no connection: a port that it chose itself may be that of
    /// somebody's connection as soon as the server has stopped, even of a client that tries to reach the server.
    public static func lasting() -> Int {
        for _ in 0..<100 {
            let port = Int.random(in: 20_000..<30_000)
            if isFree(port) { return port }
        }
        return 0
    }

    /// Waits until nobody listens at a port.
    ///
    /// A server that has closed its socket may seem to listen for a moment: a process that the tests are starting just then
    /// has copies of all their descriptors, until it runs the other program.
    public static func waitUntilFree(_ port: Int) async throws {
        for _ in 0..<2000 {
            if isFree(port) { return }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Whether nobody listens at a port. Connections of a server that has ended don't count, as they don't for servers.
    private static func isFree(_ port: Int) -> Bool {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
