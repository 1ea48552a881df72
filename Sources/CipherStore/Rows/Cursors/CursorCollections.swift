// Cursors are no sequences: a for loop does not take them.
// swift-format-ignore-file: ReplaceForEachWithForLoop

// Collections of what a cursor gives.

extension RangeReplaceableCollection {
    /// Makes a collection of a cursor's elements.
    @inlinable
    public init(_ cursor: some Cursor<Element>) throws {
        self.init()
        try append(contentsOf: cursor)
    }

    /// Makes a collection of a cursor's elements, with room for at least so many.
    @inlinable
    public init(_ cursor: some Cursor<Element>, minimumCapacity: Int) throws {
        self.init()
        reserveCapacity(minimumCapacity)
        try append(contentsOf: cursor)
    }

    /// Appends a cursor's elements.
    @inlinable
    public mutating func append(contentsOf cursor: some Cursor<Element>) throws {
        // By `forEach`, which a cursor may have its own of.
        try cursor.forEach { append($0) }
    }
}

extension Set {
    /// Makes a set of a cursor's elements.
    @inlinable
    public init(_ cursor: some Cursor<Element>) throws {
        self.init()
        try formUnion(cursor)
    }

    /// Makes a set of a cursor's elements, with room for at least so many.
    @inlinable
    public init(_ cursor: some Cursor<Element>, minimumCapacity: Int) throws {
        self.init(minimumCapacity: minimumCapacity)
        try formUnion(cursor)
    }

    /// Returns a set with a cursor's elements added.
    @inlinable
    public func union(_ cursor: some Cursor<Element>) throws -> Set<Element> {
        var result = self
        try result.formUnion(cursor)
        return result
    }

    /// Adds a cursor's elements.
    @inlinable
    public mutating func formUnion(_ cursor: some Cursor<Element>) throws {
        try cursor.forEach { insert($0) }
    }

    /// Returns the elements that a cursor has too.
    @inlinable
    public func intersection(_ cursor: some Cursor<Element>) throws -> Set<Element> {
        var result = Set()
        try cursor.forEach { element in
            if contains(element) { result.insert(element) }
        }
        return result
    }

    /// Removes the elements that a cursor does not have.
    @inlinable
    public mutating func formIntersection(_ cursor: some Cursor<Element>) throws {
        self = try intersection(cursor)
    }
}

extension Dictionary {
    /// Makes a dictionary of the lists of elements that have the same key.
    ///
    /// - parameters:
    ///     - minimumCapacity: There is room for at least so many keys.
    ///     - cursor: The elements.
    ///     - keyForValue: Returns the key of an element.
    @inlinable
    public init<C: Cursor>(
        minimumCapacity: Int = 0, grouping cursor: C, by keyForValue: (C.Element) throws -> Key
    ) throws where Value == [C.Element] {
        self.init(minimumCapacity: minimumCapacity)
        try cursor.forEach { element in
            self[try keyForValue(element), default: []].append(element)
        }
    }

    /// Makes a dictionary of a cursor of keys and values.
    ///
    /// Two equal keys are a programming error.
    ///
    /// - parameters:
    ///     - minimumCapacity: There is room for at least so many keys.
    ///     - cursor: The keys and values.
    @inlinable
    public init(
        minimumCapacity: Int = 0, uniqueKeysWithValues cursor: some Cursor<(Key, Value)>
    ) throws {
        self.init(minimumCapacity: minimumCapacity)
        try cursor.forEach { key, value in
            let previous = updateValue(value, forKey: key)
            precondition(previous == nil, "the keys of a cursor are not unique")
        }
    }
}
