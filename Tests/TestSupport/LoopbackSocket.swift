import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A connection to a port of this machine, for tests that need no client of HTTP.
public final class LoopbackSocket {
    private let descriptor: Int32

    /// Connects; nil when nobody listens.
    public init?(port: Int) {
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let descriptor = descriptor
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Sends bytes, and reads nothing.
    public func push(_ data: Data) {
        // The other side may end the connection meanwhile, which is no signal to the tests.
        #if canImport(Glibc)
            let flags = Int32(MSG_NOSIGNAL)
        #else
            let flags: Int32 = 0
            var isSilent: Int32 = 1
            setsockopt(
                descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isSilent, socklen_t(MemoryLayout<Int32>.size))
        #endif
        _ = data.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, flags) }
    }

    /// Waits for bytes, and reads some of them; none when the other side has ended.
    public func receive() -> Data {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return Data(buffer.prefix(max(count, 0)))
    }

    /// Waits until the other side has ended the connection before it read all that was sent. Reads nothing.
    ///
    /// - returns: Whether it did.
    public func waitForReset(seconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&entry, 1, seconds * 1000) > 0
    }

    /// Sends bytes, and reads until the other side ends.
    public func exchange(_ data: Data) -> Data {
        push(data)
        var answer = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return answer }
            answer += buffer[..<count]
        }
    }
}
