// swift-tools-version:6.1
import PackageDescription

let package = Package(
    name: "Reminders",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "CipherStore", path: "../..")],
    targets: [
        .executableTarget(
            name: "reminders",
            dependencies: [.product(name: "CipherData", package: "CipherStore")],
            path: "Sources/Reminders")
    ]
)
