/// The rows of a table that are still to be tried, in the order of their claims. Others can join them meanwhile.
struct ClaimQueue {
    /// A row that waits.
    struct Candidate {
        let key: OwnedValue
        let order: ClaimOrder
    }

    /// A binary heap: none comes before the one at half its index.
    private var heap: [Candidate]

    init(_ candidates: [Candidate] = []) { heap = candidates.sorted { $0.order < $1.order } }

    /// Adds a row.
    mutating func insert(_ candidate: Candidate) {
        heap.append(candidate)
        var index = heap.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard heap[index].order < heap[parent].order else { return }
            heap.swapAt(index, parent)
            index = parent
        }
    }

    /// Takes out the first row, and whatever else was added of the same row.
    mutating func popFirst() -> Candidate? {
        guard let first = removeFirst() else { return nil }
        while heap.first?.order == first.order { _ = removeFirst() }
        return first
    }

    private mutating func removeFirst() -> Candidate? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < heap.count && heap[child].order < heap[least].order {
                least = child
            }
            guard least != index else { return first }
            heap.swapAt(index, least)
            index = least
        }
    }
}
