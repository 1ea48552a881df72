/// Where a file of a channel is: the folder of a replica, and a name in it.
public struct RelayFileName: Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
    /// The folder: 32 hexadecimal digits in lower case.
    public let folder: String
    /// The name: 1 to 64 characters of `0-9a-z`, `-` and `.`, the first of which is no dot.
    public let name: String

    /// Makes a name.
    ///
    /// - throws: ``RelayProblem`` of code `malformed` when a relay would not take it.
    public init(folder: String, name: String) throws {
        guard Self.isFolder(folder) else {
            throw RelayProblem(.malformed, "a folder is not named by 32 hexadecimal digits in lower case")
        }
        guard Self.isName(name) else {
            throw RelayProblem(
                .malformed,
                "a file is not named by 1 to 64 characters of 0-9, a-z, - and ., or begins with a dot")
        }
        (self.folder, self.name) = (folder, name)
    }

    private enum CodingKeys: String, CodingKey {
        case folder, name
    }

    /// Reads the members `folder` and `name`.
    ///
    /// - throws: ``RelayProblem`` of code `malformed`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            folder: container.decode(String.self, forKey: .folder),
            name: container.decode(String.self, forKey: .name))
    }

    /// Folders first, then names, each by its bytes.
    public static func < (one: RelayFileName, two: RelayFileName) -> Bool {
        (one.folder, one.name) < (two.folder, two.name)
    }

    /// Both, with a slash between.
    public var description: String { "\(folder)/\(name)" }

    private static func isFolder(_ text: String) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { isDigit($0) || (0x61...0x66).contains($0) }
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.first != 0x2E
            && text.utf8.allSatisfy {
                isDigit($0) || (0x61...0x7A).contains($0) || $0 == 0x2D || $0 == 0x2E
            }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
