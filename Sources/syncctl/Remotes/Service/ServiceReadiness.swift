import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Tells the manager of services that this one does its work: systemd, which names a socket for that in the
/// environment. Others are told nothing.
enum ServiceReadiness {
    /// Says that the service is ready, or that it is about to end. A manager that can't be reached is none.
    static func notify(_ state: State, environment: [String: String] = ProcessInfo.processInfo.environment) {
        #if os(Linux)
            guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@") else {
                return
            }
            send(state.rawValue, to: path)
        #endif
    }

    /// What is told.
    enum State: String {
        case ready = "READY=1"
        case reloading = "RELOADING=1"
        case stopping = "STOPPING=1"
    }

    #if os(Linux)
        private static func send(_ text: String, to path: String) {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            var name = Array(path.utf8)
            // Names of no file begin with a zero byte.
            if name.first == UInt8(ascii: "@") { name[0] = 0 }
            let capacity = MemoryLayout.size(ofValue: address.sun_path)
            guard name.count < capacity else { return }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
            #if canImport(Glibc)
                let kind = Int32(SOCK_DGRAM.rawValue)
            #else
                let kind = SOCK_DGRAM
            #endif
            let descriptor = socket(AF_UNIX, kind, 0)
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            let length = socklen_t((MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2) + name.count)
            let bytes = Array(text.utf8)
            _ = withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sendto(descriptor, bytes, bytes.count, 0, $0, length)
                }
            }
        }
    #endif
}
