/// Events in the order of their times: a heap of times, and the events beside it, so that little is moved.
struct EventQueue<Event> {
    private var heap: [(time: Double, slot: Int32)] = []
    private var events: [Event] = []
    private var free: [Int32] = []

    mutating func add(_ event: Event, at time: Double) {
        let slot: Int32
        if let last = free.popLast() {
            slot = last
            events[Int(slot)] = event
        } else {
            slot = Int32(events.count)
            events.append(event)
        }
        var child = heap.count
        heap.append((time, slot))
        while child > 0 {
            let parent = (child - 1) / 4
            guard time < heap[parent].time else { break }
            heap[child] = heap[parent]
            child = parent
        }
        heap[child] = (time, slot)
    }

    mutating func next() -> (time: Double, event: Event)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        free.append(first.slot)
        guard !heap.isEmpty else { return (first.time, events[Int(first.slot)]) }
        var parent = 0
        while true {
            let child = 4 * parent + 1
            guard child < heap.count else { break }
            var least = child
            for other in (child + 1)..<max(child + 1, min(child + 4, heap.count))
            where heap[other].time < heap[least].time {
                least = other
            }
            guard heap[least].time < last.time else { break }
            heap[parent] = heap[least]
            parent = least
        }
        heap[parent] = last
        return (first.time, events[Int(first.slot)])
    }
}
