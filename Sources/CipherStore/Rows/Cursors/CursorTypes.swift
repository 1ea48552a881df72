// Cursors are no sequences: a for loop does not take them.
// swift-format-ignore-file: ReplaceForEachWithForLoop

// The cursors that other cursors and sequences make.

/// A cursor whose own type is hidden.
public final class AnyCursor<Element>: Cursor {
    private let element: () throws -> Element?

    /// Makes a cursor of a function that returns the next element.
    public init(_ body: @escaping () throws -> Element?) { element = body }

    /// Hides the type of a cursor.
    public convenience init(_ cursor: some Cursor<Element>) { self.init(cursor.next) }

    /// Makes a cursor of an iterator.
    public convenience init(iterator: some IteratorProtocol<Element>) {
        var iterator = iterator
        self.init { iterator.next() }
    }

    /// Makes a cursor of a sequence.
    public convenience init(_ sequence: some Sequence<Element>) {
        self.init(iterator: sequence.makeIterator())
    }

    /// Returns the next element, or nil at the end.
    public func next() throws -> Element? { try element() }
}

/// A cursor of the elements of an iterator.
public final class IteratorCursor<Base: IteratorProtocol>: Cursor {
    @usableFromInline var base: Base

    /// Makes a cursor of an iterator.
    @inlinable
    public init(_ base: Base) { self.base = base }

    /// Makes a cursor of a sequence.
    @inlinable
    public init<S: Sequence>(_ sequence: S) where S.Iterator == Base { base = sequence.makeIterator() }

    /// Returns the next element, or nil at the end.
    @inlinable
    public func next() -> Base.Element? { base.next() }
}

/// A cursor of what a function makes of each element: ``Cursor/map(_:)``.
public final class MapCursor<Base: Cursor, Element>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline let transform: (Base.Element) throws -> Element

    @inlinable
    init(_ base: Base, _ transform: @escaping (Base.Element) throws -> Element) {
        self.base = base
        self.transform = transform
    }

    /// Returns the next element, or nil at the end.
    @inlinable
    public func next() throws -> Element? {
        guard let element = try base.next() else { return nil }
        return try transform(element)
    }

    /// Calls a function for each element that remains.
    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        try base.forEach { try body(transform($0)) }
    }
}

/// A cursor of what a function makes of each element, without nil: ``Cursor/compactMap(_:)``.
public final class CompactMapCursor<Base: Cursor, Element>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline let transform: (Base.Element) throws -> Element?

    @inlinable
    init(_ base: Base, _ transform: @escaping (Base.Element) throws -> Element?) {
        self.base = base
        self.transform = transform
    }

    /// Returns the next element, or nil at the end.
    @inlinable
    public func next() throws -> Element? {
        while let element = try base.next() {
            if let result = try transform(element) { return result }
        }
        return nil
    }

    /// Calls a function for each element that remains.
    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        try base.forEach { element in
            if let result = try transform(element) { try body(result) }
        }
    }
}

/// A cursor of the elements that meet a condition: ``Cursor/filter(_:)``.
public final class FilterCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline let isIncluded: (Base.Element) throws -> Bool

    @inlinable
    init(_ base: Base, _ isIncluded: @escaping (Base.Element) throws -> Bool) {
        self.base = base
        self.isIncluded = isIncluded
    }

    /// Returns the next element, or nil at the end.
    @inlinable
    public func next() throws -> Base.Element? { try base.first(where: isIncluded) }

    /// Calls a function for each element that remains.
    @inlinable
    public func forEach(_ body: (Base.Element) throws -> Void) throws {
        try base.forEach { element in
            if try isIncluded(element) { try body(element) }
        }
    }
}

/// A cursor of elements with their numbers: ``Cursor/enumerated()``.
public final class EnumeratedCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline var number = 0

    @inlinable
    init(_ base: Base) { self.base = base }

    /// Returns the next element and its number, or nil at the end.
    @inlinable
    public func next() throws -> (Int, Base.Element)? {
        guard let element = try base.next() else { return nil }
        defer { number += 1 }
        return (number, element)
    }

    /// Calls a function for each element that remains.
    @inlinable
    public func forEach(_ body: ((Int, Base.Element)) throws -> Void) throws {
        try base.forEach { element in
            let current = number
            number += 1
            try body((current, element))
        }
    }
}

/// A cursor of the elements of cursors: `Cursor.joined()`.
public final class FlattenCursor<Base: Cursor>: Cursor where Base.Element: Cursor {
    @usableFromInline let base: Base
    @usableFromInline var current: Base.Element?

    @inlinable
    init(_ base: Base) { self.base = base }

    /// Returns the next element, or nil at the end.
    @inlinable
    public func next() throws -> Base.Element.Element? {
        while true {
            if let element = try current?.next() { return element }
            current = try base.next()
            if current == nil { return nil }
        }
    }
}

/// A cursor of the first elements: ``Cursor/prefix(_:)``.
public final class PrefixCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline var remaining: Int

    @inlinable
    init(_ base: Base, _ maxLength: Int) {
        precondition(maxLength >= 0, "the length of a prefix is not negative")
        self.base = base
        remaining = maxLength
    }

    /// Returns the next element, or nil at the end.
    @inlinable
    public func next() throws -> Base.Element? {
        guard remaining > 0 else { return nil }
        remaining -= 1
        return try base.next()
    }
}

/// A cursor of the elements before the first that does not meet a condition:
/// ``Cursor/prefix(while:)``.
public final class PrefixWhileCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline let predicate: (Base.Element) throws -> Bool
    @usableFromInline var isDone = false

    @inlinable
    init(_ base: Base, _ predicate: @escaping (Base.Element) throws -> Bool) {
        self.base = base
        self.predicate = predicate
    }

    /// Returns the next element, or nil at the end.
    @inlinable
    public func next() throws -> Base.Element? {
        if !isDone, let element = try base.next(), try predicate(element) { return element }
        isDone = true
        return nil
    }
}

/// A cursor of the elements after the first ones: ``Cursor/dropFirst(_:)``.
public final class DropFirstCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline var remaining: Int

    @inlinable
    init(_ base: Base, _ count: Int) {
        precondition(count >= 0, "the number of elements to drop is not negative")
        self.base = base
        remaining = count
    }

    /// Returns the next element, or nil at the end.
    @inlinable
    public func next() throws -> Base.Element? {
        while remaining > 0 {
            remaining -= 1
            if try base.next() == nil {
                remaining = 0
                return nil
            }
        }
        return try base.next()
    }
}

/// A cursor of the elements from the first on that does not meet a condition:
/// ``Cursor/drop(while:)``.
public final class DropWhileCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline let predicate: (Base.Element) throws -> Bool
    @usableFromInline var isDropping = true

    @inlinable
    init(_ base: Base, _ predicate: @escaping (Base.Element) throws -> Bool) {
        self.base = base
        self.predicate = predicate
    }

    /// Returns the next element, or nil at the end.
    @inlinable
    public func next() throws -> Base.Element? {
        while let element = try base.next() {
            if isDropping, try predicate(element) { continue }
            isDropping = false
            return element
        }
        return nil
    }
}
