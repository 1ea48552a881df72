// swift-tools-version:6.1
import CompilerPluginSupport
import PackageDescription

// A package of its own: who tests a macro target directly has SwiftPM build all that the tests use a second time, for the
// compiler's machine. `Scripts/check-macros` builds and runs it; the sources of the plug-in are a link.
let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]

let package = Package(
    name: "MacroExpansion",
    platforms: [.macOS(.v15)],
    dependencies: [.package(url: "https://github.com/swiftlang/swift-syntax.git", "600.0.0"..<"605.0.0")],
    targets: [
        .macro(
            name: "CipherStoreMacros",
            dependencies: [
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CipherStoreMacrosTests",
            dependencies: [
                "CipherStoreMacros",
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax"),
            ],
            swiftSettings: settings),
    ]
)
