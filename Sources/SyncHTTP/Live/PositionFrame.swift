import SyncEngine
import SyncWire

/// A line of a stream: which changes the server has that it did not have at the line before.
///
/// It holds positions and no data: data are fetched as ever. A document without members, `{}`, is a heartbeat.
struct PositionFrame: Codable, Equatable {
    /// For replicas, the last change of theirs that the server has; all of them in the first line.
    var positions: [String: Int64]?
    /// Why the server ends the stream, in the last line.
    var problem: Message.Problem?

    static let heartbeat = PositionFrame()

    /// What is new since a position; nil when nothing is.
    init?(from former: VersionVector?, to current: VersionVector) {
        guard let former else {
            positions = Message.Vector(current).vector
            return
        }
        let new = current.sequences.filter { $0.value > former[$0.key] }
        guard !new.isEmpty else { return nil }
        positions = Message.Vector(VersionVector(new)).vector
    }

    init(problem: Message.Problem? = nil) { self.problem = problem }

    /// The line.
    func line() throws -> [UInt8] { try JSONDocument.encode(self) + [0x0A] }
}

/// Takes the lines of a stream apart.
struct PositionReader {
    /// The longest line: the first one, of as many replicas as a greeting may have.
    private static let lineByteCountMax = 17 << 20

    private var rest: [UInt8] = []

    /// Takes bytes in.
    ///
    /// - throws: ``RemoteError``: `malformed`, `tooLarge`.
    mutating func read(_ bytes: [UInt8], _ onFrame: (PositionFrame) throws -> Void) throws {
        var bytes = bytes[...]
        while let end = bytes.firstIndex(of: 0x0A) {
            let line = rest + bytes[..<end]
            rest = []
            bytes = bytes[(end + 1)...]
            // Another server may say that it is alive by an empty line.
            try onFrame(line.isEmpty ? .heartbeat : JSONDocument.decode(PositionFrame.self, from: line))
        }
        rest += bytes
        guard rest.count <= Self.lineByteCountMax else {
            throw RemoteError(.tooLarge, "a line of the server's stream does not end")
        }
    }
}
