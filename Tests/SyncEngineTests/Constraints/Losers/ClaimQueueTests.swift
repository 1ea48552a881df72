import SyncWire
import Testing

@testable import SyncEngine

@Suite struct ClaimQueueTests {
    private func candidate(_ number: Int64) -> ClaimQueue.Candidate {
        let order = ClaimOrder(timestamp: number, replica: ReplicaID(high: 1, low: 2), key: [])
        return ClaimQueue.Candidate(key: OwnedValue(copying: .integer(number)), order: order)
    }

    @Test func rowsComeOutInOrderAndOnce() {
        var queue = ClaimQueue([5, 3, 9, 3, 1].map { candidate($0) })
        var numbers: [Int64] = []
        while let first = queue.popFirst() {
            numbers.append(first.order.timestamp)
            guard first.order.timestamp == 3 else { continue }
            for number in [9, 4, 7, 5, 4] as [Int64] { queue.insert(candidate(number)) }
        }
        #expect(numbers == [1, 3, 4, 5, 7, 9])
    }
}
