// swift-tools-version:6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// What reads and writes every text runs in debug builds as in release: without, a sixth of the tests'
/// time is JSON.
let hot = settings + [.unsafeFlags(["-O"], .when(configuration: .debug))]

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let arguments: Target.Dependency = .product(
    name: "ArgumentParser", package: "swift-argument-parser")
let http: [Target.Dependency] = [
    .product(name: "HummingbirdCore", package: "hummingbird"),
    .product(name: "HTTPTypes", package: "swift-http-types"),
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"),
    .product(name: "NIOExtras", package: "swift-nio-extras"),
    .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
    .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
    .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
]

let package = Package(
    name: "recordfs",
    products: [
        .executable(name: "recordfs", targets: ["recordfs"]),
        .executable(name: "recordfs-server", targets: ["recordfs-server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CFuse3", pkgConfig: "fuse3", providers: [.apt(["libfuse3-dev"])]),
        // Its headers are those of libcurl4-openssl-dev.
        .target(name: "CCurl"),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CNetlink"),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CCrypto", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
        .systemLibrary(
            name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
        .target(name: "FuseKit", dependencies: ["CFuse3"], swiftSettings: settings),
        .target(name: "RecordModel", dependencies: ["CLinux"], swiftSettings: hot),
        .target(
            name: "RecordObjects", dependencies: ["CExpat", "RecordModel"],
            swiftSettings: settings),
        .target(
            name: "RecordStore",
            dependencies: ["RecordModel", "RecordObjects", "RecordSQL", logging],
            swiftSettings: settings),
        .target(
            name: "RecordStoreSync",
            dependencies: ["RecordModel", "RecordSQL", "RecordStore"],
            swiftSettings: settings),
        .target(
            name: "RecordQuery", dependencies: ["RecordModel", "RecordSQL", "RecordStore"],
            swiftSettings: settings),
        .target(
            name: "RecordTree", dependencies: ["CLinux", "RecordModel", "RecordStore"],
            swiftSettings: settings),
        .target(
            name: "RecordMount",
            dependencies: [
                "CLinux", "FuseKit", "RecordTree", "RecordStore", "RecordModel", logging,
            ],
            swiftSettings: settings),
        .target(
            name: "RecordControl",
            dependencies: [
                "RecordModel", "RecordObjects", "RecordStore", "RecordStoreSync", logging,
            ],
            swiftSettings: settings),
        .target(
            name: "RecordDaemon",
            dependencies: [
                "FuseKit", "RecordMount", "RecordSync", "RecordTree", "RecordStore",
                "RecordWire",
                "RecordModel", "RecordControl", logging,
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "recordfs",
            dependencies: [
                "CQREncode", "RecordDaemon", "RecordMount", "RecordQuery", "RecordSQL",
                "RecordSync", "RecordTree", "RecordStore", "RecordStoreSync", "RecordWire",
                "RecordModel", "RecordControl",
                "RecordObjects", logging, arguments,
            ],
            swiftSettings: settings),
        .target(
            name: "RecordSQL", dependencies: ["CSQLite", "RecordModel"], swiftSettings: hot),
        .target(name: "RecordWire", dependencies: ["RecordModel"], swiftSettings: hot),
        .target(
            name: "RecordSync",
            dependencies: [
                "CCurl", "CNetlink", "RecordModel", "RecordStore", "RecordStoreSync", "RecordWire",
                logging,
            ], swiftSettings: settings),
        .target(
            name: "RecordServerCore",
            dependencies: ["CCrypto", "CLinux", "RecordModel", "RecordWire", logging],
            swiftSettings: settings),
        .target(
            name: "RecordServerSQLite",
            dependencies: [
                "RecordServerCore", "RecordSQL", "RecordWire", "RecordModel", logging,
            ], swiftSettings: settings),
        .target(
            name: "RecordServerTLS",
            dependencies: [
                "CCrypto", "RecordWire", "RecordModel",
                .product(name: "NIOCore", package: "swift-nio"),
            ], swiftSettings: settings),
        .target(
            name: "RecordServerHTTP",
            dependencies: [
                "RecordServerCore", "RecordServerTLS", "RecordWire", "RecordModel", logging,
            ] + http,
            swiftSettings: settings),
        .target(
            name: "RecordServer",
            dependencies: [
                "RecordServerCore", "RecordServerSQLite", "RecordServerHTTP", "RecordServerTLS",
                "RecordWire", "RecordModel", logging,
            ], swiftSettings: settings),
        .executableTarget(
            name: "recordfs-server",
            dependencies: [
                "RecordServer", "RecordServerCore", "RecordServerHTTP", "RecordServerTLS",
                "RecordWire", "RecordModel", logging, arguments,
            ],
            swiftSettings: settings),
        .target(
            name: "TestSupport", dependencies: ["RecordModel"], path: "Tests/TestSupport",
            swiftSettings: settings),
        .target(
            name: "ServerTestSupport",
            dependencies: [
                "CCrypto", "RecordServer", "RecordServerCore", "RecordServerSQLite",
                "RecordServerHTTP", "RecordWire", "RecordModel", "TestSupport", logging,
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ], path: "Tests/ServerTestSupport", swiftSettings: settings),
        .target(
            name: "Simulation",
            dependencies: [
                "RecordSync", "RecordStore", "RecordStoreSync", "RecordObjects", "RecordWire",
                "RecordModel",
                "RecordServer",
                "RecordServerCore", "ServerTestSupport", "TestSupport", logging,
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ], path: "Tests/Simulation", swiftSettings: settings),
        .executableTarget(
            name: "simulate", dependencies: ["Simulation", arguments], path: "Tests/Simulate",
            exclude: ["faults.py", "graph_faults.py", "sharing_faults.py", "undo_faults.py"],
            swiftSettings: settings),
        .testTarget(
            name: "RecordModelTests", dependencies: ["RecordModel", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "RecordObjectsTests",
            dependencies: ["RecordObjects", "RecordModel", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "RecordStoreTests",
            dependencies: [
                "RecordStore", "RecordStoreSync", "RecordSQL", "RecordModel", "TestSupport",
            ],
            resources: [.copy("Fixtures")], swiftSettings: settings),
        .testTarget(
            name: "RecordTreeTests",
            dependencies: [
                "RecordTree", "RecordStore", "RecordStoreSync", "RecordSQL", "RecordModel",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "FuseKitTests", dependencies: ["FuseKit", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "RecordControlTests",
            dependencies: [
                "RecordControl", "RecordObjects", "RecordStore", "RecordStoreSync", "RecordModel",
                logging,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "RecordDaemonTests",
            dependencies: [
                "RecordDaemon", "RecordMount", "RecordControl", "RecordSync", "RecordTree",
                "RecordStore", "RecordWire", "RecordModel", "TestSupport",
                logging,
            ],
            swiftSettings: settings),
        .testTarget(
            name: "RecordWireTests", dependencies: ["RecordWire", "RecordModel", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "RecordSyncTests",
            dependencies: [
                "RecordSync", "RecordStore", "RecordStoreSync", "RecordWire", "RecordModel",
                "RecordServer",
                "RecordServerCore", "RecordServerHTTP", "ServerTestSupport", "Simulation",
                "TestSupport", "CTestSystem", logging,
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ], exclude: ["Checklist.md"], swiftSettings: settings),
        .testTarget(
            name: "RecordServerTests",
            dependencies: [
                "CCrypto", "RecordServer", "RecordServerCore", "RecordServerSQLite",
                "RecordServerHTTP", "RecordServerTLS", "RecordSQL", "RecordWire", "RecordModel",
                "recordfs-server",
                "ServerTestSupport", "TestSupport", logging,
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ] + http,
            swiftSettings: settings),
        .target(name: "CTestSystem", path: "Tests/CTestSystem"),
        .testTarget(
            name: "MountTests",
            dependencies: [
                "recordfs", "recordfs-server", "RecordMount", "RecordTree", "RecordModel",
                "CTestSystem", "TestSupport",
            ],
            swiftSettings: settings),
    ]
)

// `RECORDFS_BUILD=mount` leaves out the server and the tests. Then two packages are fetched for
// the mount, and not twenty-five. scripts/quickstart sets it for its first build.
if Context.environment["RECORDFS_BUILD"] == "mount" {
    let server = [
        "RecordServerCore", "RecordServerSQLite", "RecordServerTLS", "RecordServerHTTP",
        "RecordServer", "recordfs-server", "Simulation", "simulate", "ServerTestSupport",
    ]
    package.products.removeAll { server.contains($0.name) }
    package.targets.removeAll { target in
        target.isTest || server.contains(target.name)
            || ["CCrypto", "CTestSystem", "TestSupport"].contains(target.name)
    }
    let shared = ["swift-log", "swift-argument-parser"]
    package.dependencies.removeAll { dependency in
        guard case .sourceControl(_, let location, _) = dependency.kind else { return false }
        return !shared.contains { location.hasSuffix("/" + $0) }
    }
}
