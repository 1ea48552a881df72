/// What an observation reads from the database, and what it makes of that.
///
/// The reducers that there are come from the functions of ``ValueObservation``.
public protocol ValueReducer<Value>: Sendable {
    /// What is read.
    associatedtype Fetched: Sendable

    /// What is made of it.
    associatedtype Value: Sendable

    /// Reads, in an access to the database.
    func fetch(_ db: Database) throws -> Fetched

    /// Makes a value of what was read, or nil when there is none to tell.
    ///
    /// It is called outside of any access to the database, in the order of the
    /// fetches, on one copy of the reducer, so that it can remember something.
    mutating func reduce(_ fetched: Fetched) throws -> Value?
}

/// The reducers of ``ValueObservation``.
public enum ValueReducers {
    /// The value that a function reads.
    public struct Fetch<Value: Sendable>: ValueReducer {
        private let function: @Sendable (Database) throws -> Value

        init(_ function: @escaping @Sendable (Database) throws -> Value) { self.function = function }

        /// Calls the function.
        public func fetch(_ db: Database) throws -> Value { try function(db) }

        /// Returns what was read.
        public func reduce(_ fetched: Value) -> Value? { fetched }
    }

    /// What a function makes of values.
    public struct Map<Base: ValueReducer, Value: Sendable>: ValueReducer {
        private var base: Base
        private let transform: @Sendable (Base.Value) throws -> Value

        init(_ base: Base, _ transform: @escaping @Sendable (Base.Value) throws -> Value) {
            self.base = base
            self.transform = transform
        }

        /// Reads what the base reads.
        public func fetch(_ db: Database) throws -> Base.Fetched { try base.fetch(db) }

        /// Calls the function with the value of the base.
        public mutating func reduce(_ fetched: Base.Fetched) throws -> Value? {
            try base.reduce(fetched).map(transform)
        }
    }

    /// Values without those that are the same as the one before.
    public struct RemoveDuplicates<Base: ValueReducer>: ValueReducer {
        private var base: Base
        private let isDuplicate: @Sendable (Base.Value, Base.Value) -> Bool
        private var previous: Base.Value?

        init(_ base: Base, _ isDuplicate: @escaping @Sendable (Base.Value, Base.Value) -> Bool) {
            self.base = base
            self.isDuplicate = isDuplicate
        }

        /// Reads what the base reads.
        public func fetch(_ db: Database) throws -> Base.Fetched { try base.fetch(db) }

        /// Returns the value of the base, unless it is the same as the one before.
        public mutating func reduce(_ fetched: Base.Fetched) throws -> Base.Value? {
            guard let value = try base.reduce(fetched) else { return nil }
            if let previous, isDuplicate(previous, value) { return nil }
            previous = value
            return value
        }
    }

    /// Values that somebody else is told about.
    public struct Trace<Base: ValueReducer>: ValueReducer {
        private var base: Base
        private let didReceiveValue: (@Sendable (Base.Value) -> Void)?

        init(_ base: Base, _ didReceiveValue: (@Sendable (Base.Value) -> Void)?) {
            self.base = base
            self.didReceiveValue = didReceiveValue
        }

        /// Reads what the base reads.
        public func fetch(_ db: Database) throws -> Base.Fetched { try base.fetch(db) }

        /// Returns the value of the base, after it was told.
        public mutating func reduce(_ fetched: Base.Fetched) throws -> Base.Value? {
            let value = try base.reduce(fetched)
            if let value { didReceiveValue?(value) }
            return value
        }
    }
}

/// A reducer that may have nothing to make of what was read.
protocol PassingReducer {
    /// Whether it passes on what was read, and calls no function of the app.
    var passesOn: Bool { get }
}

extension ValueReducers.Fetch: PassingReducer {
    var passesOn: Bool { true }
}

extension ValueReducers.Trace: PassingReducer {
    var passesOn: Bool { didReceiveValue == nil && (base as? any PassingReducer)?.passesOn == true }
}

extension ValueObservation {
    /// Makes something else of each value.
    ///
    /// ```swift
    /// let names = ValueObservation.tracking(Player.fetchAll).map { players in players.map(\.name) }
    /// ```
    ///
    /// The function runs outside of the accesses to the database, so it is the
    /// place for what takes long. Its error ends the observation.
    ///
    /// - parameter transform: Makes the new value.
    public func map<Value: Sendable>(
        _ transform: @escaping @Sendable (Reducer.Value) throws -> Value
    ) -> ValueObservation<ValueReducers.Map<Reducer, Value>> {
        with(ValueReducers.Map(reducer, transform))
    }

    /// Leaves out values that are the same as the one before.
    ///
    /// - parameter predicate: Tells whether two values are the same.
    public func removeDuplicates(
        by predicate: @escaping @Sendable (Reducer.Value, Reducer.Value) -> Bool
    ) -> ValueObservation<ValueReducers.RemoveDuplicates<Reducer>> {
        with(ValueReducers.RemoveDuplicates(reducer, predicate))
    }
}

extension ValueObservation where Reducer.Value: Equatable {
    /// Leaves out values that are equal to the one before.
    public func removeDuplicates() -> ValueObservation<ValueReducers.RemoveDuplicates<Reducer>> {
        removeDuplicates { $0 == $1 }
    }
}
