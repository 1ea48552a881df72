import TestSupport
import Testing

@testable import SyncctlCommands

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Whether somebody listens is told by one connection, which sends nothing.
@Suite(.anyEngine) struct PortProbeTests {
    @Test func aPortAnswersWhileSomebodyListens() throws {
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let listener = socket(AF_INET, kind, 0)
        try #require(listener >= 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        try #require(isBound)
        let port = Int(UInt16(bigEndian: address.sin_port))
        #expect(PortProbe.answers(host: "127.0.0.1", port: port))
        close(listener)
        #expect(!PortProbe.answers(host: "127.0.0.1", port: port))
        #expect(!PortProbe.answers(host: "nohost.invalid", port: 1))
    }
}

@Suite(.anyEngine) struct ElapsedTextTests {
    @Test func workOfUnknownLengthShowsItsTimeOnly() {
        let text = ProgressText(label: "comparing", elapsed: .seconds(65), unit: .time)
        #expect(text.line(width: 40) == "comparing  [1:05]")
        #expect(text.line(width: 9) == "comparing" || text.line(width: 9).count <= 9)
    }
}
