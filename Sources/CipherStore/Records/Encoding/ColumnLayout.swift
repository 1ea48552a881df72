/// The names of the columns that records of one kind set, in order.
///
/// It is made of one record and followed by the next ones, which compare it by
/// identity: a record that has followed it to its end sets these columns.
///
/// It is `@unchecked Sendable` because nobody changes what the pointer points to.
@usableFromInline final class ColumnLayout: @unchecked Sendable {
    let names: [String]

    /// The same names, where they are compared without counting references.
    let pointer: UnsafeMutableBufferPointer<String>

    init(_ names: [String]) {
        self.names = names
        pointer = .allocate(capacity: max(names.count, 1))
        for (index, name) in names.enumerated() { pointer.initializeElement(at: index, to: name) }
    }

    deinit {
        for index in names.indices { pointer.deinitializeElement(at: index) }
        pointer.deallocate()
    }

    /// What a record follows of which nothing is known.
    static let empty = ColumnLayout([])
}
