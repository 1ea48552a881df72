import Foundation

extension CocoaError {
    /// Why the system refused something, in its own words and as the middle of a sentence: Foundation's description is
    /// a domain and a number on some systems.
    package var systemText: String {
        let underlying = userInfo[NSUnderlyingErrorKey] as? any Error
        guard let underlying, (underlying as NSError).domain == NSPOSIXErrorDomain else {
            return localizedDescription
        }
        let text = String(cString: strerror(CInt(truncatingIfNeeded: (underlying as NSError).code)))
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
