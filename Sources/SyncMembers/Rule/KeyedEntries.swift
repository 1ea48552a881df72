/// Entries by their keys, with a number for each, so that whoever goes through all of them in the order of the keys
/// hashes none.
///
/// Each epoch is judged by all devices. With a dictionary alone, most of the work would be hashing.
struct KeyedEntries<Key: Hashable & Comparable & Sendable, Entry: Sendable>: Sendable {
    private var numbers: [Key: Int] = [:]
    /// The keys, in the order in which they came.
    private(set) var keys: [Key] = []
    /// Their entries.
    private(set) var entries: [Entry] = []
    /// The numbers of the entries, in the ascending order of their keys.
    private(set) var order: [Int] = []

    var count: Int { entries.count }

    /// The number of a key's entry.
    func number(of key: Key) -> Int? { numbers[key] }

    /// An entry; nil for a key without one.
    subscript(key: Key) -> Entry? { numbers[key].map { entries[$0] } }

    /// An entry, to be changed in its place. A key without one gets it.
    subscript(key: Key, default entry: @autoclosure () -> Entry) -> Entry {
        get { self[key] ?? entry() }
        _modify {
            let number = numbers[key] ?? append(key, entry())
            yield &entries[number]
        }
    }

    private mutating func append(_ key: Key, _ entry: Entry) -> Int {
        let number = entries.count
        var (low, high) = (0, order.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[order[middle]] < key { low = middle + 1 } else { high = middle }
        }
        numbers[key] = number
        keys.append(key)
        entries.append(entry)
        order.insert(number, at: low)
        return number
    }
}
