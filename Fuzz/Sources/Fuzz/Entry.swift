import Foundation

// What libFuzzer calls: https://llvm.org/docs/LibFuzzer.html

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The name that SwiftPM gives to the main function of an executable on Linux, so that tests can
/// have another one. What libFuzzer brings is replaced by this.
@_cdecl("Fuzz_main")
public func fuzzMain(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
    var count = count
    var arguments = arguments
    return runDriver(&count, &arguments) { fuzzOneInput($0, $1) }
}

/// Takes the name of the target from the arguments; the others are libFuzzer's.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzInitialize(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> CInt {
    let words = (0..<Int(count.pointee)).map { arguments.pointee[$0].map { String(cString: $0) } ?? "" }
    guard words.count > 1, let target = FuzzTarget.named(words[1]) else {
        let names = FuzzTarget.all.map(\.name).joined(separator: "|")
        print("usage: Fuzz \(names) [--seeds SCHEMAS FOLDER | an option of libFuzzer or a file]...")
        exit(1)
    }
    if words.count == 5, words[2] == "--seeds" {
        do {
            try SeedCorpus.write(target, schemas: words[3], to: words[4])
            exit(0)
        } catch {
            print("Fuzz: error: cannot write the seeds: \(error)")
            exit(1)
        }
    }
    // libFuzzer reads the arguments after this.
    for index in 1..<(Int(count.pointee) - 1) {
        arguments.pointee[index] = arguments.pointee[index + 1]
    }
    count.pointee -= 1
    FuzzRun.start(target)
    return 0
}

/// Runs one input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzRun.one(Array(UnsafeBufferPointer(start: data, count: count)))
    return 0
}
