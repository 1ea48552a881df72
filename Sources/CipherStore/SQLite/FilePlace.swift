import CSQLCipher

/// What tells a database file from its copies.
///
/// A file keeps its place when it is renamed or moved within its file system, and when
/// ``StoreRekey`` puts a new file in its stead. A copy has another place, however it was made.
public struct FilePlace: Sendable, Equatable {
    /// A name of the file on its file system that no other file has, or had before; nil where
    /// the file system gives none that lasts.
    public let identity: String?

    /// The identities of files in whose place this one was put, with their content under another key: the first one since a
    /// mark was noted, and the last ones.
    public let predecessors: [String]

    /// What ``setMark(_:at:)`` noted; nil when there is nothing.
    public let mark: [UInt8]?

    private static let markName = "user.cipherstore.mark"
    private static let successionName = "user.cipherstore.succession"

    /// Looks at a file.
    ///
    /// - returns: nil when there is none.
    public init?(path: String) {
        guard let file = FileIdentity(path: path) else { return nil }
        let (mark, takesMarks) = Self.attribute(Self.markName, of: path)
        let birth = csqlcipher_birth_time(path)
        // Where there are no attributes, as on FAT, numbers of files are often made up at each mount.
        let identity =
            takesMarks ? "\(file.inode):\(birth)" : (birth == 0 ? nil : "\(birth)")
        self.identity = identity
        self.mark = mark
        let succession =
            Self.attribute(Self.successionName, of: path).value
            .map { String(decoding: $0, as: UTF8.self).split(separator: ",").map(String.init) } ?? []
        // A copy that took the attribute along is not the file that it speaks of.
        predecessors = identity != nil && succession.last == identity ? succession.dropLast() : []
    }

    /// Notes something beside the content of a file, where a copy of the content does not take it along.
    ///
    /// Who does that knows where the file is, so that the predecessors are forgotten.
    ///
    /// - parameters:
    ///   - mark: What is noted.
    ///   - path: The path of the file.
    /// - returns: Whether the file system can do that.
    public static func setMark(_ mark: [UInt8], at path: String) -> Bool {
        if attribute(successionName, of: path).value?.isEmpty == false {
            _ = setAttribute(successionName, [], of: path)
        }
        return setAttribute(markName, mark, of: path)
    }

    /// Notes that a new file is about to take the place of another, and carries the mark over.
    static func prepareSuccession(of path: String, by newPath: String) {
        guard let old = FilePlace(path: path), let new = FilePlace(path: newPath),
            let from = old.identity, let to = new.identity
        else { return }
        if let mark = old.mark { _ = setMark(mark, at: newPath) }
        // The key may change any number of times before anybody looks, who knows the first of these files. Six identities
        // are as many as an attribute has bytes for.
        let former = old.predecessors.prefix(1) + old.predecessors.dropFirst().suffix(3)
        let text = Array((former + [from, to]).joined(separator: ",").utf8)
        _ = setAttribute(successionName, text, of: newPath)
    }

    /// Gives a new file the attributes and the rights that another one has beside its mode, as far as the system allows.
    static func copyAttributes(of path: String, to newPath: String) {
        csqlcipher_copy_attributes(path, newPath)
    }

    /// - returns: Whether the file system can do that.
    static func setAttribute(_ name: String, _ value: [UInt8], of path: String) -> Bool {
        csqlcipher_set_attribute(path, name, value, value.count) == 0
    }

    /// - returns: The value of an attribute of at most 256 bytes, nil when there is none; and whether the file can have it.
    static func attribute(_ name: String, of path: String) -> (value: [UInt8]?, canBe: Bool) {
        var bytes = [UInt8](repeating: 0, count: 256)
        let length = csqlcipher_get_attribute(path, name, &bytes, bytes.count)
        return (length >= 0 ? Array(bytes[..<length]) : nil, length != -2)
    }
}
