import TestSupport
import Testing

@testable import SyncWire

/// How much memory a buffer takes that others decide about by what they send.
@Suite(.anyEngine) struct WireWriterMemoryTests {
    private let piece = [UInt8](repeating: 7, count: 1 << 20)

    @Test func itIsLittleMoreThanWhatWasWrittenAndGivenBack() {
        var writer = WireWriter(capacity: 0)
        for _ in 0..<33 { writer.raw(piece) }
        let (count, capacity) = (writer.count, writer.capacity)
        #expect(count == 33 << 20)
        #expect(capacity <= count + count / 4)
        let ends = [writer.bytes[0], writer.bytes[count - 1]]
        #expect(ends == [7, 7])
        writer.removeAll()
        let rest = writer.capacity
        #expect(rest == 0)
        writer.raw(piece)
        let again = writer.count
        #expect(again == piece.count)
    }

    @Test func whatIsLittleIsKept() {
        var writer = WireWriter(capacity: 0)
        writer.raw(piece)
        let capacity = writer.capacity
        writer.removeAll()
        let kept = writer.capacity
        #expect(kept == capacity)
    }
}
