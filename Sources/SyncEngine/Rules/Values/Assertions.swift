import SyncWire

/// Checks, where `assert` does, an invariant that takes a look-up in the database.
///
/// It is for what the code before it guarantees. What a peer, a file or another program can cause is an error instead.
///
/// - throws: What the look-up throws. Where `assert` does nothing, nothing is looked up.
@inline(__always)
func debugAssert(
    _ condition: @autoclosure () throws -> Bool, _ message: @autoclosure () -> String = "",
    file: StaticString = #file, line: UInt = #line
) rethrows {
    guard checksAssertions else { return }
    let holds = try condition()
    assert(holds, message(), file: file, line: line)
}

/// Whether this build checks assertions: a debug build, or one with `-assert-config Debug`.
let checksAssertions: Bool = {
    var checks = false
    assert(
        {
            checks = true
            return true
        }())
    return checks
}()

extension Sequence {
    /// Whether each element stands before the next one, in an order in which no two are equal.
    func isOrdered(by precedes: (Element, Element) -> Bool) -> Bool {
        var iterator = makeIterator()
        guard var last = iterator.next() else { return true }
        while let next = iterator.next() {
            guard precedes(last, next) else { return false }
            last = next
        }
        return true
    }
}

extension RowKey {
    /// Whether it is as long as a UUID: 16 bytes, or 36 characters.
    var isUUIDLong: Bool { bytes.count == (isText ? 36 : 16) }
}
