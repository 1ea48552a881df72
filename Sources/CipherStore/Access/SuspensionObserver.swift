import Foundation

/// Passes the application's notifications of suspension on.
///
/// It is `@unchecked Sendable` because the tokens are written once, in the
/// initialiser, and only handed back to the notification center.
final class SuspensionObserver: @unchecked Sendable {
    private let tokens: [any NSObjectProtocol]

    init(suspend: @escaping @Sendable () -> Void, resume: @escaping @Sendable () -> Void) {
        let center = NotificationCenter.default
        tokens = [
            center.addObserver(forName: Database.suspendNotification, object: nil, queue: nil) { _ in
                suspend()
            },
            center.addObserver(forName: Database.resumeNotification, object: nil, queue: nil) { _ in resume()
            },
        ]
    }

    deinit { tokens.forEach(NotificationCenter.default.removeObserver) }
}
