/// A type that gives elements one by one, and may fail at each.
///
/// ```swift
/// let rows = try Row.fetchCursor(db, sql: "SELECT * FROM player")
/// while let row = try rows.next() { … }
/// ```
public protocol Cursor<Element>: AnyObject {
    /// The type of the elements.
    associatedtype Element

    /// Returns the next element, or nil at the end.
    func next() throws -> Element?
}

extension Cursor {
    /// Calls a function for each element.
    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        while let element = try next() { try body(element) }
    }

    /// Combines the elements into one value.
    @inlinable
    public func reduce<Result>(
        into initial: Result, _ update: (inout Result, Element) throws -> Void
    ) throws -> Result {
        var result = initial
        while let element = try next() { try update(&result, element) }
        return result
    }
}

extension Array {
    /// Makes an array of a cursor's elements.
    @inlinable
    public init<C: Cursor>(_ cursor: C, minimumCapacity: Int = 0) throws where C.Element == Element {
        self.init()
        reserveCapacity(minimumCapacity)
        while let element = try cursor.next() { append(element) }
    }
}

extension Set {
    /// Makes a set of a cursor's elements.
    @inlinable
    public init<C: Cursor>(_ cursor: C, minimumCapacity: Int = 0) throws where C.Element == Element {
        self.init(minimumCapacity: minimumCapacity)
        while let element = try cursor.next() { insert(element) }
    }
}
