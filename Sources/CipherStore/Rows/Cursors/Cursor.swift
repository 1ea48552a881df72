/// A type that gives elements one by one, and may fail at each.
///
/// ```swift
/// let rows = try Row.fetchCursor(db, sql: "SELECT * FROM player")
/// while let row = try rows.next() { … }
/// ```
///
/// A cursor is like an iterator: what was read is gone. Functions such as
/// ``map(_:)`` return cursors that compute their elements when they are asked
/// for. Others, such as ``contains(where:)``, read only as far as they need.
public protocol Cursor<Element>: AnyObject {
    /// The type of the elements.
    associatedtype Element

    /// Returns the next element, or nil at the end.
    func next() throws -> Element?

    /// Calls a function for each element that remains.
    func forEach(_ body: (Element) throws -> Void) throws
}

extension Cursor {
    /// Calls a function for each element that remains.
    ///
    /// - throws: What the cursor or the function throws.
    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        while let element = try next() { try body(element) }
    }

    /// Whether there is no element. An element that is there is read.
    public var isEmpty: Bool {
        get throws { try next() == nil }
    }

    // MARK: Searching

    /// Returns whether an element meets a condition.
    @inlinable
    public func contains(where predicate: (Element) throws -> Bool) throws -> Bool {
        try first(where: predicate) != nil
    }

    /// Returns the first element that meets a condition.
    @inlinable
    public func first(where predicate: (Element) throws -> Bool) throws -> Element? {
        while let element = try next() {
            if try predicate(element) { return element }
        }
        return nil
    }

    /// Returns the smallest element.
    ///
    /// - parameter areInIncreasingOrder: Whether the first of two elements comes before the second.
    @inlinable
    public func min(by areInIncreasingOrder: (Element, Element) throws -> Bool) throws -> Element? {
        guard var result = try next() else { return nil }
        try forEach { element in
            if try areInIncreasingOrder(element, result) { result = element }
        }
        return result
    }

    /// Returns the largest element.
    ///
    /// - parameter areInIncreasingOrder: Whether the first of two elements comes before the second.
    @inlinable
    public func max(by areInIncreasingOrder: (Element, Element) throws -> Bool) throws -> Element? {
        try min { try areInIncreasingOrder($1, $0) }
    }

    // MARK: Combining

    /// Combines the elements into one value.
    @inlinable
    public func reduce<Result>(
        into initial: Result, _ update: (inout Result, Element) throws -> Void
    ) throws -> Result {
        var result = initial
        try forEach { try update(&result, $0) }
        return result
    }

    /// Combines the elements into one value.
    @inlinable
    public func reduce<Result>(
        _ initial: Result, _ next: (Result, Element) throws -> Result
    ) throws -> Result {
        try reduce(into: initial) { $0 = try next($0, $1) }
    }

    // MARK: Ends

    /// Returns the last elements, at most so many.
    public func suffix(_ maxLength: Int) throws -> [Element] {
        precondition(maxLength >= 0, "the length of a suffix is not negative")
        var last: [Element] = []
        // Twice the length is dropped at once, rather than one element each time.
        try forEach { element in
            last.append(element)
            if last.count >= 64, last.count / 2 >= maxLength { last.removeFirst(last.count - maxLength) }
        }
        return Array(last.suffix(maxLength))
    }

    /// Returns the elements without the last ones.
    public func dropLast(_ count: Int = 1) throws -> [Element] {
        try Array(self).dropLast(count)
    }
}

extension Cursor where Element: Equatable {
    /// Returns whether an element equals another one.
    @inlinable
    public func contains(_ element: Element) throws -> Bool { try contains { $0 == element } }
}

extension Cursor where Element: Comparable {
    /// Returns the smallest element.
    @inlinable
    public func min() throws -> Element? { try min(by: <) }

    /// Returns the largest element.
    @inlinable
    public func max() throws -> Element? { try max(by: <) }
}

extension Cursor where Element: StringProtocol {
    /// Returns the elements as one string.
    public func joined(separator: String = "") throws -> String {
        try Array(self).joined(separator: separator)
    }
}

// MARK: - Other cursors

extension Cursor {
    /// Returns a cursor of what a function makes of each element.
    @inlinable
    public func map<T>(_ transform: @escaping (Element) throws -> T) -> MapCursor<Self, T> {
        MapCursor(self, transform)
    }

    /// Returns a cursor of what a function makes of each element, without nil.
    @inlinable
    public func compactMap<T>(
        _ transform: @escaping (Element) throws -> T?
    ) -> CompactMapCursor<Self, T> {
        CompactMapCursor(self, transform)
    }

    /// Returns a cursor of the elements that meet a condition.
    @inlinable
    public func filter(_ isIncluded: @escaping (Element) throws -> Bool) -> FilterCursor<Self> {
        FilterCursor(self, isIncluded)
    }

    /// Returns a cursor of the elements with their numbers, from 0.
    @inlinable
    public func enumerated() -> EnumeratedCursor<Self> { EnumeratedCursor(self) }

    /// Returns a cursor of the elements of the cursors that a function makes.
    @inlinable
    public func flatMap<C: Cursor>(
        _ transform: @escaping (Element) throws -> C
    ) -> FlattenCursor<MapCursor<Self, C>> {
        FlattenCursor(map(transform))
    }

    /// Returns a cursor of the elements of the sequences that a function makes.
    @inlinable
    public func flatMap<S: Sequence>(
        _ transform: @escaping (Element) throws -> S
    ) -> FlattenCursor<MapCursor<Self, IteratorCursor<S.Iterator>>> {
        flatMap { try IteratorCursor(transform($0)) }
    }

    /// Returns a cursor of the first elements, at most so many.
    @inlinable
    public func prefix(_ maxLength: Int) -> PrefixCursor<Self> { PrefixCursor(self, maxLength) }

    /// Returns a cursor of the elements before the first that does not meet a condition.
    @inlinable
    public func prefix(
        while predicate: @escaping (Element) throws -> Bool
    ) -> PrefixWhileCursor<Self> {
        PrefixWhileCursor(self, predicate)
    }

    /// Returns a cursor of the elements after the first ones.
    @inlinable
    public func dropFirst(_ count: Int = 1) -> DropFirstCursor<Self> { DropFirstCursor(self, count) }

    /// Returns a cursor of the elements from the first on that does not meet a condition.
    @inlinable
    public func drop(while predicate: @escaping (Element) throws -> Bool) -> DropWhileCursor<Self> {
        DropWhileCursor(self, predicate)
    }
}

extension Cursor where Element: Cursor {
    /// Returns a cursor of the elements of the cursors.
    @inlinable
    public func joined() -> FlattenCursor<Self> { FlattenCursor(self) }
}

extension Cursor where Element: Sequence {
    /// Returns a cursor of the elements of the sequences.
    @inlinable
    public func joined() -> FlattenCursor<MapCursor<Self, IteratorCursor<Element.Iterator>>> {
        flatMap { $0 }
    }
}

extension Sequence {
    /// Returns a cursor of the elements of the cursors that a function makes.
    @inlinable
    public func flatMap<C: Cursor>(
        _ transform: @escaping (Element) throws -> C
    ) -> FlattenCursor<MapCursor<IteratorCursor<Iterator>, C>> {
        IteratorCursor(self).flatMap(transform)
    }
}
