import Dispatch
import Foundation
import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What the system allows a service.
enum ProcessLimits {
    /// Each connection is an open file, and the usual bound of 1,024 is far below what a service can hold.
    static func allowManyFiles() {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        _ = setrlimit(resource, &limit)
    }
}

/// Has a service read its certificate again at SIGHUP, which is what managers of services send.
enum CertificateReload {
    /// Listens to the signal.
    ///
    /// - parameter reload: Reads the certificate again, and says whether there are files of it.
    /// - returns: What listens; nil at a terminal, which sends the signal when it is closed.
    static func listen(
        _ logger: Logger, _ reload: @escaping @Sendable () throws -> Bool
    ) -> (any DispatchSourceSignal)? {
        guard ![STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].contains(where: { isatty($0) == 1 }) else {
            return nil
        }
        signal(SIGHUP, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
        source.setEventHandler {
            ServiceReadiness.notify(.reloading)
            do {
                let hasFiles = try reload()
                logger.notice(
                    hasFiles ? "the certificate was read again" : "there is no certificate to read again")
            } catch {
                logger.error("the certificate was not replaced", metadata: ["error": "\(error)"])
            }
            ServiceReadiness.notify(.ready)
        }
        source.resume()
        return source
    }
}
