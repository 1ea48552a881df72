#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The arguments of the process, in the memory from which the system shows them to other users.
enum ProcessArguments {
    /// Returns the arguments, and overwrites the secrets of invitations where others read them.
    ///
    /// Called before anything else: until then, whoever looks sees them.
    static func take() -> [String] {
        // Swift copies them when they are asked for first.
        let arguments = CommandLine.arguments
        guard arguments.contains(where: isInvitation) else { return arguments }
        #if os(Linux)
            guard let (start, end) = shownRegion() else { return arguments }
            var argument = start
            while argument < end {
                let count = strnlen(argument, end - argument)
                // One without an end was changed by somebody else.
                guard argument + count < end else { break }
                hideInvitation(in: argument)
                argument += count + 1
            }
        #else
            for index in 0..<Int(CommandLine.argc) {
                if let argument = CommandLine.unsafeArgv[index] { hideInvitation(in: argument) }
            }
        #endif
        return arguments
    }

    private static func isInvitation(_ argument: String) -> Bool {
        InvitationArgument.schemes.contains { argument.contains($0) }
    }

    /// Overwrites what follows the address in an invitation; in one without an address, everything.
    static func hideInvitation(in argument: UnsafeMutablePointer<CChar>) {
        for scheme in InvitationArgument.schemes { hide(scheme, in: argument) }
    }

    private static func hide(_ scheme: String, in argument: UnsafeMutablePointer<CChar>) {
        guard let link = strstr(argument, scheme) else { return }
        var secret = link + strlen(scheme)
        if strncmp(secret, "//", 2) == 0, let slash = strchr(secret + 2, Int32(UInt8(ascii: "/"))) {
            secret = slash + 1
        }
        memset(secret, Int32(UInt8(ascii: "*")), strlen(secret))
    }

    #if os(Linux)
        /// Where the kernel reads what it shows in /proc/PID/cmdline: fields 48 and 49 of /proc/PID/stat, see proc(5).
        /// Swift's own list of arguments may be a copy.
        private static func shownRegion() -> (
            start: UnsafeMutablePointer<CChar>, end: UnsafeMutablePointer<CChar>
        )? {
            let descriptor = open("/proc/self/stat", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            defer { close(descriptor) }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = read(descriptor, &bytes, bytes.count)
            // The second field is the name of the program in brackets, which may hold brackets and spaces.
            guard count > 0, let bracket = bytes[..<count].lastIndex(of: UInt8(ascii: ")")) else {
                return nil
            }
            let fields = String(decoding: bytes[(bracket + 1)..<count], as: UTF8.self).split(separator: " ")
            guard fields.count > 46, let first = UInt(fields[45]), let last = UInt(fields[46]), first < last,
                let start = UnsafeMutablePointer<CChar>(bitPattern: first),
                let end = UnsafeMutablePointer<CChar>(bitPattern: last)
            else { return nil }
            return (start, end)
        }
    #endif
}
