import Dispatch
import Foundation

/// Where and when the values of an observation are told.
///
/// Those of the library are `.mainActor`, `.immediate`, `.async(onQueue:)`,
/// `.task` and `.task(priority:)`.
public protocol ValueObservationScheduler: Sendable {
    /// Whether the first value is told before the observation's start returns.
    ///
    /// It is called on the thread that starts the observation. If it returns
    /// true, the first value is told on that thread.
    func immediateInitialValue() -> Bool

    /// Runs a function, later or now.
    ///
    /// An observation waits until one function is done before it schedules the next.
    func schedule(_ action: @escaping @Sendable () -> Void)
}

/// A scheduler that tells values on the main actor.
public protocol ValueObservationMainActorScheduler: ValueObservationScheduler {
    /// Runs a function on the main actor.
    func scheduleOnMainActor(_ action: @escaping @MainActor () -> Void)
}

extension ValueObservationMainActorScheduler {
    /// Runs a function on the main actor.
    public func schedule(_ action: @escaping @Sendable () -> Void) {
        scheduleOnMainActor(action)
    }
}

/// A scheduler that runs no function before `schedule(_:)` has returned, so that it may be asked within an access to the
/// database.
protocol DeferringScheduler: ValueObservationScheduler {}

extension AsyncValueObservationScheduler: DeferringScheduler {}
extension DelayedMainActorValueObservationScheduler: DeferringScheduler {}
extension ImmediateValueObservationScheduler: DeferringScheduler {}
extension TaskValueObservationScheduler: DeferringScheduler {}

// MARK: - Dispatch queues

/// Tells values on a dispatch queue.
public struct AsyncValueObservationScheduler: ValueObservationScheduler {
    private let queue: DispatchQueue

    /// Makes a scheduler of a queue.
    public init(queue: DispatchQueue) { self.queue = queue }

    /// Returns false.
    public func immediateInitialValue() -> Bool { false }

    /// Runs a function on the queue.
    public func schedule(_ action: @escaping @Sendable () -> Void) { queue.async(execute: action) }
}

extension ValueObservationScheduler where Self == AsyncValueObservationScheduler {
    /// Tells all values on a dispatch queue.
    ///
    /// ```swift
    /// let cancellable = observation.start(
    ///     in: dbQueue, scheduling: .async(onQueue: .global()),
    ///     onError: { error in … }, onChange: { value in … })
    /// ```
    public static func async(onQueue queue: DispatchQueue) -> AsyncValueObservationScheduler {
        AsyncValueObservationScheduler(queue: queue)
    }
}

// MARK: - The main actor

/// Tells values on the main actor, all of them after the start has returned.
public struct DelayedMainActorValueObservationScheduler: ValueObservationMainActorScheduler {
    /// Makes the scheduler.
    public init() {}

    /// Returns false.
    public func immediateInitialValue() -> Bool { false }

    /// Runs a function on the main actor, later.
    public func scheduleOnMainActor(_ action: @escaping @MainActor () -> Void) {
        DispatchQueue.main.async(execute: action)
    }
}

extension ValueObservationScheduler where Self == DelayedMainActorValueObservationScheduler {
    /// Tells all values on the main actor, after the start has returned.
    public static var mainActor: DelayedMainActorValueObservationScheduler {
        DelayedMainActorValueObservationScheduler()
    }
}

/// Tells values on the main actor, and the first one before the start returns.
public struct ImmediateValueObservationScheduler: ValueObservationMainActorScheduler {
    /// Makes the scheduler.
    public init() {}

    /// Returns true.
    ///
    /// It is an error of the program to start the observation elsewhere than on the main actor.
    public func immediateInitialValue() -> Bool {
        precondition(
            MainQueue.isCurrent,
            "an observation that is scheduled with .immediate must be started on the main thread")
        return true
    }

    /// Runs a function on the main actor, later.
    public func scheduleOnMainActor(_ action: @escaping @MainActor () -> Void) {
        DispatchQueue.main.async(execute: action)
    }
}

extension ValueObservationScheduler where Self == ImmediateValueObservationScheduler {
    /// Tells all values on the main actor, and the first one before the start returns.
    ///
    /// The start waits for the fetch of the first value. It must be called on the main
    /// actor, or the main thread: the program stops otherwise.
    public static var immediate: ImmediateValueObservationScheduler {
        ImmediateValueObservationScheduler()
    }
}

/// Knows the main queue, which is not the main thread's in programs that have
/// given that thread away, as command-line programs do on Linux.
private enum MainQueue {
    private static let key: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    static var isCurrent: Bool {
        Thread.isMainThread || DispatchQueue.getSpecific(key: key) != nil
    }
}

// MARK: - Tasks

/// Tells values in tasks, on the threads that Swift's concurrency uses.
public struct TaskValueObservationScheduler: ValueObservationScheduler {
    private let priority: TaskPriority?

    /// Makes a scheduler of a priority.
    public init(priority: TaskPriority? = nil) { self.priority = priority }

    /// Returns false.
    public func immediateInitialValue() -> Bool { false }

    /// Runs a function in a task of its own: it has neither the priority nor the task-local values
    /// of the one that makes the change.
    public func schedule(_ action: @escaping @Sendable () -> Void) {
        Task.detached(priority: priority) { action() }
    }
}

extension ValueObservationScheduler where Self == TaskValueObservationScheduler {
    /// Tells all values in tasks, one after the other.
    public static var task: TaskValueObservationScheduler { TaskValueObservationScheduler() }

    /// Tells all values in tasks of a priority, one after the other.
    public static func task(priority: TaskPriority) -> TaskValueObservationScheduler {
        TaskValueObservationScheduler(priority: priority)
    }
}
