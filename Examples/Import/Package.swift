// swift-tools-version:6.1
import PackageDescription

let package = Package(
    name: "Import",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "CipherStore", path: "../..")],
    targets: [
        .executableTarget(
            name: "import-trips",
            dependencies: [.product(name: "CipherStore", package: "CipherStore")],
            path: "Sources/Import")
    ]
)
