/// What a path stands for: a file, or a database in memory.
struct DatabasePath {
    private let path: String

    init(_ path: String) { self.path = path }

    /// The URI of an in-memory database that all connections of the process
    /// with that name share.
    static func named(_ name: String) -> String {
        // Everything else means something in a URI: https://www.sqlite.org/uri.html
        let isPlain: (UInt8) -> Bool = { byte in
            byte < 0x80
                && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
        }
        let digits = Array("0123456789ABCDEF")
        let escaped = name.utf8.map { byte in
            isPlain(byte)
                ? String(Unicode.Scalar(byte)) : "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }
        return "file:" + escaped.joined() + "?mode=memory&cache=shared"
    }

    /// Whether the database is in memory and has a name.
    var isNamedMemory: Bool { path.hasPrefix("file:") && path.hasSuffix("?mode=memory&cache=shared") }

    /// Whether the database is a file that stays.
    var isFile: Bool { !path.isEmpty && path != ":memory:" && !isNamedMemory }
}
