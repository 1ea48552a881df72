#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The lines that somebody types at a terminal.
final class ShellInput {
    enum Event: Equatable {
        case line(String)
        /// Ctrl-C: what was typed is dropped.
        case interrupt
        /// Ctrl-D.
        case end
    }

    private let descriptor: Int32
    private let relay: SignalRelay
    private var bytes: [UInt8] = []
    private var isAtEnd = false

    init(descriptor: Int32, relay: SignalRelay) { (self.descriptor, self.relay) = (descriptor, relay) }

    /// Waits for a line.
    func next() -> Event {
        while true {
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: bytes[..<end], as: UTF8.self)
                bytes.removeSubrange(...end)
                return .line(line)
            }
            if isAtEnd {
                guard !bytes.isEmpty else { return .end }
                defer { bytes = [] }
                return .line(String(decoding: bytes, as: UTF8.self))
            }
            var entries = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: relay.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&entries, 2, -1) > 0 else { continue }
            if entries[1].revents != 0 {
                while relay.next() != nil {}
                bytes = []
                return .interrupt
            }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 { bytes.append(contentsOf: buffer[..<count]) }
            if count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN) { isAtEnd = true }
        }
    }
}
