/// The names of files for tables in one folder: each stays in the folder, is seen there, and is that of one table.
struct TableFileNames {
    /// Without regard to case, as some systems compare names. Swift takes texts that look alike for one, as these do.
    private var taken: Set<String> = []

    /// The name for one more table.
    ///
    /// - parameter ending: What it ends in, behind a dot.
    mutating func name(of table: String, _ ending: String) -> String {
        // Bytes, because a slash that a combining mark follows is no character of its own.
        var bytes = table.utf8.map { $0 == UInt8(ascii: "/") || $0 == 0 ? UInt8(ascii: "_") : $0 }
        if bytes.isEmpty { bytes = [UInt8(ascii: "_")] }
        if bytes[0] == UInt8(ascii: ".") { bytes[0] = UInt8(ascii: "_") }
        let stem = String(decoding: bytes, as: UTF8.self)
        var (name, number) = (stem, 1)
        while !taken.insert(name.lowercased()).inserted {
            number += 1
            name = "\(stem)-\(number)"
        }
        return "\(name).\(ending)"
    }
}
