/// Finds what pages are parts of, by walking the b-trees of the database.
///
/// A page that is damaged can't be walked through, so what only it leads to stays
/// unknown. Format: <https://www.sqlite.org/fileformat2.html#b_tree_pages>
struct PageOwners {
    /// A b-tree of the schema.
    struct Tree {
        /// The table, or the table of an index.
        let table: String
        /// The page at which it begins.
        let root: Int
    }

    /// The label of pages that hold nothing.
    static let free = "(free)"

    /// Reads the decrypted content of a page; nil when it is damaged or missing.
    let read: (Int) -> [UInt8]?
    let usableByteCount: Int
    let pageCount: Int

    /// The owners of the pages that were asked for and found: the names of tables, or ``free``.
    func owners(of targets: Set<Int>, in trees: [Tree]) -> [Int: String] {
        var found: [Int: String] = [:]
        var visited: Set<Int> = []
        for tree in trees {
            walk(from: tree.root, &visited) { if targets.contains($0) { found[$0] = tree.table } }
            if found.count == targets.count { return found }
        }
        walkFreePages { if targets.contains($0) { found[$0] = Self.free } }
        return found
    }

    private func walk(from root: Int, _ visited: inout Set<Int>, _ visit: (Int) -> Void) {
        var stack = [root]
        while let number = stack.popLast() {
            guard (1...max(1, pageCount)).contains(number), visited.insert(number).inserted else { continue }
            visit(number)
            guard let page = read(number) else { continue }
            let links = BTreePage(page, number: number, usableByteCount: usableByteCount)
            stack += links.children
            for first in links.overflowPages { walkChain(from: first, &visited, visit) }
        }
    }

    /// Walks the pages of one large value: each begins with the number of the next.
    private func walkChain(from first: Int, _ visited: inout Set<Int>, _ visit: (Int) -> Void) {
        var number = first
        while (1...max(1, pageCount)).contains(number), visited.insert(number).inserted {
            visit(number)
            guard let page = read(number), page.count >= 4 else { return }
            number = Int(page.bigEndian(at: 0))
        }
    }

    private func walkFreePages(_ visit: (Int) -> Void) {
        guard let header = read(1), header.count >= 100 else { return }
        var trunk = Int(header.bigEndian(at: 32))
        var visited: Set<Int> = []
        while (1...max(1, pageCount)).contains(trunk), visited.insert(trunk).inserted {
            visit(trunk)
            guard let page = read(trunk), page.count >= 8 else { return }
            let count = min(Int(page.bigEndian(at: 4)), (page.count - 8) / 4)
            for index in 0..<max(0, count) { visit(Int(page.bigEndian(at: 8 + 4 * index))) }
            trunk = Int(page.bigEndian(at: 0))
        }
    }
}

/// The pages to which a page of a b-tree leads.
private struct BTreePage {
    private enum Kind: UInt8 {
        case indexInterior = 2
        case tableInterior = 5
        case indexLeaf = 10
        case tableLeaf = 13
    }

    private(set) var children: [Int] = []
    private(set) var overflowPages: [Int] = []

    init(_ page: [UInt8], number: Int, usableByteCount: Int) {
        let start = number == 1 ? 100 : 0
        guard page.count >= start + 12, let kind = Kind(rawValue: page[start]) else { return }
        let isInterior = kind == .indexInterior || kind == .tableInterior
        if isInterior { children.append(Int(page.bigEndian(at: start + 8))) }
        let pointers = start + (isInterior ? 12 : 8)
        for index in 0..<page.bigEndian16(at: start + 3) {
            guard pointers + 2 * index + 2 <= page.count else { return }
            var position = page.bigEndian16(at: pointers + 2 * index)
            if isInterior {
                guard position + 4 <= page.count else { continue }
                children.append(Int(page.bigEndian(at: position)))
                position += 4
            }
            if kind == .tableInterior { continue }
            guard let (payload, afterPayload) = Self.varint(page, position) else { continue }
            position = afterPayload
            if kind == .tableLeaf {
                guard let (_, afterRowID) = Self.varint(page, position) else { continue }
                position = afterRowID
            }
            guard
                let local = Self.localByteCount(
                    payload, usable: usableByteCount, isTable: kind == .tableLeaf),
                position + local + 4 <= page.count
            else { continue }
            overflowPages.append(Int(page.bigEndian(at: position + local)))
        }
    }

    /// How much of a payload is in the page itself; nil when all of it is.
    private static func localByteCount(_ payload: Int, usable: Int, isTable: Bool) -> Int? {
        let most = isTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
        guard payload > most else { return nil }
        let least = (usable - 12) * 32 / 255 - 23
        let local = least + (payload - least) % (usable - 4)
        return local <= most ? local : least
    }

    private static func varint(_ bytes: [UInt8], _ start: Int) -> (value: Int, end: Int)? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard start + index < bytes.count else { return nil }
            let byte = bytes[start + index]
            if index == 8 {
                value = value << 8 | UInt64(byte)
            } else {
                value = value << 7 | UInt64(byte & 0x7F)
                if byte < 0x80 { return (Int(truncatingIfNeeded: value), start + index + 1) }
            }
        }
        return (Int(truncatingIfNeeded: value), start + 9)
    }
}
