import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What the messages of a pipe are. `docs/decisions/0012-remote-peers.md` describes the course.
enum PipeKind: UInt8 {
    case hello = 1
    case greet = 2
    case meet = 3
    case renew = 4
    case remember = 5
    case state = 6
    case question = 7
    /// Asks for what is not known.
    case changes = 8
    /// Asks for all of some rows.
    case rows = 9
    /// Frames follow, and then an end.
    case apply = 10
    /// Asks how tables are made.
    case definitions = 11
    case answer = 64
    case frame = 65
    case end = 66
    case problem = 67
}

/// Messages over two file descriptors: a byte that says what it is, the length as four bytes (big-endian), and
/// the content.
///
/// The process has to ignore SIGPIPE, so that a peer that is gone is an error and not the end.
struct PipeChannel: Sendable {
    /// A frame has up to 16 MiB, and so has a greeting.
    static let byteCountMax = 17 << 20

    let input: Int32
    let output: Int32

    /// Reads a message; nil when the other side has closed the pipe between two messages.
    ///
    /// - throws: ``RemoteError``: `unreachable`, `malformed`, `tooLarge`.
    func read() throws -> (kind: PipeKind, content: [UInt8])? {
        let head = try read(5)
        guard !head.isEmpty else { return nil }
        guard head.count == 5 else { throw Self.broken }
        let count = head[1...].reduce(0) { $0 << 8 | Int($1) }
        // Text that a login shell prints comes here first.
        guard let kind = PipeKind(rawValue: head[0]) else {
            throw RemoteError(
                .malformed, "the other end of the pipe sends something else than this protocol")
        }
        guard count <= Self.byteCountMax else {
            throw RemoteError(.tooLarge, "a message of the pipe has \(count) bytes")
        }
        let content = try read(count)
        guard content.count == count else { throw Self.broken }
        return (kind, content)
    }

    private static var broken: RemoteError {
        RemoteError(.unreachable, "the other end of the pipe ended in the middle of a message")
    }

    /// Reads so many bytes, or less at the end.
    private func read(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let read = bytes.withUnsafeMutableBytes { buffer in
                systemRead(input, buffer.baseAddress.map { $0 + done }, count - done)
            }
            if read < 0 && errno == EINTR { continue }
            guard read >= 0 else { throw RemoteError(.unreachable, "the pipe can't be read") }
            guard read > 0 else { return Array(bytes.prefix(done)) }
            done += read
        }
        return bytes
    }

    /// Writes a message.
    ///
    /// - throws: ``RemoteError`` of code `unreachable`.
    func write(_ kind: PipeKind, _ content: [UInt8] = []) throws {
        var bytes = [kind.rawValue]
        withUnsafeBytes(of: UInt32(content.count).bigEndian) { bytes += $0 }
        bytes += content
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                systemWrite(output, buffer.baseAddress.map { $0 + done }, bytes.count - done)
            }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { throw RemoteError(.unreachable, "the other end of the pipe is gone") }
            done += written
        }
    }
}

// The methods have the names of the functions.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, buffer, count)
}

extension Message {
    /// Which versions of the protocol of pipes a side speaks.
    struct PipeHello: Codable {
        static let version = 1
        var versions = [Self.version]
        var store: String?
        /// The codecs of chunks that the side reads besides plain ones.
        var codecs: [String]? = [Message.codec]
        /// Whether the side tells how its tables are made, when it is asked.
        var definitions: Bool?
    }
}
