/// How a channel stands.
public struct RelayChannelState: Hashable, Sendable, Codable {
    /// The time in which the position means something.
    public let epoch: RelayEpoch
    /// The position of the last change; 0 when there was none.
    public let position: RelayPosition
    /// How many bytes the files have.
    public let byteCount: Int64
    /// How many bytes they may have.
    public let byteCountMax: Int64
    /// How many files there are.
    public let fileCount: Int64

    /// Makes a state.
    public init(
        epoch: RelayEpoch, position: RelayPosition, byteCount: Int64, byteCountMax: Int64, fileCount: Int64
    ) {
        self.epoch = epoch
        self.position = position
        self.byteCount = byteCount
        self.byteCountMax = byteCountMax
        self.fileCount = fileCount
    }

    private enum CodingKeys: String, CodingKey {
        case epoch, position, byteCount, byteCountMax, fileCount
    }

    /// Reads and checks a document.
    ///
    /// - throws: ``RelayProblem`` of code `malformed`; `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        epoch = try container.decode(RelayEpoch.self, forKey: .epoch)
        position = try container.natural(.position)
        byteCount = try container.natural(.byteCount)
        byteCountMax = try container.natural(.byteCountMax)
        fileCount = try container.natural(.fileCount)
    }
}

/// A moment of a channel: what a watch tells.
public struct RelayMoment: Hashable, Sendable, Codable {
    /// The time in which the position means something.
    public let epoch: RelayEpoch
    /// The position of the last change.
    public let position: RelayPosition

    /// Makes a moment.
    public init(epoch: RelayEpoch, position: RelayPosition) {
        self.epoch = epoch
        self.position = position
    }

    private enum CodingKeys: String, CodingKey {
        case epoch, position
    }

    /// Reads and checks a line of a watch.
    ///
    /// - throws: ``RelayProblem`` of code `malformed`; `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        epoch = try container.decode(RelayEpoch.self, forKey: .epoch)
        position = try container.natural(.position)
    }
}

extension KeyedDecodingContainer {
    /// A number that is not negative.
    ///
    /// - throws: ``RelayProblem`` of code `malformed`; `DecodingError`.
    func natural(_ key: Key) throws -> Int64 {
        let number = try decode(Int64.self, forKey: key)
        guard number >= 0 else { throw RelayProblem(.malformed, "\(key.stringValue) is negative") }
        return number
    }
}
