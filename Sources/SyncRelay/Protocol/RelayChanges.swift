import Foundation

/// Several changes of a channel that are made together or not at all.
public struct RelayChanges: Hashable, Sendable, Codable {
    /// A change.
    public enum Change: Hashable, Sendable {
        /// Writes a file, and replaces one of that name only when told so.
        case write(RelayFileName, replacing: Bool, content: Data)
        /// Removes a file. One that is not there is no problem.
        case remove(RelayFileName)
    }

    /// The changes, in their order.
    public let changes: [Change]

    /// Makes a document.
    ///
    /// - throws: ``RelayProblem`` of code `tooLarge` when there are too many.
    public init(_ changes: [Change]) throws {
        guard changes.count <= RelayBounds.changeCountMax else {
            throw RelayProblem(
                .tooLarge,
                "there are \(changes.count) changes, and \(RelayBounds.changeCountMax) may come at once")
        }
        self.changes = changes
    }

    private enum CodingKeys: String, CodingKey {
        case changes
    }

    /// Reads and checks a document.
    ///
    /// - throws: ``RelayProblem``: `malformed`, `tooLarge`; `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        var list = try container.nestedUnkeyedContainer(forKey: .changes)
        var changes: [Change] = []
        // Counted before they are read, so that a long list costs no more than a short one.
        while !list.isAtEnd {
            guard changes.count < RelayBounds.changeCountMax else {
                throw RelayProblem(.tooLarge, "there are over \(RelayBounds.changeCountMax) changes")
            }
            changes.append(try list.decode(Change.self))
        }
        self.changes = changes
    }
}

extension RelayChanges.Change: Codable {
    private enum CodingKeys: String, CodingKey {
        case write, remove
    }

    private enum WriteKeys: String, CodingKey {
        case replacing, content
    }

    /// Reads and checks a change.
    ///
    /// - throws: ``RelayProblem`` of code `malformed`; `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch (container.contains(.write), container.contains(.remove)) {
        case (true, false):
            let nested = try container.nestedContainer(keyedBy: WriteKeys.self, forKey: .write)
            self = .write(
                try container.decode(RelayFileName.self, forKey: .write),
                replacing: try nested.decode(Bool.self, forKey: .replacing),
                content: try nested.decode(Data.self, forKey: .content))
        case (false, true): self = .remove(try container.decode(RelayFileName.self, forKey: .remove))
        default: throw RelayProblem(.malformed, "a change is not one of write and remove")
        }
    }

    /// Writes a change.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .write(let file, let replacing, let content):
            try container.encode(file, forKey: .write)
            var nested = container.nestedContainer(keyedBy: WriteKeys.self, forKey: .write)
            try nested.encode(replacing, forKey: .replacing)
            try nested.encode(content, forKey: .content)
        case .remove(let file): try container.encode(file, forKey: .remove)
        }
    }
}
